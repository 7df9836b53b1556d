package httpcache

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

// RFC9111 keeps what HTTP allows a private cache to keep, and gives it again for
// as long as HTTP allows. It is a private cache for each identity: Cookie and
// Authorization select among answers as if every one had them in its Vary, so
// none that was given to one identity is given to another. Cookies that an
// answer sets are not kept, as browsers keep none: they were for one visitor.
type RFC9111 struct {
	// AlwaysStore keeps also what has nothing to tell its age or whether it
	// has changed, for requests with max-stale and for when the server fails.
	AlwaysStore bool
	// IgnoreResponse are the Cache-Control directives of answers that are
	// overlooked, in small letters.
	IgnoreResponse []string
}

// Name implements [Policy].
func (p RFC9111) Name() string { return "rfc9111" }

// Takes implements [Policy].
func (p RFC9111) Takes(req *crawl.Request) bool {
	method := req.HTTPMethod()
	return (method == http.MethodGet || method == http.MethodHead) && !partial(req.Headers) && !asked(req.Headers).has("no-store")
}

// Method implements [Policy]. HEAD is answered by what GET brought.
// Source: RFC 9110, section 9.3.2.
func (p RFC9111) Method(string) string { return http.MethodGet }

// understood are the statuses that may be kept without a word about their age.
// Source: RFC 9110, section 15.1, without 206, since parts are not kept, and
// without 501, see [RFC9111.Keeps].
var understood = []int{200, 203, 204, 300, 301, 308, 404, 405, 410, 414}

// Keeps implements [Policy]. Failures of the server that are worth another
// attempt are not kept, whatever they say: another attempt is to reach the
// server.
func (p RFC9111) Keeps(req *crawl.Request, resp *crawl.Response, now time.Time) bool {
	switch s := resp.Status; {
	case req.HTTPMethod() != http.MethodGet, resp.HasFlag(crawl.FlagDataloss):
		return false
	case s < 200, s == http.StatusPartialContent, s == http.StatusNotModified,
		s == http.StatusRequestTimeout, s == http.StatusTooManyRequests, s >= 500:
		return false
	}
	c := p.said(resp.Headers)
	known := slices.Contains(understood, resp.Status)
	if c.has("must-understand") {
		if !known {
			return false
		}
	} else if c.has("no-store") {
		return false
	}
	if slices.Contains(tokens(resp.Headers["Vary"]), "*") {
		return false // no request is answered by it
	}
	if p.AlwaysStore {
		return true
	}
	explicit := c.has("max-age") || c.has("public") || c.has("private") || len(resp.Headers["Expires"]) > 0
	return p.lifetime(resp, now) > 0 || (known || explicit) && hasValidator(resp.Headers)
}

// Entry implements [Policy].
func (p RFC9111) Entry(resp *crawl.Response, now time.Time) *Entry {
	kept := *resp
	kept.Headers = resp.Headers.Clone()
	for _, name := range ofConnection(resp.Headers) {
		kept.Headers.Del(name)
	}
	for _, name := range []string{"Set-Cookie", "Set-Cookie2"} {
		kept.Headers.Del(name)
	}
	vary := append(tokens(resp.Headers["Vary"]), "authorization", "cookie")
	slices.Sort(vary)
	return &Entry{Response: &kept, Received: now, Vary: slices.Compact(vary)}
}

// Condition implements [Policy]. Source: RFC 9111, section 4.3.1.
func (p RFC9111) Condition(e *Entry, req *crawl.Request) {
	if tag := e.Response.Headers.Get("Etag"); tag != "" {
		req.SetHeader("If-None-Match", tag)
	}
	if date := e.Response.Headers.Get("Last-Modified"); date != "" {
		req.SetHeader("If-Modified-Since", date)
	}
}

// Judge implements [Policy]. Source: RFC 9111, sections 4.3.3 to 4.3.5.
func (p RFC9111) Judge(e *Entry, req *crawl.Request, answer *crawl.Response, now time.Time) Judgement {
	switch {
	case answer.Status == http.StatusNotModified:
		if tag := answer.Headers.Get("Etag"); tag != "" && !sameTag(tag, e.Response.Headers.Get("Etag")) {
			return Confirmed // what it tells is of another page
		}
		e.renew(answer, now)
		return Renewed
	case answer.Status >= 500 && p.Saves(e, req, now):
		return Confirmed
	}
	return Replaced
}

// Voids implements [Policy]: an unsafe method that succeeded has changed what is
// there. Source: RFC 9111, section 4.4.
func (p RFC9111) Voids(req *crawl.Request, answer *crawl.Response) bool {
	switch req.HTTPMethod() {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return false
	}
	return answer.Status >= 200 && answer.Status < 400
}

// Only implements [Policy]. Source: RFC 9111, section 5.2.1.7.
func (p RFC9111) Only(req *crawl.Request) bool { return asked(req.Headers).has("only-if-cached") }

// Given implements [Policy]. Source of Age: RFC 9111, section 4.
func (p RFC9111) Given(e *Entry, now time.Time) *crawl.Response {
	e.Response.Headers.Set("Age", strconv.FormatInt(int64(age(e, now)/time.Second), 10))
	return e.Response
}

// said are the directives of an answer that are obeyed.
func (p RFC9111) said(h http.Header) control {
	c := controlOf(h)
	for _, name := range p.IgnoreResponse {
		delete(c, name)
	}
	return c
}

func hasValidator(h http.Header) bool { return h.Get("Etag") != "" || h.Get("Last-Modified") != "" }
