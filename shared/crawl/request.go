package crawl

import (
	"maps"
	"net/http"
	"slices"
)

// A Request asks for one page to be fetched and handed to one callback.
//
// It travels between functions as JSON, so it holds data only: callbacks are
// named, never referenced, because the function that parses the page is
// another process. The JSON names are Scrapy's, from Request.to_dict and, for
// what Scrapy keeps under fixed keys of request.meta, those keys.
type Request struct {
	// URL is absolute, in the form that is sent; see package weburl.
	URL string `json:"url"`

	// Method is the HTTP method in capitals. Empty means GET.
	Method string `json:"method,omitempty"`

	// Headers are sent with the request; middlewares add those that are
	// missing. Keys are canonical, as [http.Header] keeps them; the engine
	// makes those so that are not ([Request.CanonicalizeHeaders]).
	Headers http.Header `json:"headers,omitempty"`

	// Body is sent as it is.
	Body []byte `json:"body,omitempty"`

	// Cookies join the jar before the request is sent, as if the server had
	// set them.
	Cookies []Cookie `json:"cookies,omitempty"`

	// Encoding is the WHATWG label that the query of the URL and form values
	// are encoded in. Empty means utf-8.
	Encoding string `json:"encoding,omitempty"`

	// Callback names the spider's function that reads the page. Empty means
	// the spider's Parse.
	Callback string `json:"callback,omitempty"`

	// Errback names the spider's function that hears of a failure. Empty
	// means that nobody does, and the failure is counted.
	Errback string `json:"errback,omitempty"`

	// CBKwargs are arguments for the callback.
	CBKwargs Values `json:"cb_kwargs,omitempty"`

	// Meta belongs to the spider. The framework neither reads nor writes it.
	Meta Values `json:"meta,omitempty"`

	// Flags are notes for logs; the framework does not act on them.
	Flags []string `json:"flags,omitempty"`

	// Priority ranks requests: higher goes first. Any int; 0 is normal.
	Priority int `json:"priority,omitempty"`

	// DontFilter lets a request pass though one with its fingerprint was
	// admitted before.
	DontFilter bool `json:"dont_filter,omitempty"`

	// IncludeHeaders names headers that count for the fingerprint, so that
	// requests which differ only there are different work.
	IncludeHeaders []string `json:"include_headers,omitempty"`

	Options
	Progress
}

// Progress is how far a request has come. The framework writes it.
type Progress struct {
	// Depth counts the links followed from a start request, whose depth is 0.
	Depth int `json:"depth,omitempty"`

	// Start is true for requests that came from the spider's start.
	Start bool `json:"is_start_request,omitempty"`

	// RetryTimes counts the attempts that failed before this one.
	RetryTimes int `json:"retry_times,omitempty"`

	// RedirectURLs are the addresses that led here, first one first.
	RedirectURLs []string `json:"redirect_urls,omitempty"`

	// RedirectReasons says for each of RedirectURLs why it was left: an HTTP
	// status, or "meta refresh".
	RedirectReasons []string `json:"redirect_reasons,omitempty"`

	// Jars are the cookies that the request carries, one jar a name, as
	// package cookies writes them. They are secret: never logged, never shown.
	Jars string `json:"jars,omitempty"`
}

// HTTPMethod is the method with its default filled in.
func (r *Request) HTTPMethod() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// Clone returns a copy whose headers, slices and maps can be changed without
// changing r. Values inside Meta and CBKwargs are shared.
func (r *Request) Clone() *Request {
	c := *r
	c.Headers = r.Headers.Clone()
	c.Body = append([]byte(nil), r.Body...)
	c.Cookies = append([]Cookie(nil), r.Cookies...)
	c.CBKwargs = r.CBKwargs.Clone()
	c.Meta = r.Meta.Clone()
	c.Flags = append([]string(nil), r.Flags...)
	c.IncludeHeaders = append([]string(nil), r.IncludeHeaders...)
	c.HandleStatusList = append([]int(nil), r.HandleStatusList...)
	c.RedirectURLs = append([]string(nil), r.RedirectURLs...)
	c.RedirectReasons = append([]string(nil), r.RedirectReasons...)
	return &c
}

// SetHeader sets one header, making the map if there is none.
func (r *Request) SetHeader(name, value string) {
	if r.Headers == nil {
		r.Headers = http.Header{}
	}
	r.Headers.Set(name, value)
}

// CanonicalizeHeaders gives headers whose keys are written otherwise, as in
// "authorization", the keys that [http.Header] looks them up by: who takes
// credentials out finds no others. Values of two spellings stand together.
func (r *Request) CanonicalizeHeaders() { r.Headers = canonical(r.Headers) }

// canonical returns headers with canonical keys: the same map, unless a key is
// none.
func canonical(h http.Header) http.Header {
	other := false
	for name := range h {
		other = other || http.CanonicalHeaderKey(name) != name
	}
	if !other {
		return h
	}
	c := make(http.Header, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		key := http.CanonicalHeaderKey(name)
		c[key] = append(c[key], h[name]...)
	}
	return c
}
