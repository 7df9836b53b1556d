package httpcache_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/httpcache"
)

// noon is when every answer of these tests comes.
var noon = time.Date(2026, 10, 21, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) string { return noon.Add(d).Format(http.TimeFormat) }

// headers reads lines of headers.
func headers(lines ...string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		h.Add(name, strings.TrimSpace(value))
	}
	return h
}

func answer(status int, lines ...string) *crawl.Response {
	return &crawl.Response{URL: "http://example.com/", Status: status, Headers: headers(lines...), Body: []byte("body")}
}

func request(lines ...string) *crawl.Request {
	return &crawl.Request{URL: "http://example.com/", Headers: headers(lines...)}
}

func TestWhatIsKept(t *testing.T) {
	const tag = `ETag: "1"`
	tests := []struct {
		name   string
		method string
		status int
		lines  []string
		policy httpcache.RFC9111
		flags  []string
		want   bool
	}{
		// RFC 9111, section 3.
		{name: "max-age", status: 200, lines: []string{"Cache-Control: max-age=60"}, want: true},
		{name: "Expires in the future", status: 200, lines: []string{"Expires: " + at(time.Hour)}, want: true},
		{name: "an entity tag", status: 200, lines: []string{tag}, want: true},
		{name: "Last-Modified", status: 200, lines: []string{"Last-Modified: " + at(-time.Hour)}, want: true},
		{name: "nothing by which it could be used", status: 200},
		{name: "max-age=0 and no validator", status: 200, lines: []string{"Cache-Control: max-age=0"}},
		{name: "max-age=0 and a validator", status: 200, lines: []string{"Cache-Control: max-age=0", tag}, want: true},
		{name: "no-store", status: 200, lines: []string{"Cache-Control: max-age=60, no-store"}},
		{name: "no-store in capitals, in a line of its own", status: 200, lines: []string{"Cache-Control: max-age=60", "Cache-Control: NO-STORE"}},
		{name: "a directive that only looks like no-store", status: 200, lines: []string{`Cache-Control: max-age=60, ext="a, no-store"`}, want: true},
		{name: "no-cache is kept, to be checked", status: 200, lines: []string{"Cache-Control: no-cache", tag}, want: true},
		{name: "private is for a private cache", status: 200, lines: []string{"Cache-Control: private, max-age=60"}, want: true},
		{name: "s-maxage is for shared caches", status: 200, lines: []string{"Cache-Control: s-maxage=60"}},
		{name: "Vary: *", status: 200, lines: []string{"Cache-Control: max-age=60", "Vary: Accept, *"}},
		{name: "POST", method: "POST", status: 200, lines: []string{"Cache-Control: max-age=60"}},
		{name: "HEAD has no body to keep", method: "HEAD", status: 200, lines: []string{"Cache-Control: max-age=60"}},
		{name: "a body that was cut off", status: 200, lines: []string{"Cache-Control: max-age=60"}, flags: []string{crawl.FlagDataloss}},
		{name: "a body until the end of the connection", status: 200, lines: []string{"Cache-Control: max-age=60"}, flags: []string{crawl.FlagPartial}, want: true},
		// RFC 9111, section 4.2.2; RFC 9110, section 15.1.
		{name: "301 by its status alone", status: 301, want: true},
		{name: "308 by its status alone", status: 308, want: true},
		{name: "302 alone", status: 302, lines: []string{tag}},
		{name: "302 that says so", status: 302, lines: []string{"Cache-Control: max-age=60"}, want: true},
		{name: "404 with a validator", status: 404, lines: []string{tag}, want: true},
		{name: "401 with a validator", status: 401, lines: []string{tag}},
		{name: "a status of nobody", status: 299, lines: []string{tag}},
		{name: "a status of nobody that is public", status: 299, lines: []string{"Cache-Control: public", "Last-Modified: " + at(-time.Hour)}, want: true},
		{name: "206 is a part", status: 206, lines: []string{"Cache-Control: max-age=60"}},
		{name: "304 is no answer", status: 304, lines: []string{"Cache-Control: max-age=60"}},
		{name: "503 is worth another attempt", status: 503, lines: []string{"Cache-Control: max-age=60"}},
		{name: "429 likewise", status: 429, lines: []string{"Cache-Control: max-age=60"}},
		// RFC 9111, section 5.2.2.3.
		{name: "must-understand of a known status", status: 200, lines: []string{"Cache-Control: must-understand, no-store, max-age=60"}, want: true},
		{name: "must-understand of an unknown one", status: 299, lines: []string{"Cache-Control: must-understand, max-age=60"}},

		{name: "ALWAYS_STORE", status: 200, policy: httpcache.RFC9111{AlwaysStore: true}, want: true},
		{name: "ALWAYS_STORE obeys no-store", status: 200, lines: []string{"Cache-Control: no-store"}, policy: httpcache.RFC9111{AlwaysStore: true}},
		{name: "a directive that is overlooked", status: 200, lines: []string{"Cache-Control: No-Store, max-age=60"}, policy: httpcache.RFC9111{IgnoreResponse: []string{"no-store"}}, want: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := request()
			req.Method = test.method
			resp := answer(test.status, test.lines...)
			resp.Flags = test.flags
			if got := test.policy.Keeps(req, resp, noon); got != test.want {
				t.Errorf("kept: %v, want %v", got, test.want)
			}
		})
	}
}

