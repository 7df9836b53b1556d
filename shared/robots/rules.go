package robots

import (
	"slices"
	"strings"
	"time"
)

// Rules are what one robots.txt says. They are safe for concurrent use. The
// zero Rules allow everything.
type Rules struct {
	groups   []group
	agents   map[string]*agent // by product token in lower case; "*" for all others
	sitemaps []string
}

// A group is the rules that one or more agents share, most octets first, and
// allow before disallow.
type group []rule

// An agent is what the file says about one product token.
type agent struct {
	groups   []int // indices of its groups, in the file's order
	delay    time.Duration
	hasDelay bool
}

// AllowAll returns rules that allow everything, as an empty file does.
func AllowAll() *Rules { return &Rules{} }

// DisallowAll returns rules that allow nothing but /robots.txt.
func DisallowAll() *Rules { return Parse([]byte("User-agent: *\nDisallow: /\n")) }

// Allowed reports whether the agent may fetch url, an absolute http or https
// URL or a path with its query. userAgent is a product token or a whole
// User-Agent header; see [ProductToken]. Other schemes have no robots.txt, and
// the caller does not ask about them.
func (r *Rules) Allowed(userAgent, url string) bool {
	path := normalize(pathOf(url))
	// RFC 9309, 2.2.2: "The /robots.txt URI is implicitly allowed."
	if path == "/robots.txt" {
		return true
	}
	a := r.agent(userAgent)
	if a == nil {
		return true
	}
	// RFC 9309, 2.2.2: "If no match is found amongst the rules in a group for a
	// matching user-agent or there are no rules in the group, the URI is
	// allowed."
	octets, allowed := -1, true
	for _, i := range a.groups {
		for _, rule := range r.groups[i] {
			if rule.octets < octets {
				break
			}
			if !rule.matches(path) {
				continue
			}
			// RFC 9309, 2.2.2: "The most specific match found MUST be used. The
			// most specific match is the match that has the most octets. [...]
			// If an "allow" rule and a "disallow" rule are equivalent, then the
			// "allow" rule SHOULD be used."
			if rule.octets > octets || rule.allow {
				octets, allowed = rule.octets, rule.allow
			}
			break
		}
	}
	return allowed
}

// CrawlDelay returns the Crawl-delay of the agent's group, and false if it has
// none. The directive is not in RFC 9309; its unit is the second. It may be as
// long as a year: what is too long is the caller's to say.
func (r *Rules) CrawlDelay(userAgent string) (time.Duration, bool) {
	if a := r.agent(userAgent); a != nil {
		return a.delay, a.hasDelay
	}
	return 0, false
}

// Sitemaps returns the values of the file's Sitemap lines, in order, as they
// stand: one may be relative, which is not allowed and seen, or no URL at all.
func (r *Rules) Sitemaps() []string { return slices.Clone(r.sitemaps) }

// agent returns what the file says to userAgent, or nil if nothing.
func (r *Rules) agent(userAgent string) *agent {
	// RFC 9309, 2.2.1: "Crawlers MUST use case-insensitive matching to find the
	// group that matches the product token and then obey the rules of the
	// group. [...] If no matching group exists, crawlers MUST obey the group
	// with a user-agent line with the "*" value, if present."
	if token := ProductToken(userAgent); token != "" {
		if a := r.agents[strings.ToLower(token)]; a != nil {
			return a
		}
	}
	return r.agents["*"]
}

// pathOf returns path and query of url, "/" if it has no path.
func pathOf(url string) string {
	url, _, _ = strings.Cut(url, "#")
	end := strings.IndexAny(url, "/?;")
	if end >= 0 && strings.HasPrefix(url[end:], "//") && (end == 0 || url[end-1] == ':') {
		url = url[end+2:] // the host comes next
		end = strings.IndexAny(url, "/?;")
	}
	switch {
	case end < 0:
		return "/"
	case url[end] == '/':
		return url[end:]
	}
	return "/" + url[end:]
}
