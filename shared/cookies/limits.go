package cookies

import (
	"slices"

	"github.com/skitterhq/skitter/shared/weburl"
)

const (
	// MaxBytes is what the string of all jars may have, 8 KiB.
	MaxBytes = 8 << 10

	// MaxPerDomain is how many cookies one jar keeps for one domain, 50. Source:
	// RFC 6265, section 6.1.
	MaxPerDomain = 50
)

// crowd makes room where a domain has too many cookies: the oldest goes.
func (e *edit) crowd(p place) {
	same := func(c cookie) bool {
		o := e.places[c.place]
		return o.jar == p.jar && o.domain == p.domain
	}
	count := 0
	for _, c := range e.cookies {
		if same(c) {
			count++
		}
	}
	if count > MaxPerDomain {
		e.evict(slices.IndexFunc(e.cookies, same))
	}
}

// tooLarge reports whether a cookie would not fit were it the only one.
func tooLarge(c cookie, p place) bool {
	// An escape is three bytes for one, and what is not UTF-8 two for one.
	if 3*(len(p.jar)+len(p.domain)+len(p.path))+2*(len(c.name)+len(c.value))+32 <= MaxBytes {
		return false
	}
	c.place = 0
	alone := Jars{places: []place{p}, cookies: []cookie{c}}
	return len(alone.appendText(nil)) > MaxBytes
}

func (e *edit) evict(i int) {
	e.cookies = slices.Delete(e.cookies, i, i+1)
	e.evicted++
}

// done returns the jars, cut to their size: first go the cookies of sites other
// than the one just visited, the oldest first, then the oldest.
func (e *edit) done(report *Report) Jars {
	text := e.appendText(e.room())
	if len(text) > MaxBytes {
		site := weburl.RegisteredDomain(e.at.host)
		elsewhere := make([]bool, len(e.places))
		for i, p := range e.places {
			elsewhere[i] = weburl.RegisteredDomain(p.domain) != site
		}
		for len(text) > MaxBytes {
			e.evict(max(slices.IndexFunc(e.cookies, func(c cookie) bool { return elsewhere[c.place] }), 0))
			text = e.appendText(text[:0])
		}
	}
	e.text = string(text)
	report.Evicted = e.evicted
	return e.Jars
}