func TestWhatIsFresh(t *testing.T) {
	date := "Date: " + at(0)
	tests := []struct {
		name   string
		status int
		answer []string
		asks   []string
		after  time.Duration
		policy httpcache.RFC9111
		want   bool
	}{
		// RFC 9111, section 4.2.
		{name: "within max-age", answer: []string{date, "Cache-Control: max-age=60"}, after: 59 * time.Second, want: true},
		{name: "at max-age", answer: []string{date, "Cache-Control: max-age=60"}, after: 60 * time.Second},
		{name: "max-age in quotes", answer: []string{date, `Cache-Control: max-age="60"`}, after: 59 * time.Second, want: true},
		{name: "a max-age that is no number", answer: []string{date, "Cache-Control: max-age=1.5, public", "Expires: " + at(time.Hour)}},
		{name: "a max-age below 0", answer: []string{date, "Cache-Control: max-age=-1"}},
		{name: "a max-age too large for any number", answer: []string{date, "Cache-Control: max-age=99999999999999999999"}, after: 24 * time.Hour, want: true},
		{name: "of two the first counts", answer: []string{date, "Cache-Control: max-age=60, max-age=5"}, after: 30 * time.Second, want: true},
		{name: "max-age beats Expires", answer: []string{date, "Cache-Control: max-age=60", "Expires: " + at(-time.Hour)}, after: 30 * time.Second, want: true},
		{name: "before Expires", answer: []string{date, "Expires: " + at(time.Minute)}, after: 59 * time.Second, want: true},
		{name: "Expires by the server's clock", answer: []string{"Date: " + at(-time.Hour), "Expires: " + at(-time.Hour+2*time.Minute)}, after: 0},
		{name: "Expires: 0", answer: []string{date, "Expires: 0", "Last-Modified: " + at(-1000*time.Hour)}},
		{name: "s-maxage does not count", answer: []string{date, "Cache-Control: s-maxage=600, max-age=10"}, after: 30 * time.Second},
		// 4.2.2.
		{name: "a tenth of its age", answer: []string{date, "Last-Modified: " + at(-100*time.Minute)}, after: 9 * time.Minute, want: true},
		{name: "more than a tenth of its age", answer: []string{date, "Last-Modified: " + at(-100*time.Minute)}, after: 11 * time.Minute},
		{name: "modified in the future", answer: []string{date, "Last-Modified: " + at(time.Hour)}},
		{name: "301 for a year", status: 301, answer: []string{date}, after: 364 * 24 * time.Hour, want: true},
		{name: "301 no longer", status: 301, answer: []string{date}, after: 366 * 24 * time.Hour},
		{name: "301 with max-age", status: 301, answer: []string{date, "Cache-Control: max-age=1"}, after: time.Minute},
		{name: "302 has no age by itself", status: 302, answer: []string{date, "Last-Modified: " + at(-100*time.Minute)}},
		// 4.2.3.
		{name: "Age counts", answer: []string{date, "Cache-Control: max-age=60", "Age: 50"}, after: 20 * time.Second},
		{name: "an old Date counts", answer: []string{"Date: " + at(-50*time.Second), "Cache-Control: max-age=60"}, after: 20 * time.Second},
		{name: "the larger of the two counts", answer: []string{"Date: " + at(-30*time.Second), "Age: 30", "Cache-Control: max-age=60"}, after: 20 * time.Second, want: true},
		{name: "a Date of the future is no youth", answer: []string{"Date: " + at(time.Hour), "Cache-Control: max-age=60"}, after: 61 * time.Second},
		{name: "an Age that is none", answer: []string{date, "Age: old", "Cache-Control: max-age=60"}, after: 20 * time.Second, want: true},
		// 5.2.2.
		{name: "no-cache", answer: []string{date, "Cache-Control: no-cache, max-age=60"}},
		{name: "no-cache of one header", answer: []string{date, `Cache-Control: no-cache="Set-Cookie", max-age=60`}},
		{name: "no-cache that is overlooked", answer: []string{date, "Cache-Control: no-cache, max-age=60"}, policy: httpcache.RFC9111{IgnoreResponse: []string{"no-cache"}}, want: true},
		{name: "must-revalidate while fresh", answer: []string{date, "Cache-Control: must-revalidate, max-age=60"}, want: true},
		// 5.2.1, 5.4.
		{name: "asked with no-cache", answer: []string{date, "Cache-Control: max-age=60"}, asks: []string{"Cache-Control: no-cache"}},
		{name: "asked with Pragma", answer: []string{date, "Cache-Control: max-age=60"}, asks: []string{"Pragma: no-cache"}},
		{name: "Pragma beside Cache-Control", answer: []string{date, "Cache-Control: max-age=60"}, asks: []string{"Pragma: no-cache", "Cache-Control: max-age=100"}, want: true},
		{name: "Pragma of an answer means nothing", answer: []string{date, "Cache-Control: max-age=60", "Pragma: no-cache"}, want: true},
		{name: "a Date of long ago", answer: []string{"Date: Mon, 01 Jan 0001 00:00:00 GMT", "Cache-Control: max-age=60"}, after: time.Hour},
		{name: "an Age beyond all numbers", answer: []string{date, "Age: 99999999999999999999", "Cache-Control: max-age=99999999999999999999"}, after: time.Hour},
		{name: "Expires in the year 9999", answer: []string{"Date: Mon, 01 Jan 0001 00:00:00 GMT", "Expires: Fri, 31 Dec 9999 23:59:59 GMT"}, after: time.Hour},
		{name: "asked with max-age", answer: []string{date, "Cache-Control: max-age=60"}, asks: []string{"Cache-Control: max-age=10"}, after: 11 * time.Second},
		{name: "asked with max-age=0", answer: []string{date, "Cache-Control: max-age=60"}, asks: []string{"Cache-Control: max-age=0"}},
		{name: "asked with min-fresh", answer: []string{date, "Cache-Control: max-age=60"}, asks: []string{"Cache-Control: min-fresh=20"}, after: 30 * time.Second, want: true},
		{name: "not for long enough", answer: []string{date, "Cache-Control: max-age=60"}, asks: []string{"Cache-Control: min-fresh=31"}, after: 30 * time.Second},
		{name: "asked with max-stale", answer: []string{date, "Cache-Control: max-age=60"}, asks: []string{"Cache-Control: max-stale"}, after: time.Hour, want: true},
		{name: "within max-stale", answer: []string{date, "Cache-Control: max-age=60"}, asks: []string{"Cache-Control: max-stale=30"}, after: 80 * time.Second, want: true},
		{name: "beyond max-stale", answer: []string{date, "Cache-Control: max-age=60"}, asks: []string{"Cache-Control: max-stale=30"}, after: 91 * time.Second},
		{name: "must-revalidate forbids it", answer: []string{date, "Cache-Control: max-age=60, must-revalidate"}, asks: []string{"Cache-Control: max-stale"}, after: 61 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.status == 0 {
				test.status = 200
			}
			e := test.policy.Entry(answer(test.status, test.answer...), noon)
			if got := test.policy.Fresh(e, request(test.asks...), noon.Add(test.after)); got != test.want {
				t.Errorf("fresh: %v, want %v", got, test.want)
			}
		})
	}
}

