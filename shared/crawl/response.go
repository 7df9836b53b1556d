package crawl

import (
	"net/http"
	"slices"
	"time"
)

// Flags that a response may carry, with Scrapy's names.
const (
	// FlagCached marks an answer of the HTTP cache.
	FlagCached = "cached"
	// FlagPartial marks a body of unknown length whose connection ended.
	FlagPartial = "partial"
	// FlagDataloss marks a body that is shorter than was announced.
	FlagDataloss = "dataloss"
	// FlagGaveUp marks an answer that was to be tried again and came too
	// often: if nobody wants it, the request has failed.
	FlagGaveUp = "gave-up"
	// FlagTokenized marks a page that is too large for a parser, as the
	// callbacks that come after the first to read it see; all of its links
	// are found, but selectors see only its beginning.
	FlagTokenized = "tokenized"
	// FlagTruncated marks an XML document with too many elements for a tree,
	// likewise: selectors see only its beginning.
	FlagTruncated = "truncated"
)

// A Response is what a request brought back.
type Response struct {
	// URL is the address that answered.
	URL string `json:"url"`

	// Status is the HTTP status, 100 to 999.
	Status int `json:"status"`

	// Headers are as received, save those that a middleware has worked off
	// (Content-Encoding after decompression).
	Headers http.Header `json:"headers,omitempty"`

	// Body is the body after decompression.
	Body []byte `json:"-"`

	// Flags note what is odd about it; see [FlagPartial], [FlagDataloss].
	Flags []string `json:"flags,omitempty"`

	// Protocol is the protocol of the answer, such as "HTTP/1.1".
	Protocol string `json:"protocol,omitempty"`

	// IPAddress is the address that was dialled, without port.
	IPAddress string `json:"ip_address,omitempty"`

	// Latency is the time from sending the request to the end of the
	// answer's headers (Scrapy's download_latency).
	Latency time.Duration `json:"download_latency,omitempty"`

	// Certificate is the server's, where it was asked over TLS.
	Certificate *Certificate `json:"certificate,omitempty"`

	// Timing says where the time of the fetch went. It does not travel.
	Timing Timing `json:"-"`

	// Request is the request that was answered, as it was sent on its last
	// hop: after a redirect it is the redirected one.
	Request *Request `json:"-"`
}

// A Certificate is what a server showed of itself.
type Certificate struct {
	// Subject and Issuer are distinguished names, as in "CN=example.com".
	Subject string `json:"subject,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	// NotBefore and NotAfter are the time that it is good for.
	NotBefore time.Time `json:"not_before,omitzero"`
	NotAfter  time.Time `json:"not_after,omitzero"`
	// SHA256 is its fingerprint in hexadecimal digits.
	SHA256 string `json:"sha256,omitempty"`
}

// A Timing is how long the parts of a fetch took; those that a kept connection
// or a cache made needless are 0.
type Timing struct {
	DNS       time.Duration // finding the address
	Connect   time.Duration // until the connection stood
	TLS       time.Duration // the handshake
	FirstByte time.Duration // from sending the request to the answer's first byte
	Body      time.Duration // from there to the last byte
	Reused    bool          // the connection had served another request
}

// HasFlag reports whether a flag is set.
func (r *Response) HasFlag(flag string) bool { return slices.Contains(r.Flags, flag) }

// A Failure is what is left of a request that brought nothing back.
type Failure struct {
	// Reason is a short, stable word: "timeout", "dns", "connect", "tls",
	// "dataloss", "too-large", … Stats, errbacks and dead letters all show
	// the same one.
	Reason string `json:"reason"`

	// Message is the error's text, for people.
	Message string `json:"message,omitempty"`

	// Request is the request that failed.
	Request *Request `json:"-"`
}

func (f *Failure) Error() string {
	if f.Message == "" {
		return f.Reason
	}
	return f.Reason + ": " + f.Message
}
