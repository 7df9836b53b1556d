package httpcache

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// control are the directives of Cache-Control headers, in small letters; the
// first of a name counts.
type control map[string]string

// controlOf reads Cache-Control headers.
func controlOf(h http.Header) control {
	c := make(control)
	for _, line := range h["Cache-Control"] {
		for _, part := range splitList(line) {
			name, value, _ := strings.Cut(part, "=")
			name = strings.ToLower(strings.TrimSpace(name))
			if _, seen := c[name]; name == "" || seen {
				continue
			}
			c[name] = unquoted(strings.TrimSpace(value))
		}
	}
	return c
}

// asked are the directives of a request, where Pragma counts as HTTP/1.0 had it
// if there is no Cache-Control. Source: RFC 9111, section 5.4.
func asked(h http.Header) control {
	c := controlOf(h)
	if len(h["Cache-Control"]) == 0 {
		for _, line := range h["Pragma"] {
			for _, part := range splitList(line) {
				if strings.EqualFold(strings.TrimSpace(part), "no-cache") {
					c["no-cache"] = ""
				}
			}
		}
	}
	return c
}

func (c control) has(name string) bool { _, ok := c[name]; return ok }

// seconds is the time of a directive, if it is there. One that is no number is
// 0, so that what it was to allow is not allowed. Source: RFC 9111, section
// 4.2.1.
func (c control) seconds(name string) (time.Duration, bool) {
	value, ok := c[name]
	if !ok {
		return 0, false
	}
	return deltaSeconds(value), true
}

// forever is the longest time that is told apart: 68 years.
// Source: RFC 9111, section 1.2.2.
const forever = math.MaxInt32 * time.Second

func deltaSeconds(text string) time.Duration {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return forever // too many digits
	}
	return time.Duration(n) * time.Second
}

// splitList splits a list at the commas that are not within quotes.
func splitList(line string) []string {
	if !strings.Contains(line, `"`) {
		return strings.Split(line, ",")
	}
	var parts []string
	quoted, begin := false, 0
	for k := 0; k < len(line); k++ {
		switch c := line[k]; {
		case quoted && c == '\\':
			k++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			parts = append(parts, line[begin:k])
			begin = k + 1
		}
	}
	return append(parts, line[begin:])
}

func unquoted(value string) string {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return value
	}
	return strings.ReplaceAll(value[1:len(value)-1], `\`, "")
}

// tokens are the members of lists, in small letters, sorted, each once.
func tokens(lines []string) []string {
	var all []string
	for _, line := range lines {
		for _, part := range strings.Split(line, ",") {
			if part = strings.ToLower(strings.TrimSpace(part)); part != "" {
				all = append(all, part)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