func TestWhatIsTaken(t *testing.T) {
	tests := []struct {
		name   string
		method string
		lines  []string
		want   bool
	}{
		{name: "GET", want: true},
		{name: "HEAD", method: "HEAD", want: true},
		{name: "POST", method: "POST"},
		{name: "OPTIONS", method: "OPTIONS"},
		{name: "no-store", lines: []string{"Cache-Control: no-store"}},
		{name: "a range", lines: []string{"Range: bytes=0-9"}},
		{name: "a condition of its own", lines: []string{`If-None-Match: "1"`}},
		{name: "no-cache", lines: []string{"Cache-Control: no-cache"}, want: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := request(test.lines...)
			req.Method = test.method
			if got := (httpcache.RFC9111{}).Takes(req); got != test.want {
				t.Errorf("taken: %v, want %v", got, test.want)
			}
		})
	}
}

func TestWhatSavesARequestThatFails(t *testing.T) {
	tests := []struct {
		name   string
		answer []string
		asks   []string
		want   bool
	}{
		{name: "what is stale", answer: []string{"Cache-Control: max-age=60"}, want: true},
		{name: "must-revalidate", answer: []string{"Cache-Control: max-age=60, must-revalidate"}},
		{name: "no-cache", answer: []string{"Cache-Control: no-cache"}},
		{name: "asked with no-cache", answer: []string{"Cache-Control: max-age=60"}, asks: []string{"Cache-Control: no-cache"}},
		// RFC 5861, section 4: it is an hour old.
		{name: "within stale-if-error", answer: []string{"Cache-Control: max-age=60, stale-if-error=3600"}, want: true},
		{name: "beyond stale-if-error", answer: []string{"Cache-Control: max-age=60, stale-if-error=600"}},
		{name: "beyond that of the request", answer: []string{"Cache-Control: max-age=60"}, asks: []string{"Cache-Control: stale-if-error=600"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := httpcache.RFC9111{}
			e := p.Entry(answer(200, append(test.answer, "Date: "+at(0))...), noon)
			later := noon.Add(time.Hour)
			if got := p.Saves(e, request(test.asks...), later); got != test.want {
				t.Errorf("saves: %v, want %v", got, test.want)
			}
			want := httpcache.Replaced
			if test.want {
				want = httpcache.Confirmed
			}
			if got := p.Judge(e, request(test.asks...), answer(503), later); got != want {
				t.Errorf("judgement of a 503: %v, want %v", got, want)
			}
		})
	}
}

