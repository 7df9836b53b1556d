package httpcache

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

// renew updates an entry by an answer that confirms it: its headers replace
// those that are kept, save for what tells of the bytes of the body, since those
// stay. Source: RFC 9111, section 3.2.
func (e *Entry) renew(answer *crawl.Response, now time.Time) {
	e.Received = now
	except := append(ofConnection(answer.Headers),
		"Content-Encoding", "Content-Length", "Content-Range", "Content-Type", "Etag", "Set-Cookie", "Set-Cookie2", "Vary")
	// An Age or a Date of the old answer would make the new one older.
	e.Response.Headers.Del("Age")
	e.Response.Headers.Del("Date")
	for name, values := range answer.Headers {
		if !slices.Contains(except, name) {
			e.Response.Headers[name] = slices.Clone(values)
		}
	}
}

// ofConnection are the headers that belong to one connection.
// Source: RFC 9111, section 3.1; RFC 9110, section 7.6.1.
func ofConnection(h http.Header) []string {
	names := []string{
		"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
		"Proxy-Connection", "Te", "Transfer-Encoding", "Upgrade",
	}
	for _, name := range tokens(h["Connection"]) {
		names = append(names, http.CanonicalHeaderKey(name))
	}
	return names
}

// sameTag compares two entity tags weakly. Source: RFC 9110, section 8.8.3.2.
func sameTag(a, b string) bool { return strings.TrimPrefix(a, "W/") == strings.TrimPrefix(b, "W/") }

// Differs reports whether the answer to a HEAD tells of another page than an
// entry. Source: RFC 9111, section 4.3.5.
func (e *Entry) Differs(answer *crawl.Response) bool {
	kept := e.Response.Headers
	if tag := answer.Headers.Get("Etag"); tag != "" && !sameTag(tag, kept.Get("Etag")) {
		return true
	}
	for _, name := range []string{"Last-Modified", "Content-Length"} {
		if v, old := answer.Headers.Get(name), kept.Get(name); v != "" && old != "" && v != old {
			return true
		}
	}
	return false
}
