package cookies

import (
	"errors"
	"strings"
	"time"
)

const (
	// MaxCookieBytes is what a cookie's name and value may have together, 4096.
	// A longer one is refused. Source: RFC 6265bis, section 5.6, step 5.
	MaxCookieBytes = 4096

	// MaxAge is the longest that a cookie lives, 400 days. Source: RFC 6265bis,
	// section 5.5.
	MaxAge = 400 * 24 * time.Hour

	// maxAttribute is the longest value of an attribute that is read, in bytes.
	// Source: RFC 6265bis, section 5.6, step 6 of the attributes.
	maxAttribute = 1024
)

var (
	errControl  = errors.New("it has a control character")
	errNothing  = errors.New("it has neither name nor value")
	errTooLong  = errors.New("its name and value have more than 4096 bytes")
	errNonASCII = errors.New("its Domain is not ASCII")
)

// A received cookie is what one Set-Cookie line says.
type received struct {
	name, value string
	domain      string // without a leading dot; empty: the host alone
	path        string // empty: the default
	secure      bool

	expires time.Time // if it has
	maxAge  time.Duration
	has     struct{ path, expires, maxAge bool }
}

// parseSetCookie reads one Set-Cookie line. What it says of a cookie that it
// refuses is its name, if it came that far. Source: RFC 6265bis, section 5.6.
func parseSetCookie(line string) (received, error) {
	if hasControl(line) {
		return received{}, errControl
	}
	pair, attributes, _ := strings.Cut(line, ";")
	name, value, named := strings.Cut(pair, "=")
	if !named {
		name, value = "", pair
	}
	c := received{name: trim(name), value: trim(value)}
	if c.name == "" && c.value == "" {
		return c, errNothing
	}
	if len(c.name)+len(c.value) > MaxCookieBytes {
		return c, errTooLong
	}
	for attributes != "" {
		var attribute string
		attribute, attributes, _ = strings.Cut(attributes, ";")
		key, v, _ := strings.Cut(attribute, "=")
		if v = trim(v); len(v) <= maxAttribute {
			c.set(trim(key), v)
		}
	}
	for _, b := range []byte(c.domain) {
		if b >= 0x80 {
			return c, errNonASCII
		}
	}
	return c, nil
}

// set takes an attribute; the last one of a name counts, and those that are not
// known or not well-formed say nothing.
func (c *received) set(key, value string) {
	switch {
	case strings.EqualFold(key, "Secure"):
		c.secure = true
	case strings.EqualFold(key, "Path"):
		c.has.path = true
		c.path = ""
		if strings.HasPrefix(value, "/") {
			c.path = value
		}
	case strings.EqualFold(key, "Domain"):
		c.domain = strings.ToLower(strings.TrimPrefix(value, "."))
	case strings.EqualFold(key, "Expires"):
		if t, ok := parseDate(value); ok {
			c.expires, c.has.expires = t, true
		}
	case strings.EqualFold(key, "Max-Age"):
		if d, ok := parseMaxAge(value); ok {
			c.maxAge, c.has.maxAge = d, true
		}
	}
}

// parseMaxAge reads a number of seconds. What is longer than any cookie lives is
// that long.
func parseMaxAge(s string) (time.Duration, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" {
		return 0, false
	}
	seconds := int64(0)
	for _, d := range []byte(digits) {
		if d < '0' || '9' < d {
			return 0, false
		}
		seconds = min(seconds*10+int64(d-'0'), int64(MaxAge/time.Second))
	}
	if digits != s {
		return 0, true
	}
	return time.Duration(seconds) * time.Second, true
}

// expiry is when the cookie ends in Unix seconds, 0 for never. A time that has
// passed is now, or earlier.
//
// Far ends are rounded down, to the minute beyond an hour and to the hour beyond
// a day, so that a server which prolongs its cookie with each page does not make
// each page's jar another one.
func (c received) expiry(now int64) int64 {
	var end int64
	switch {
	case c.has.maxAge:
		end = now + int64(c.maxAge/time.Second)
	case c.has.expires:
		end = max(c.expires.Unix(), 1) // 0 is never
	default:
		return 0
	}
	end = min(end, now+int64(MaxAge/time.Second))
	const hour = 60 * 60
	switch left := end - now; {
	case left > 24*hour:
		end -= end % hour
	case left > hour:
		end -= end % 60
	}
	return end
}

// trim takes off the blanks that may stand round a name or a value.
func trim(s string) string { return strings.Trim(s, " \t") }

// hasControl reports whether there is a control character other than a tab.
func hasControl(s string) bool {
	for i := range len(s) {
		if b := s[i]; b < ' ' && b != '\t' || b == 0x7f {
			return true
		}
	}
	return false
}
