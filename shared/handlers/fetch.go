package handlers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A jobHandler fetches over a process's connections with a job's settings.
type jobHandler struct {
	http           *HTTPHandler
	transport      http.RoundTripper
	timeout        time.Duration
	connectTimeout time.Duration // 0: timeout
	maxsize        int64         // 0: no limit
	warnsize       int64         // 0: never
	failOnDataloss bool
}

// Fetch fetches once. When ctx itself is done, the error is ctx's and not a
// failure of the request.
func (j *jobHandler) Fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
	target, err := weburl.Parse(req.URL)
	if err != nil {
		return nil, failure(req, ReasonBadURL, err)
	}
	if s := target.Scheme(); s != "http" && s != "https" {
		return nil, failure(req, ReasonUnsupportedScheme, fmt.Errorf("%q is neither http nor https", s))
	}
	limit := or(req.DownloadTimeout, j.timeout)
	fetchCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	start := time.Now()
	answer, ex, err := j.send(fetchCtx, req, target)
	if err != nil {
		return nil, j.failed(ctx, fetchCtx, req, limit, err)
	}
	// Closing a body that was not read to its end closes the connection: what
	// is left of it may be more than a new one costs.
	defer answer.Body.Close()
	latency := time.Since(start)

	switch status := answer.StatusCode; {
	case status == http.StatusSwitchingProtocols:
		return nil, failure(req, ReasonBadResponse, errors.New("the server switched protocols unasked"))
	case status < 100 || status > 999:
		return nil, failure(req, ReasonBadResponse, fmt.Errorf("%d is no HTTP status", status))
	}
	if odd := ex.oddities(); odd != 0 {
		j.http.log.Debug("an odd answer was read as browsers do", "url", target.Redacted(), "odd", odd.String())
	}
	body, flags, err := j.body(ctx, fetchCtx, req, answer, limit)
	if err != nil {
		return nil, err
	}
	resp := &crawl.Response{
		URL:      target.WithoutFragment().String(),
		Status:   answer.StatusCode,
		Headers:  answer.Header,
		Body:     body,
		Flags:    flags,
		Protocol: answer.Proto,
		Latency:  latency,
		Request:  req,
	}
	ex.tell(resp, time.Now())
	return resp, nil
}

// send sends the request and waits for the headers of its answer. An answer that
// was there before it was asked for, as the rest of a body that is longer than
// announced, is passed over: the request goes out once more.
func (j *jobHandler) send(ctx context.Context, req *crawl.Request, target weburl.URL) (*http.Response, *exchange, error) {
	for last := false; ; last = true {
		ex := new(exchange)
		answer, err := j.transport.RoundTrip(j.request(ex.traced(ctx), req, target))
		if !ex.isStale() {
			return answer, ex, err
		}
		if err == nil {
			answer.Body.Close()
		}
		if last {
			return nil, nil, fmt.Errorf("%w: the server answers before it is asked", net.ErrClosed)
		}
	}
}

// request makes net/http's request of ours. It shares no map with it, as
// net/http may read the headers until the body is closed.
func (j *jobHandler) request(ctx context.Context, req *crawl.Request, target weburl.URL) *http.Request {
	if j.connectTimeout > 0 {
		ctx = context.WithValue(ctx, connectTimeoutKey{}, j.connectTimeout)
	}
	r := &http.Request{
		Method:     req.HTTPMethod(),
		URL:        target.NetURL(),
		Host:       target.Host(),
		Header:     make(http.Header, len(req.Headers)+2),
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
	}
	for name, values := range req.Headers {
		r.Header[name] = slices.Clip(values)
	}
	if host := req.Headers.Get("Host"); host != "" {
		r.Host = host
	}
	// A proxy's password is never for the server, and there is no proxy.
	delete(r.Header, "Proxy-Authorization")
	if _, given := r.Header["User-Agent"]; !given {
		r.Header["User-Agent"] = nil // else net/http sends its own
	}
	if len(req.Body) > 0 {
		body := req.Body
		r.ContentLength = int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
	}
	// A kept-alive connection may have died while the function slept. net/http
	// then dials anew by itself, also for a POST once it is told so; the entry
	// without a value is not sent. Retries repeat a POST in any case.
	if _, given := r.Header["Idempotency-Key"]; !given && r.Method != http.MethodGet && r.Method != http.MethodHead {
		r.Header["Idempotency-Key"] = nil
	}
	return r.WithContext(ctx)
}
