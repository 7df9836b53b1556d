package cookies

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A Report says what became of cookies that were to join a jar. It has names of
// cookies and no values, so it may be logged.
type Report struct {
	// Set are the names of those that joined, replaced one, or took one out.
	Set []string
	// Refused says of each of the others why, with its name.
	Refused []error
	// Evicted counts those that lost their place, in whatever jar, because
	// there are too many.
	Evicted int
}

// A Refusal says why a cookie was not taken.
type Refusal struct {
	Name string
	Err  error
}

func (r *Refusal) Error() string { return fmt.Sprintf("cookie %q: %v", r.Name, r.Err) }

func (r *Refusal) Unwrap() error { return r.Err }

var (
	errForeign    = errors.New("its Domain is not that of the host, nor above it")
	errSuffix     = errors.New("its Domain is a public suffix")
	errInsecure   = errors.New("it is Secure, and the page is not")
	errOverwrites = errors.New("it would hide a Secure one, and the page is not")
	errPrefix     = errors.New("it is not what its prefix promises")
	errTooLarge   = errors.New("with its jar, host and path it alone would have more than 8192 bytes")
	errNoName     = errors.New("it has no name")
	errBadName    = errors.New(`its name has "=" or ";", or blanks round it`)
	errBadValue   = errors.New(`its value has ";", or blanks round it`)
	errBadPath    = errors.New(`its Path does not begin with "/"`)
	errLongPath   = errors.New("its Path has more than 1024 bytes")
	errNoCookies  = errors.New("the URL has no cookies: it is neither http nor https")
)

// Take returns the jars after a response to a request for a URL, with the
// cookies of its Set-Cookie lines in one jar. What browsers would not take is
// refused and changes nothing.
func (j Jars) Take(jar string, u weburl.URL, lines []string, now time.Time) (Jars, Report) {
	var report Report
	at, ok := visitOf(jar, u, now)
	if !ok || len(lines) == 0 {
		return j, report
	}
	e := j.edit(at)
	for _, line := range lines {
		c, err := parseSetCookie(line)
		if err == nil {
			err = e.store(c)
		}
		report.add(c.name, err)
	}
	return e.done(&report), report
}

// Add returns the jars with the cookies that a request brings, as if the server
// had set them just before: those that would be refused of a server, are.
func (j Jars) Add(jar string, u weburl.URL, given []crawl.Cookie, now time.Time) (Jars, Report) {
	return j.add(jar, u, given, now, false)
}

// AddMissing is [Jars.Add] for a request that is sent again: of a cookie that
// is there the jar's value stays, which the server may have set meanwhile.
func (j Jars) AddMissing(jar string, u weburl.URL, given []crawl.Cookie, now time.Time) (Jars, Report) {
	return j.add(jar, u, given, now, true)
}

func (j Jars) add(jar string, u weburl.URL, given []crawl.Cookie, now time.Time, missing bool) (Jars, Report) {
	var report Report
	at, ok := visitOf(jar, u, now)
	if !ok {
		for _, c := range given {
			report.add(c.Name, errNoCookies)
		}
		return j, report
	}
	if len(given) == 0 {
		return j, report
	}
	e := j.edit(at)
	e.keep = missing
	for _, g := range given {
		c, err := readGiven(g, u.Scheme() == "https")
		if err == nil {
			err = e.store(c)
		}
		report.add(g.Name, err)
	}
	return e.done(&report), report
}

// readGiven checks what a spider wrote, so that it is sent as it is or not at
// all.
func readGiven(g crawl.Cookie, https bool) (received, error) {
	c := received{
		name: g.Name, value: g.Value, path: g.Path, secure: https,
		domain: strings.ToLower(strings.TrimPrefix(g.Domain, ".")),
	}
	c.has.path = true
	if g.Secure != nil {
		c.secure = *g.Secure
	}
	if c.path == "" {
		c.path = "/"
	}
	switch {
	case c.name == "":
		return c, errNoName
	case hasControl(c.name + c.value + c.path + c.domain):
		return c, errControl
	case c.name != trim(c.name) || strings.ContainsAny(c.name, "=;"):
		return c, errBadName
	case c.value != trim(c.value) || strings.Contains(c.value, ";"):
		return c, errBadValue
	case len(c.name)+len(c.value) > MaxCookieBytes:
		return c, errTooLong
	case c.path[0] != '/':
		return c, errBadPath
	case len(c.path) > maxAttribute:
		return c, errLongPath
	}
	return c, nil
}

