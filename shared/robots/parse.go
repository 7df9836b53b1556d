package robots

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxBytes is how much of a file is read: 500 KiB. Source: RFC 9309, 2.5: "The
// parsing limit MUST be at least 500 kibibytes." A longer file counts up to its
// last whole line within.
const MaxBytes = 500 << 10

// maxLine is how much of a line is read, in bytes. Source: Google's parser,
// eight times the 2,083 that browsers took for a URL, less one.
const maxLine = 8*2083 - 1

// maxDelay bounds a Crawl-delay, so that it fits a Duration.
const maxDelay = 365 * 24 * time.Hour

// Parse reads a robots.txt. It never fails; see the package comment. It does
// not keep body.
func Parse(body []byte) *Rules {
	p := parser{rules: &Rules{agents: map[string]*agent{}}}
	text := string(withinLimit(withoutBOM(body)))
	for text != "" {
		// RFC 9309, 2.2: EOL = *WS [comment] NL; NL = %x0D / %x0A / %x0D.0A
		line := text
		if i := strings.IndexAny(text, "\r\n"); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		if key, value := directive(line[:min(len(line), maxLine)]); key != "" {
			p.line(key, value)
		}
	}
	for _, g := range p.rules.groups {
		slices.SortStableFunc(g, func(a, b rule) int {
			if c := cmp.Compare(b.octets, a.octets); c != 0 {
				return c
			}
			return cmp.Compare(rank(a), rank(b))
		})
	}
	return p.rules
}

func rank(r rule) int {
	if r.allow {
		return 0
	}
	return 1
}

// withoutBOM skips a UTF-8 byte order mark, also one that lost its end.
func withoutBOM(body []byte) []byte {
	for _, c := range []byte("\xef\xbb\xbf") {
		if len(body) == 0 || body[0] != c {
			break
		}
		body = body[1:]
	}
	return body
}

// withinLimit cuts what is too long behind a line: half a Disallow line would
// forbid more than the whole one.
func withinLimit(body []byte) []byte {
	if len(body) <= MaxBytes {
		return body
	}
	return body[:bytes.LastIndexAny(body[:MaxBytes], "\r\n")+1]
}

// directive splits a line at its colon and returns the key in lower case, ""
// if the line says nothing. The colon may be missing if key and value are two
// words.
func directive(line string) (key, value string) {
	line, _, _ = strings.Cut(line, "#")
	key, value, found := strings.Cut(line, ":")
	if !found {
		words := strings.Fields(line)
		if len(words) != 2 {
			return "", ""
		}
		key, value = words[0], words[1]
	}
	return strings.ToLower(strings.Trim(key, " \t")), strings.Trim(value, " \t")
}

// A parser is the state between two lines.
type parser struct {
	rules     *Rules
	undelayed []*agent // of the last group, those it has given no Crawl-delay
	naming    bool     // the last line that counts named an agent
}

// line takes one directive. Its misspellings are those that Google takes.
func (p *parser) line(key, value string) {
	switch key {
	case "user-agent", "useragent", "user agent":
		p.userAgent(value)
	case "allow":
		p.rule(value, true)
	case "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		p.rule(value, false)
	case "crawl-delay", "crawldelay", "crawl delay":
		p.crawlDelay(value)
	case "sitemap", "site-map":
		if value != "" {
			p.rules.sitemaps = append(p.rules.sitemaps, value)
		}
	}
	// RFC 9309, 2.2.4: "Parsing of other records MUST NOT interfere with the
	// parsing of explicitly defined records in Section 2. For example, a
	// "Sitemaps" record MUST NOT terminate a group."
}

// userAgent adds an agent to the group, or starts another group.
//
// RFC 9309, 2.1: "group: One or more user-agent lines that are followed by one
// or more rules. The group is terminated by a user-agent line or end of file."
func (p *parser) userAgent(value string) {
	if !p.naming {
		p.naming = true
		p.undelayed = nil
		p.rules.groups = append(p.rules.groups, nil)
	}
	token := lineToken(value)
	if token == "" {
		return
	}
	a := p.rules.agents[token]
	if a == nil {
		a = &agent{}
		p.rules.agents[token] = a
	}
	// RFC 9309, 2.2.1: "If there is more than one group matching the
	// user-agent, the matching groups' rules MUST be combined into one group".
	if last := len(p.rules.groups) - 1; len(a.groups) == 0 || a.groups[len(a.groups)-1] != last {
		a.groups = append(a.groups, last)
		p.undelayed = append(p.undelayed, a)
	}
}

// rule adds a rule to the group.
//
// RFC 9309, 2.2.2: "The crawler SHOULD ignore "disallow" and "allow" rules that
// are not in any group (for example, any rule that precedes the first
// user-agent line)."
func (p *parser) rule(value string, allow bool) {
	p.naming = false
	last := len(p.rules.groups) - 1
	if value == "" || last < 0 {
		return // by custom an empty pattern matches nothing; RFC 9309 gives it no meaning
	}
	g := append(p.rules.groups[last], compile(value, allow))
	if dir, ok := indexOf(value); allow && ok {
		g = append(g, compile(dir+"$", true))
	}
	p.rules.groups[last] = g
}

// indexOf returns the directory whose index page value is.
func indexOf(value string) (dir string, ok bool) {
	i := strings.LastIndexByte(value, '/') + 1
	return value[:i], strings.HasPrefix(value[i:], "index.htm")
}

// crawlDelay gives the delay to the agents that the group has so far, but for
// those that have one: the first counts.
func (p *parser) crawlDelay(value string) {
	delay, ok := parseSeconds(value)
	if !ok {
		return
	}
	for _, a := range p.undelayed {
		if !a.hasDelay {
			a.delay, a.hasDelay = delay, true
		}
	}
	p.undelayed = nil
}

// parseSeconds reads a decimal number of seconds without sign and exponent.
func parseSeconds(s string) (time.Duration, bool) {
	if strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil && seconds <= maxDelay.Seconds() {
		return 0, false
	}
	return time.Duration(min(seconds, maxDelay.Seconds()) * float64(time.Second)), true
}
