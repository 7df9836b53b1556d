package handlers

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A jobHandler fetches over a process's connections with a job's settings.
type jobHandler struct {
	http             *HTTPHandler
	timeout          time.Duration
	connectTimeout   time.Duration // 0: timeout
	firstByteTimeout time.Duration // 0: none
	dnsTimeout       time.Duration
	dnsCache         bool
	bind             netip.Addr
	secure           tlsSettings
	tls              *tls.Config
	maxsize          int64 // 0: no limit
	warnsize         int64 // 0: never
	failOnDataloss   bool
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
	f := &fetch{job: j, req: req, target: target, ctx: ctx, limit: cmp.Or(req.DownloadTimeout, j.timeout)}
	if f.route, err = j.way(req, target, f.limit); err != nil {
		return nil, err
	}
	return f.do()
}

// A fetch is one request on its way.
type fetch struct {
	job      *jobHandler
	req      *crawl.Request
	target   weburl.URL
	route    *route
	limit    time.Duration   // of the whole
	ctx      context.Context // the caller's
	own      context.Context // within the limits
	exchange *exchange       // the last one
}

func (f *fetch) do() (*crawl.Response, error) {
	own, cancel := context.WithTimeout(f.ctx, f.limit)
	defer cancel()
	var stop context.CancelCauseFunc
	if f.job.firstByteTimeout > 0 {
		own, stop = context.WithCancelCause(own)
		defer stop(nil)
	}
	f.own = own

	start := time.Now()
	answer, err := f.send(stop)
	if err != nil {
		return nil, f.failed(err)
	}
	// Closing a body that was not read to its end closes the connection: what
	// is left of it may be more than a new one costs.
	defer answer.Body.Close()
	latency := time.Since(start)

	switch status := answer.StatusCode; {
	case status == http.StatusSwitchingProtocols:
		return nil, failure(f.req, ReasonBadResponse, errors.New("the server switched protocols unasked"))
	case status < 100 || status > 999:
		return nil, failure(f.req, ReasonBadResponse, fmt.Errorf("%d is no HTTP status", status))
	case status == http.StatusProxyAuthRequired && f.route.tellsURLs():
		return nil, failure(f.req, ReasonProxy, errors.New("the proxy: it answered with 407 Proxy Authentication Required"))
	}
	if odd := f.exchange.oddities(); odd != 0 {
		f.job.http.log.Debug("an odd answer was read as browsers do", "url", f.target.Redacted(), "odd", odd.String())
	}
	body, flags, err := f.body(answer)
	if err != nil {
		return nil, err
	}
	resp := &crawl.Response{
		URL:      f.target.WithoutFragment().String(),
		Status:   answer.StatusCode,
		Headers:  answer.Header,
		Body:     body,
		Flags:    flags,
		Protocol: answer.Proto,
		Latency:  latency,
		Request:  f.req,
	}
	f.exchange.tell(resp, time.Now())
	return resp, nil
}

// send sends the request and waits for the headers of its answer. An answer that
// was there before it was asked for, as the rest of a body that is longer than
// announced, is passed over: the request goes out once more.
func (f *fetch) send(stop context.CancelCauseFunc) (*http.Response, error) {
	for last := false; ; last = true {
		f.exchange = &exchange{firstByteLimit: f.job.firstByteTimeout, stop: stop}
		answer, err := f.job.http.transport.RoundTrip(f.request(f.exchange.traced(f.own)))
		f.exchange.answered()
		if !f.exchange.isStale() {
			return answer, err
		}
		if err == nil {
			answer.Body.Close()
		}
		if last {
			return nil, fmt.Errorf("%w: the server answers before it is asked", net.ErrClosed)
		}
	}
}

// request makes net/http's request of ours. It shares no map with it, as
// net/http may read the headers until the body is closed.
func (f *fetch) request(ctx context.Context) *http.Request {
	req := f.req
	r := &http.Request{
		Method:     req.HTTPMethod(),
		URL:        f.target.NetURL(),
		Host:       f.target.Host(),
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
	// A proxy's password is never for the server.
	delete(r.Header, "Proxy-Authorization")
	if f.job.http.own {
		ctx = context.WithValue(ctx, routeKey{}, f.route)
		f.direct(r)
	}
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

// direct has net/http send the request along its route.
func (f *fetch) direct(r *http.Request) {
	host := r.URL.Host
	r.URL.Host = f.route.keyed(host)
	if f.route.tellsURLs() {
		// In this form net/http takes the line as it is; else a Host header
		// of one's own would get into it.
		r.URL = &url.URL{
			Scheme: "http", Host: r.URL.Host, Opaque: "//" + host + f.target.Path(),
			RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery,
		}
		if auth := f.route.proxy.auth; auth != "" {
			r.Header.Set("Proxy-Authorization", auth)
		}
	}
}
