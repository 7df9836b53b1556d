// Package site is a small shop to crawl: a web site made by rule instead of
// from files, so that a crawl of it can be checked page by page and figure by
// figure. `skitter site` serves it, and examples, tests and benchmarks crawl
// it.
//
// The shop is a graph of product pages, /p/0 to /p/N, each with 60 links and
// about 17 KB, every one reachable from /p/0. Beside it stand an area of
// quotations, sitemaps, feeds, all products as /products.csv, a login, and the
// pages that go wrong in the ways real sites do; /odd/ lists those. No product links to an odd page, so a
// crawl that starts at /p/0 and obeys robots.txt fetches the products and
// nothing else.
//
// What a page says depends on its address and on Options.Pages, never on the
// clock or on chance. The site keeps count of what was asked (Log, Stats,
// /stats), which is how tests judge a crawler's politeness.
package site

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// A Site is the shop. It is an http.Handler and safe for concurrent use. New
// makes one; the zero value is of no use.
type Site struct {
	options Options
	shop    *shop
	visits  *visits
	mux     *http.ServeMux
	buffers sync.Pool // of *[]byte
}

// New returns a site. It fails if an option is out of range; the error names
// every such field and says what is right.
func New(options Options) (*Site, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	s := &Site{
		options: options,
		shop:    newShop(options.Pages),
		visits:  newVisits(options.Pages, LogLimit),
		buffers: sync.Pool{New: func() any { return new(make([]byte, 0, holdBack)) }},
	}
	s.mux = s.routes()
	return s, nil
}

// ServeHTTP answers one request. Requests for /stats are neither counted nor
// delayed.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/stats" {
		s.serveStats(w, r)
		return
	}
	product := -1
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		product = s.shop.product(r.URL.Path)
	}
	v := s.visits.start(r, product)
	buffer := s.buffers.Get().(*[]byte)
	a := &answer{ResponseWriter: w, held: (*buffer)[:0]}
	defer func() {
		s.visits.finish(v, a.outcome(r))
		a.send()
		if cap(a.held) <= 2*holdBack {
			*buffer = a.held
			s.buffers.Put(buffer)
		}
	}()

	if !wait(r.Context(), s.options.Latency) {
		return
	}
	if v.product >= 0 {
		s.serveProduct(a, v)
		return
	}
	s.mux.ServeHTTP(a, r)
}

// serveProduct bypasses the mux and writes into the answer's own buffer: it
// runs beside benchmarks, which should not measure it.
func (s *Site) serveProduct(a *answer, v visit) {
	if v.firstTry && failsFirst(v.product, s.options.Fail) {
		writePage(a, http.StatusServiceUnavailable, "Busy", "<p>Ask again.</p>")
		return
	}
	a.Header().Set("Content-Type", typeHTML)
	a.WriteHeader(http.StatusOK)
	a.held = s.shop.appendProduct(a.held, v.product)
}

// wait returns true once d has passed, false if ctx ends before.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
