package cookies

import (
	"slices"
	"strconv"

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
			e.shorten(len(text)-MaxBytes, elsewhere)
			text = e.appendText(text[:0])
		}
	}
	e.text = string(text)
	report.Evicted = e.evicted
	return e.Jars
}

// shorten evicts cookies until so many bytes may be gone, and none that could
// stay. It counts each cookie's place, though others may be there, so it is to
// be asked until it is enough; else a header full of cookies costs its square.
func (e *edit) shorten(by int, elsewhere []bool) {
	number := len(strconv.FormatInt(int64(len(e.places)), 36)) // of a place, at most
	for by > 0 && len(e.cookies) > 0 {
		i := max(slices.IndexFunc(e.cookies, func(c cookie) bool { return elsewhere[c.place] }), 0)
		c := e.cookies[i]
		by -= len((Jars{places: e.places[c.place : c.place+1], cookies: []cookie{c.at(0)}}).appendText(nil)) + number
		e.evict(i)
	}
}

// compact forgets places that have no cookies any more, once most have none: a
// server may name a new one with each.
func (e *edit) compact() {
	const few = 32
	if len(e.places) <= few+2*len(e.cookies) {
		return
	}
	old, now := e.places, make(map[int]int, len(e.cookies))
	e.places = nil
	for i, c := range e.cookies {
		n, known := now[c.place]
		if !known {
			n = len(e.places)
			now[c.place] = n
			e.places = append(e.places, old[c.place])
		}
		e.cookies[i] = c.at(n)
	}
}

// at is the cookie in another place.
func (c cookie) at(place int) cookie {
	c.place = place
	return c
}
