package crawl

import (
	"net/http"
	"time"
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
	// missing. Keys are canonical, as [http.Header] keeps them.
	Headers http.Header `json:"headers,omitempty"`

	// Body is sent as it is.
	Body []byte `json:"body,omitempty"`

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

// Options are what a spider may ask of the framework for one request. The
// zero value asks for nothing: the job's settings hold.
type Options struct {
	// DownloadTimeout limits connecting and reading together. Zero means
	// DOWNLOAD_TIMEOUT.
	DownloadTimeout time.Duration `json:"download_timeout,omitempty"`

	// DownloadMaxsize limits the body in bytes, before and after
	// decompression. Zero means DOWNLOAD_MAXSIZE, less than zero no limit.
	DownloadMaxsize int64 `json:"download_maxsize,omitempty"`

	// DownloadSlot names the slot whose turns the request takes. Empty means
	// the host.
	DownloadSlot string `json:"download_slot,omitempty"`

	// DontRetry gives up at the first failure.
	DontRetry bool `json:"dont_retry,omitempty"`

	// MaxRetryTimes replaces RETRY_TIMES where it is set.
	MaxRetryTimes *int `json:"max_retry_times,omitempty"`

	// DontRedirect hands a redirect to the callback instead of following it.
	DontRedirect bool `json:"dont_redirect,omitempty"`

	// HandleStatusList names the statuses outside 200 to 299 that the
	// callback wants to see.
	HandleStatusList []int `json:"handle_httpstatus_list,omitempty"`

	// HandleStatusAll lets the callback see every status.
	HandleStatusAll bool `json:"handle_httpstatus_all,omitempty"`

	// AllowOffsite lets the request leave the spider's allowed domains.
	AllowOffsite bool `json:"allow_offsite,omitempty"`

	// DontObeyRobotsTxt fetches what robots.txt forbids.
	DontObeyRobotsTxt bool `json:"dont_obey_robotstxt,omitempty"`

	// ReferrerPolicy says how much of the page that the request is found on
	// it tells, by a name that REFERRER_POLICY may have. Empty means what the
	// page's Referrer-Policy says, else REFERRER_POLICY.
	ReferrerPolicy string `json:"referrer_policy,omitempty"`

	// DepthReset gives the request depth 0, as if it were a start request.
	// The middleware Depth clears it.
	DepthReset bool `json:"depth_reset,omitempty"`
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
