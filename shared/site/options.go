package site

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

const (
	defaultPages = 1200

	// maxPages keeps the counters, one byte a product, to a megabyte.
	maxPages = 1_000_000

	// maxLatency and maxSlow together stay below the server's timeouts; see
	// Serve.
	maxLatency = 30 * time.Second
	maxSlow    = 10 * time.Second
)

// Options say what site to make. The zero value is a good one.
type Options struct {
	// Fail is the share of products, 0 to 1, whose first request is answered
	// 503. The next request for the same product gets the page. Which products
	// fail depends on their number alone, so it is the same in every run.
	//
	// Default: 0, none.
	Fail float64

	// Latency is the time that passes before an answer begins, 0 to 30 s. It
	// holds for every path but /stats.
	//
	// Default: 0.
	Latency time.Duration

	// OtherOrigin is a second origin of the same site, such as
	// "http://other.test:8080", to which /redirect/out leads.
	//
	// Default: "", the origin of the request with localhost and 127.0.0.1
	// swapped. A request that came by another name is then answered 501.
	OtherOrigin string

	// Pages is the number of products, 1 to 1,000,000.
	//
	// Default: 1200, also for zero.
	Pages int
}

func (o Options) withDefaults() Options {
	if o.Pages == 0 {
		o.Pages = defaultPages
	}
	return o
}

// validate returns an error for every field out of range, joined.
func (o Options) validate() error {
	var errs []error
	if !(o.Fail >= 0 && o.Fail <= 1) { // said this way round, it refuses NaN
		errs = append(errs, fmt.Errorf("site: Fail is %v; want a share from 0 to 1", o.Fail))
	}
	if o.Latency < 0 || o.Latency > maxLatency {
		errs = append(errs, fmt.Errorf("site: Latency is %v; want 0 to %v", o.Latency, maxLatency))
	}
	if o.OtherOrigin != "" && !isOrigin(o.OtherOrigin) {
		errs = append(errs, fmt.Errorf("site: OtherOrigin is %q; want a scheme and a host, such as http://other.test:8080", o.OtherOrigin))
	}
	if o.Pages < 1 || o.Pages > maxPages {
		errs = append(errs, fmt.Errorf("site: Pages is %d; want 1 to %d, or 0 for %d", o.Pages, maxPages, defaultPages))
	}
	return errors.Join(errs...)
}

// isOrigin reports whether s is an http or https URL of a host and no more.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return false
	}
	return s == "http://"+u.Host || s == "https://"+u.Host
}
