package casetest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/skitterhq/skitter/shared/handlers"
)

// A network is what lies behind the dialler in a case: every name leads to one
// program, over pipes, so that a crawl over it keeps virtual time. It speaks
// TLS where it is spoken to in TLS. Nobody is told of robots.txt, which is not
// there unless the case says so.
type network struct {
	// site answers over HTTP/1.1, and HTTP/2 where that is offered.
	site http.Handler
	// raw answers in place of a site, with bytes: it is called for each
	// request of a connection with its number from 0, and false closes the
	// connection. The body is not read.
	raw func(n int, req *http.Request, conn net.Conn) (keep bool)
	// takes, in place of a site, takes over the connection of a number from 0,
	// if it will, once TLS stands.
	takes func(n int, conn net.Conn) bool
	// robots answers /robots.txt; nil has none.
	robots http.Handler
	// refuses are the hosts that take no connection.
	refuses []string
	// refusals is how many connections are refused, whatever the host.
	refusals int
	// forgets says that nobody looks at what was asked.
	forgets bool
	// protocols are what TLS offers. Default: h2 and http/1.1.
	protocols []string
	// guard, in place of all of the above, lets the real network be dialled,
	// where it allows that.
	guard func(netip.AddrPort) error
	// shown is the certificate that a TLS server shows; nil is a good one.
	shown *tls.Certificate

	mu             sync.Mutex
	asked          []ask
	dials          []string
	taken, dialled int
	leaked         int // ends of connections that were open at the end
	open           map[*pipe]bool
	http           *http.Server
}

// An ask is a request as it came to a server.
type ask struct {
	URL    string // with the target as it stood on the request line
	Method string
	Proto  string
	Header http.Header
	Body   string
}

// connect makes a handler's connections lead to the network, until the test
// ends. It is to be called inside the test's bubble, if there is one.
func (n *network) connect(t *testing.T, o *handlers.Options) {
	if n.guard != nil {
		o.Guard = n.guard
		return
	}
	n.open = map[*pipe]bool{}
	n.http = &http.Server{Handler: http.HandlerFunc(n.serve), ErrorLog: log.New(io.Discard, "", 0)}
	o.Dial, o.RootCAs = n.dial, authority().pool
	t.Cleanup(n.close)
}

// close ends the network. The handler has closed its idle connections before;
// those that are open yet are leaked.
func (n *network) close() {
	synctest.Wait()
	n.mu.Lock()
	n.leaked = len(n.open)
	open := slices.Collect(maps.Keys(n.open))
	n.mu.Unlock()
	for _, p := range open {
		p.Close()
	}
	n.http.Close()
}

func (n *network) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.forgets {
		n.dials = append(n.dials, addr)
	}
	n.dialled++
	if slices.Contains(n.refuses, host) || n.dialled <= n.refusals {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	near, far := net.Pipe()
	client := &pipe{Conn: near, network: n, writes: make(chan []byte, 1000), closed: make(chan struct{})}
	server := &pipe{Conn: far, network: n}
	n.open[client], n.open[server] = true, true
	go client.pump()
	go n.accept(server)
	return client, nil
}

// accept works a connection at the server's end.
func (n *network) accept(conn net.Conn) {
	r := bufio.NewReader(conn)
	first, err := r.Peek(1)
	if err != nil {
		conn.Close()
		return
	}
	conn = &peeked{Conn: conn, r: r}
	const handshake = 0x16 // the first byte of TLS
	if first[0] == handshake {
		protocols := n.protocols
		if protocols == nil {
			protocols = []string{"h2", "http/1.1"}
		}
		conn = tls.Server(conn, &tls.Config{NextProtos: protocols, GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if n.shown != nil {
				return n.shown, nil
			}
			return authority().issue(cmp.Or(h.ServerName, "127.0.0.1"))
		}})
	}
	if n.takes != nil && n.takes(n.number(), conn) {
		return
	}
	if n.raw != nil {
		n.play(conn)
		return
	}
	_ = n.http.Serve(&single{conn: conn}) // ends with the connection handed over
}

// serve answers with the site and notes what it was asked.
func (n *network) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		if n.robots == nil {
			http.NotFound(w, r)
			return
		}
		n.robots.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	n.note(r, string(body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	n.site.ServeHTTP(w, r)
}

// number counts the connections that were accepted.
func (n *network) number() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken++
	return n.taken - 1
}

func (n *network) note(r *http.Request, body string) int {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	url := r.RequestURI
	if strings.HasPrefix(url, "/") {
		url = scheme + "://" + r.Host + url
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.forgets {
		return 0
	}
	n.asked = append(n.asked, ask{URL: url, Method: r.Method, Proto: r.Proto, Header: r.Header.Clone(), Body: body})
	return len(n.asked) - 1
}

// play answers the requests of a connection with raw.
func (n *network) play(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if req.URL.Path == "/robots.txt" {
			if _, err := io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"); err != nil {
				return
			}
			continue
		}
		if c, ok := conn.(*tls.Conn); ok {
			state := c.ConnectionState()
			req.TLS = &state
		}
		body, err := io.ReadAll(req.Body)
		if err != nil || !n.raw(n.note(req, string(body)), req, conn) {
			return
		}
	}
}

// urls are the addresses that were asked for, in order.
func (n *network) urls() []string {
	var urls []string
	for _, a := range n.asked {
		urls = append(urls, a.URL)
	}
	return urls
}

// A pipe is one end of a connection, which the network knows while it is open.
// What the client writes is kept until the server reads it, so that the two do
// not wait for each other; what the server writes waits for the client.
type pipe struct {
	net.Conn
	network *network
	writes  chan []byte // of the client's end
	closed  chan struct{}
	once    sync.Once
}

func (p *pipe) Write(b []byte) (int, error) {
	if p.writes == nil {
		return p.Conn.Write(b)
	}
	select {
	case <-p.closed:
		return 0, net.ErrClosed
	case p.writes <- bytes.Clone(b):
		return len(b), nil
	}
}

// pump writes what the client has written.
func (p *pipe) pump() {
	for {
		select {
		case <-p.closed:
			return
		case b := <-p.writes:
			if _, err := p.Conn.Write(b); err != nil {
				<-p.closed // the client learns of it when it reads
				return
			}
		}
	}
}

func (p *pipe) Close() error {
	p.network.mu.Lock()
	delete(p.network.open, p)
	p.network.mu.Unlock()
	if p.closed != nil {
		p.once.Do(func() { close(p.closed) })
	}
	return p.Conn.Close()
}

func (p *pipe) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

// A peeked connection has been read from.
type peeked struct {
	net.Conn
	r io.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.r.Read(b) }

// single is a listener that one connection comes to.
type single struct{ conn net.Conn }

func (s *single) Accept() (net.Conn, error) {
	if s.conn == nil {
		return nil, net.ErrClosed
	}
	conn := s.conn
	s.conn = nil
	return conn, nil
}

func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

// sends answers every request with the same bytes, then closes.
func sends(raw []byte) func(int, *http.Request, net.Conn) bool {
	return func(_ int, _ *http.Request, conn net.Conn) bool {
		_, _ = conn.Write(raw) // whoever hangs up has heard enough
		return false
	}
}