// RFC 9111, sections 3.2 and 4.3.4.
func TestA304UpdatesWhatIsKept(t *testing.T) {
	p := httpcache.RFC9111{}
	e := p.Entry(answer(200, "Date: "+at(0), `ETag: W/"1"`, "Cache-Control: max-age=60", "Age: 30", "Content-Type: text/html", "Content-Length: 4", "X-Old: 1"), noon)
	later := noon.Add(time.Hour)
	confirms := answer(304, "Date: "+at(time.Hour), `ETag: "1"`, "Cache-Control: max-age=120", "Content-Type: text/plain", "Content-Length: 0",
		"Set-Cookie: a=b", "Connection: X-Hop", "X-Hop: 1", "X-New: 1")
	if got := p.Judge(e, request(), confirms, later); got != httpcache.Renewed {
		t.Fatalf("judgement %v, want Renewed", got)
	}
	want := headers("Date: "+at(time.Hour), `ETag: W/"1"`, "Cache-Control: max-age=120", "Content-Type: text/html", "Content-Length: 4", "X-Old: 1", "X-New: 1")
	if diff := cmp.Diff(want, e.Response.Headers); diff != "" {
		t.Errorf("headers (-want, +got):\n%s", diff)
	}
	if !p.Fresh(e, request(), later.Add(119*time.Second)) || p.Fresh(e, request(), later.Add(120*time.Second)) {
		t.Error("the new max-age does not hold from now on")
	}
	// What is of another page tells nothing of this one.
	if got := p.Judge(e, request(), answer(304, `ETag: "2"`, "X-New: 2"), later); got != httpcache.Confirmed || e.Response.Headers.Get("X-New") != "1" {
		t.Errorf("judgement %v, want Confirmed; headers %v", got, e.Response.Headers)
	}
}

func TestWhatIsSecretOrOfTheConnectionIsNotKept(t *testing.T) {
	resp := answer(200, "Set-Cookie: session=secret", "Connection: close, X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "Transfer-Encoding: chunked", "X-Page: 1", "Vary: Accept-Encoding,  accept , Cookie")
	e := (httpcache.RFC9111{}).Entry(resp, noon)
	if diff := cmp.Diff(headers("X-Page: 1", "Vary: Accept-Encoding,  accept , Cookie"), e.Response.Headers); diff != "" {
		t.Errorf("headers (-want, +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"accept", "accept-encoding", "authorization", "cookie"}, e.Vary); diff != "" {
		t.Errorf("selected by (-want, +got):\n%s", diff)
	}
	if resp.Headers.Get("Set-Cookie") == "" {
		t.Error("the answer itself has lost its cookie")
	}
}

func TestUnsafeMethodsVoid(t *testing.T) {
	tests := []struct {
		method string
		status int
		want   bool
	}{
		{"POST", 200, true}, {"POST", 303, true}, {"PUT", 201, true}, {"DELETE", 204, true}, {"PATCH", 200, true}, {"BREW", 200, true},
		{"POST", 404, false}, {"POST", 500, false}, {"GET", 200, false}, {"HEAD", 200, false}, {"OPTIONS", 200, false},
	}
	for _, test := range tests {
		req := request()
		req.Method = test.method
		if got := (httpcache.RFC9111{}).Voids(req, answer(test.status)); got != test.want {
			t.Errorf("%s with %d voids: %v, want %v", test.method, test.status, got, test.want)
		}
	}
}
