package assembly

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
)

// An Exchange is one request as it was sent, and what came back, before any
// middleware has worked on it.
type Exchange struct {
	// Request is what the handler was given.
	Request *crawl.Request
	// Sent are the headers as they went over the wire, in their order: those
	// of HTTP/2 in small letters, with its pseudo-headers. None were sent
	// where no connection was made, or none tells, as with a file.
	Sent []Header
	// Response is what came, nil if nothing did. Its headers and its body are
	// as they were received.
	Response *crawl.Response
	// Err is what went wrong, nil if a response came.
	Err error
}

// A Header is one line of them.
type Header struct{ Name, Value string }

// exchanges collects what one fetch sends: also what it does again, what
// redirects lead to, and robots.txt.
type exchanges struct {
	mu  sync.Mutex
	all []Exchange
}

type exchangesKey struct{}

// watch has the exchanges of those fetches told whose context asks for it. It
// stands next to the handlers.
func watch(next downloader.Handler) downloader.Handler {
	return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		told, _ := ctx.Value(exchangesKey{}).(*exchanges)
		if told == nil {
			return next.Fetch(ctx, req)
		}
		var sent wire
		resp, err := next.Fetch(httptrace.WithClientTrace(ctx, sent.trace()), req)
		var later *crawl.Later
		if errors.As(err, &later) {
			return resp, err // nothing was sent
		}
		x := Exchange{Request: req.Clone(), Sent: sent.take(), Err: err}
		if resp != nil {
			own := *resp
			own.Headers = resp.Headers.Clone()
			x.Response = &own
		}
		told.mu.Lock()
		defer told.mu.Unlock()
		told.all = append(told.all, x)
		return resp, err
	})
}

// A wire notes the headers that net/http writes.
type wire struct {
	mu      sync.Mutex
	headers []Header
}

func (w *wire) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.headers = nil // a connection that had died is tried again
		},
		WroteHeaderField: func(name string, values []string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, v := range values {
				w.headers = append(w.headers, Header{name, v})
			}
		},
	}
}

func (w *wire) take() []Header {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.headers)
}

// Trace is Fetch that also returns what was sent and received for it, in order.
// What is secret in it is not hidden.
func (s *Single) Trace(ctx context.Context, req *crawl.Request) (*crawl.Response, []Exchange, error) {
	var told exchanges
	resp, err := s.Fetch(context.WithValue(ctx, exchangesKey{}, &told), req)
	told.mu.Lock()
	defer told.mu.Unlock()
	return resp, told.all, err
}

// Redacted returns the headers that were sent, for people to see.
func (x *Exchange) Redacted() []Header {
	sent := slices.Clone(x.Sent)
	for k, h := range sent {
		sent[k].Value = crawl.RedactedHeaders(http.Header{h.Name: {h.Value}})[h.Name][0]
	}
	return sent
}