func (r *Report) add(name string, err error) {
	if err != nil {
		r.Refused = append(r.Refused, &Refusal{Name: name, Err: err})
		return
	}
	r.Set = append(r.Set, name)
}

// An edit is a copy of jars that changes.
type edit struct {
	Jars
	at      visit
	keep    bool // what is there stays
	evicted int
}

func (j Jars) edit(at visit) *edit {
	e := &edit{Jars: Jars{
		places:  slices.Clip(j.places),
		cookies: make([]cookie, 0, len(j.cookies)+4),
	}, at: at}
	for _, c := range j.cookies {
		if !c.expired(at.now) {
			e.cookies = append(e.cookies, c)
		}
	}
	return e
}

// store is the storage model of RFC 6265bis, section 5.7.
func (e *edit) store(c received) error {
	p, err := e.placeOf(c)
	if err != nil {
		return err
	}
	if err := checkPrefix(c, p); err != nil {
		return err
	}
	if !e.at.secure {
		if c.secure {
			return errInsecure
		}
		if e.hidesSecure(c.name, p) {
			return errOverwrites
		}
	}
	e.compact()
	n := e.place(p)
	is := func(old cookie) bool { return old.name == c.name && old.place == n }
	made := cookie{name: c.name, value: c.value, place: n, secure: c.secure, expires: c.expiry(e.at.now)}
	switch i := slices.IndexFunc(e.cookies, is); {
	case i >= 0 && e.keep:
	case made.expired(e.at.now):
		e.cookies = slices.DeleteFunc(e.cookies, is)
	case tooLarge(made, p):
		return errTooLarge
	case i >= 0:
		e.cookies[i] = made // which is as old as the one before
	default:
		e.cookies = append(e.cookies, made)
		e.crowd(p)
	}
	return nil
}

// placeOf finds where a cookie goes, and refuses one that may not go there.
func (e *edit) placeOf(c received) (place, error) {
	p := place{jar: e.at.jar, domain: e.at.host, path: c.path}
	if p.path == "" {
		p.path = defaultPath(e.at.path)
	}
	if c.domain == "" {
		return p, nil
	}
	// A public suffix may keep cookies for itself, but for nobody below it.
	isSuffix := isAddress(c.domain) || isPublicSuffix(c.domain)
	switch {
	case c.domain == e.at.host:
		p.below = !isSuffix
	case isSuffix:
		return p, errSuffix
	case isBelow(e.at.host, c.domain):
		p.domain, p.below = c.domain, true
	default:
		return p, errForeign
	}
	return p, nil
}

// isPublicSuffix reports whether anybody may register a name below a domain, at
// a registry or at a company that lets names. A top-level domain that the list
// does not have counts.
func isPublicSuffix(domain string) bool {
	domain = strings.TrimSuffix(domain, ".")
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}

// checkPrefix is RFC 6265bis, section 5.7, steps 20 to 22. A cookie without a
// name must not look as if it had one.
func checkPrefix(c received, p place) error {
	name := c.name
	if name == "" {
		if hasPrefixFold(c.value, "__Secure-") || hasPrefixFold(c.value, "__Host-") {
			return errPrefix
		}
		return nil
	}
	if hasPrefixFold(name, "__Secure-") && !c.secure {
		return errPrefix
	}
	if hasPrefixFold(name, "__Host-") && (!c.secure || c.domain != "" || !c.has.path || p.path != "/") {
		return errPrefix
	}
	return nil
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// hidesSecure reports whether a cookie of a page that is not secure would stand
// before a secure one, or in its place.
func (e *edit) hidesSecure(name string, p place) bool {
	return slices.ContainsFunc(e.cookies, func(old cookie) bool {
		if !old.secure || old.name != name {
			return false
		}
		o := e.places[old.place]
		return o.jar == p.jar && pathMatches(p.path, o.path) &&
			(o.domain == p.domain || isBelow(o.domain, p.domain) || isBelow(p.domain, o.domain))
	})
}

// place is the index of a place, which is made if it is not there.
func (e *edit) place(p place) int {
	if i := slices.Index(e.places, p); i >= 0 {
		return i
	}
	e.places = append(e.places, p)
	return len(e.places) - 1
}
