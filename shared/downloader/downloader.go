// Package downloader is the contract of what turns a request into a response:
// a [Handler], and the middlewares round it.
//
// The parts that are shipped are in package downloadermw (middlewares) and
// package handlers (what opens the connection); the order in which they run is
// one list, in the project's own project.go.
package downloader

import (
	"context"
	"errors"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A Handler fetches a request. A response returned with a nil error is never
// nil, and its Request is set. An error may be one of crawl's verdicts; any
// other is a failure of the request. The handler may keep neither the request
// nor change it after it returns. It is safe for concurrent use.
type Handler interface {
	Fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, error)
}

// A HandlerFunc is a function that is a Handler.
type HandlerFunc func(ctx context.Context, req *crawl.Request) (*crawl.Response, error)

// Fetch calls f.
func (f HandlerFunc) Fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
	return f(ctx, req)
}

// A Middleware wraps a Handler. It may change the request on the way in (the
// engine hands it a copy of its own) or the response on the way out, answer
// without calling next, or fail with one of the verdicts of package crawl.
type Middleware func(next Handler) Handler

// Chain wraps h so that the first middleware sees a request first and its
// response last: Chain(h, a, b) is a(b(h)).
func Chain(h Handler, mws ...Middleware) Handler {
	for _, mw := range slices.Backward(mws) {
		h = mw(h)
	}
	return h
}

// Hooks is a middleware written as Scrapy writes it. Each hook may be nil.
type Hooks struct {
	// ProcessRequest runs before the request goes down. A response that it
	// returns is the answer, and the request goes no further.
	ProcessRequest func(ctx context.Context, req *crawl.Request) (*crawl.Response, error)

	// ProcessResponse runs on the way up. It returns a response or an error,
	// never neither.
	ProcessResponse func(ctx context.Context, req *crawl.Request, resp *crawl.Response) (*crawl.Response, error)

	// ProcessException runs when the request failed below, by this
	// middleware's ProcessRequest or by what is further down. A response
	// that it returns is the answer; else the error that it returns passes
	// up, which may be the one that came. It does not see a *crawl.Later.
	ProcessException func(ctx context.Context, req *crawl.Request, err error) (*crawl.Response, error)
}

// Middleware makes a middleware of the hooks.
func (h Hooks) Middleware() Middleware {
	return func(next Handler) Handler {
		return HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
			resp, err := h.down(ctx, next, req)
			if err != nil {
				var later *crawl.Later
				if h.ProcessException == nil || errors.As(err, &later) {
					return nil, err
				}
				return h.ProcessException(ctx, req, err)
			}
			if h.ProcessResponse == nil {
				return resp, nil
			}
			return h.ProcessResponse(ctx, req, resp)
		})
	}
}

func (h Hooks) down(ctx context.Context, next Handler, req *crawl.Request) (*crawl.Response, error) {
	if h.ProcessRequest != nil {
		if resp, err := h.ProcessRequest(ctx, req); resp != nil || err != nil {
			return resp, err
		}
	}
	return next.Fetch(ctx, req)
}
