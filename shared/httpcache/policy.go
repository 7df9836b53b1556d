package httpcache

import (
	"net/http"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A Policy says what is kept, and when it may be given again.
type Policy interface {
	// Name is a part of the keys, since what one policy keeps is not good
	// enough for another.
	Name() string

	// Takes reports whether the cache is for a request; else it passes by,
	// and nothing of it is kept.
	Takes(req *crawl.Request) bool

	// Method is the method of the requests that answer one with this method.
	Method(method string) string

	// Keeps reports whether an answer is kept.
	Keeps(req *crawl.Request, resp *crawl.Response, now time.Time) bool

	// Entry makes an entry of an answer that is kept.
	Entry(resp *crawl.Response, now time.Time) *Entry

	// Fresh reports whether an entry answers a request as it is.
	Fresh(e *Entry, req *crawl.Request, now time.Time) bool

	// Condition adds to a request what lets the server say that the entry is
	// still the answer.
	Condition(e *Entry, req *crawl.Request)

	// Judge says what an answer means for the entry that was to be checked.
	Judge(e *Entry, req *crawl.Request, answer *crawl.Response, now time.Time) Judgement

	// Saves reports whether an entry answers a request when nothing else
	// comes.
	Saves(e *Entry, req *crawl.Request, now time.Time) bool

	// Voids reports whether what is kept for a URL is void after an answer to
	// another request for it.
	Voids(req *crawl.Request, answer *crawl.Response) bool

	// Only reports whether a request is to be answered from the cache alone.
	Only(req *crawl.Request) bool

	// Given is what an entry answers with.
	Given(e *Entry, now time.Time) *crawl.Response
}

// A Judgement is what an answer means for an entry.
type Judgement int

// The judgements.
const (
	// Replaced: the answer takes the entry's place.
	Replaced Judgement = iota
	// Confirmed: the entry is the answer.
	Confirmed
	// Renewed: the entry is the answer, and was changed so as to say when; it
	// is to be kept anew.
	Renewed
)

// Dummy keeps every answer, and gives it again for ever. It is for trying out a
// spider, which sees the same pages each time, and for working offline. Nothing
// of the request but its fingerprint counts: no cookie, no Authorization.
type Dummy struct{}

// Name implements [Policy].
func (Dummy) Name() string { return "dummy" }

// Takes implements [Policy]. A part of a page is not the page.
func (Dummy) Takes(req *crawl.Request) bool { return !partial(req.Headers) }

// Method implements [Policy].
func (Dummy) Method(method string) string { return method }

// Keeps implements [Policy]. A body that was cut off would stay so for ever.
func (Dummy) Keeps(_ *crawl.Request, resp *crawl.Response, _ time.Time) bool {
	return !resp.HasFlag(crawl.FlagDataloss)
}

// Entry implements [Policy].
func (Dummy) Entry(resp *crawl.Response, now time.Time) *Entry {
	return &Entry{Response: resp, Received: now}
}

// Fresh implements [Policy].
func (Dummy) Fresh(*Entry, *crawl.Request, time.Time) bool { return true }

// Condition implements [Policy].
func (Dummy) Condition(*Entry, *crawl.Request) {}

// Judge implements [Policy].
func (Dummy) Judge(*Entry, *crawl.Request, *crawl.Response, time.Time) Judgement { return Replaced }

// Saves implements [Policy].
func (Dummy) Saves(*Entry, *crawl.Request, time.Time) bool { return true }

// Voids implements [Policy].
func (Dummy) Voids(*crawl.Request, *crawl.Response) bool { return false }

// Only implements [Policy].
func (Dummy) Only(*crawl.Request) bool { return false }

// Given implements [Policy].
func (Dummy) Given(e *Entry, _ time.Time) *crawl.Response { return e.Response }

// partial reports whether a request asks for a part of a page, or under a
// condition of its own: its answer is no answer to others.
func partial(h http.Header) bool {
	for _, name := range []string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}
