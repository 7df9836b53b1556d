package handlers

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

// An exchange is one request and what the connection tells of it. net/http
// calls its hooks from several goroutines, also after it has given up.
type exchange struct {
	trace httptrace.ClientTrace

	firstByteLimit time.Duration           // 0: none
	stop           context.CancelCauseFunc // ends the fetch; nil without a limit

	mu     sync.Mutex
	late   *time.Timer // fires when the first byte is late
	link   *link
	conn   *conn // nil over HTTP/2
	reused bool
	stale  bool      // what came was not asked for
	got    time.Time // the connection was there
	wrote  time.Time // the request was sent
	answer time.Time // the answer's first byte came
	headed bool      // the headers are there, or nothing is to come
}

var errNoFirstByte = errors.New("no byte of the answer (DOWNLOAD_FIRST_BYTE_TIMEOUT)")

// traced returns a context whose request tells the exchange of itself.
func (e *exchange) traced(ctx context.Context) context.Context {
	e.trace = httptrace.ClientTrace{
		GotConn: e.gotConn, WroteRequest: e.wroteRequest, GotFirstResponseByte: e.gotFirstByte,
	}
	return httptrace.WithClientTrace(ctx, &e.trace)
}

func (e *exchange) gotConn(info httptrace.GotConnInfo) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reused, e.got = info.Reused, time.Now()
	e.link, e.conn, e.stale = nil, nil, false
	e.wrote, e.answer = time.Time{}, time.Time{}
	e.notLate()
	switch c := info.Conn.(type) {
	case *conn:
		e.link, e.conn = c.link, c
		c.expect()
	case *tls.Conn: // HTTP/2
		e.link, _ = c.NetConn().(*link)
	}
}

func (e *exchange) wroteRequest(httptrace.WroteRequestInfo) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wrote = time.Now()
	if e.firstByteLimit > 0 && e.answer.IsZero() && !e.headed {
		e.late = time.AfterFunc(e.firstByteLimit, func() { e.stop(errNoFirstByte) })
	}
}

func (e *exchange) gotFirstByte() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = time.Now()
	e.notLate()
	// What net/http reads as the answer came before the request was sent, with
	// or after the last answer.
	e.stale = e.conn != nil && e.conn.fresh.Load()
}

func (e *exchange) notLate() {
	if e.late != nil {
		e.late.Stop()
		e.late = nil
	}
}

// answered says that the headers are there, or that none will come.
func (e *exchange) answered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.headed = true
	e.notLate()
}

// stage is what the request was waiting for, "" if it has no connection.
func (e *exchange) stage() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.got.IsZero():
		return ""
	case e.answer.IsZero() && e.wrote.IsZero():
		return "sending the request"
	case e.answer.IsZero():
		return "waiting for the answer"
	}
	return "reading the answer"
}

// tell writes what is known of the connection into the response.
func (e *exchange) tell(resp *crawl.Response, end time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.link == nil {
		return // of a RoundTripper that is not ours
	}
	resp.IPAddress = e.link.ip
	if e.link.cert != nil {
		own := *e.link.cert
		resp.Certificate = &own
	}
	resp.Timing.Reused = e.reused
	if !e.reused {
		resp.Timing.DNS, resp.Timing.Connect, resp.Timing.TLS = e.link.dns, e.link.connect, e.link.tls
	}
	if e.answer.IsZero() {
		return
	}
	sent := e.wrote
	if sent.IsZero() || sent.After(e.answer) { // the answer came before the body was sent
		sent = e.got
	}
	resp.Timing.FirstByte, resp.Timing.Body = e.answer.Sub(sent), end.Sub(e.answer)
}

// oddities are those of the answer's head.
func (e *exchange) oddities() oddity {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conn == nil {
		return 0
	}
	return oddity(e.conn.odd.Load())
}

// isStale reports whether the answer is none to the request, and if so closes
// the connection.
func (e *exchange) isStale() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stale {
		e.conn.Close()
	}
	return e.stale
}
