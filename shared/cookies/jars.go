package cookies

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Jars are the cookies of all jars that one request carries. The zero Jars are
// empty. They cannot be changed; [Jars.Take] and [Jars.Add] return others. Their
// methods are safe for concurrent use.
type Jars struct {
	places  []place
	cookies []cookie // the oldest first
	text    string   // what String returns, if it is known
}

// A place is where cookies go: those of one jar, host and path.
type place struct {
	jar    string
	domain string // in lower case and punycode, without a leading dot
	below  bool   // hosts below the domain have them, too
	path   string
}

type cookie struct {
	name, value string
	place       int
	secure      bool
	expires     int64 // in Unix seconds; 0 means never
}

// Empty reports whether there is no cookie.
func (j Jars) Empty() bool { return len(j.cookies) == 0 }

// Header returns the Cookie header that a request for a URL sends out of one
// jar, or "" for none: the cookies of longer paths first, then those that are
// older. URLs that are neither http nor https have no cookies.
func (j Jars) Header(jar string, u weburl.URL, now time.Time) string {
	found := j.match(jar, u, now)
	size := 0
	for _, c := range found {
		size += len(c.name) + len(c.value) + len("=; ")
	}
	var b strings.Builder
	b.Grow(size)
	for _, c := range found {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		if c.name != "" {
			b.WriteString(c.name)
			b.WriteByte('=')
		}
		b.WriteString(c.value)
	}
	return b.String()
}

// For returns the cookies that a request for a URL sends out of one jar, in the
// order of [Jars.Header], for a callback that wants to read one.
func (j Jars) For(jar string, u weburl.URL, now time.Time) []crawl.Cookie {
	var found []crawl.Cookie
	for _, c := range j.match(jar, u, now) {
		p := j.places[c.place]
		given := crawl.Cookie{Name: c.name, Value: c.value, Path: p.path, Secure: &c.secure}
		if p.below {
			given.Domain = p.domain
		}
		found = append(found, given)
	}
	return found
}

// match returns the cookies for a URL in the order that they are sent in.
func (j Jars) match(jar string, u weburl.URL, now time.Time) []cookie {
	at, ok := visitOf(jar, u, now)
	if !ok || j.Empty() {
		return nil
	}
	var matches [16]bool // most jars have fewer places, and cost no memory here
	fits := matches[:0]
	for _, p := range j.places {
		fits = append(fits, at.fits(p))
	}
	var found []cookie
	for _, c := range j.cookies {
		if !fits[c.place] || c.expired(at.now) || c.secure && !at.secure {
			continue
		}
		if found == nil {
			found = make([]cookie, 0, len(j.cookies))
		}
		found = append(found, c)
	}
	slices.SortStableFunc(found, func(a, b cookie) int {
		return cmp.Compare(len(j.places[b.place].path), len(j.places[a.place].path))
	})
	return found
}

func (c cookie) expired(now int64) bool { return c.expires != 0 && c.expires <= now }
