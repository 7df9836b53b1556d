package handlers

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

const (
	// How long the addresses of one family are tried alone before those of
	// the other are tried beside them, and the least time that one address
	// gets: 300 ms and 2 s, as in package net. Source: RFC 8305.
	fallbackDelay    = 300 * time.Millisecond
	leastAddressTime = 2 * time.Second

	keepAlive = 30 * time.Second // as in http.DefaultTransport
)

// A check says no to an address. Nil says yes to all.
type check func(netip.AddrPort) error

// A dialer opens connections along a [route] and marks its errors with what it
// was doing.
type dialer struct {
	instead    func(ctx context.Context, network, addr string) (net.Conn, error) // of the network, for tests
	guard      check
	proxyGuard check
	names      *names
}

func newDialer(opts Options) *dialer {
	d := &dialer{instead: opts.Dial, guard: opts.Guard, proxyGuard: opts.ProxyGuard, names: newNames(opts.Resolver)}
	if d.proxyGuard == nil {
		d.proxyGuard = opts.Guard
	}
	return d
}

// A dialError is what a connection failed of while it was being opened.
type dialError struct {
	err   error
	tls   bool // the server was reached
	proxy bool // it is the proxy's
}

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// A forbiddenError is the guard's no.
type forbiddenError struct{ err error }

func (e *forbiddenError) Error() string { return e.err.Error() }
func (e *forbiddenError) Unwrap() error { return e.err }

// dial opens what net/http takes for a connection of http: to the server, or to
// a proxy that is told whole URLs.
func (d *dialer) dial(ctx context.Context, r *route) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, r.connectTimeout)
	defer cancel()
	l, err := d.open(ctx, r)
	if err != nil {
		return nil, r.late(ctx, err)
	}
	return &conn{Conn: l.Conn, link: l}, nil
}

// dialTLS opens one of https, whose certificate is good.
func (d *dialer) dialTLS(ctx context.Context, r *route) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, r.connectTimeout)
	defer cancel()
	l, err := d.open(ctx, r)
	if err != nil {
		return nil, r.late(ctx, err)
	}
	r.at(handshaking)
	start := time.Now()
	secure, err := handshake(ctx, l, r.host, r.tls)
	if err != nil {
		l.Close()
		return nil, r.late(ctx, &dialError{err: err, tls: true})
	}
	state := secure.ConnectionState()
	l.tls, l.cert = time.Since(start), certificate(state)
	if state.NegotiatedProtocol == "h2" {
		return secure, nil // net/http speaks HTTP/2 over this type only
	}
	return &conn{Conn: secure, link: l}, nil
}

func handshake(ctx context.Context, raw net.Conn, host string, config *tls.Config) (*tls.Conn, error) {
	config = config.Clone()
	config.ServerName = host
	secure := tls.Client(raw, config)
	return secure, secure.HandshakeContext(ctx)
}

// open makes the connection that all else is done over: to the server, also
// through a proxy's tunnel, or to the proxy.
func (d *dialer) open(ctx context.Context, r *route) (*link, error) {
	if r.proxy != nil {
		return d.openProxy(ctx, r)
	}
	l, err := d.tcp(ctx, r, r.host, r.port, d.guard, connecting)
	if err != nil {
		return nil, &dialError{err: err}
	}
	return l, nil
}

// tcp connects to one of a host's addresses.
func (d *dialer) tcp(ctx context.Context, r *route, host, port string, guard check, what stage) (*link, error) {
	l := new(link)
	start := time.Now()
	r.at(what)
	if d.instead != nil {
		var err error
		if l.Conn, err = d.instead(ctx, "tcp", net.JoinHostPort(host, port)); err != nil {
			return nil, err
		}
	} else {
		if what == connecting {
			r.at(lookingUp)
		}
		addrs, err := d.names.find(ctx, host, r.dnsTimeout, r.dnsCache)
		if err != nil {
			return nil, err
		}
		l.dns = time.Since(start)
		start = start.Add(l.dns)
		r.at(what)
		if l.Conn, err = connect(ctx, addrs, port, r.bind, guard); err != nil {
			return nil, err
		}
	}
	l.connect = time.Since(start)
	if host, _, err := net.SplitHostPort(l.Conn.RemoteAddr().String()); err == nil {
		l.ip = host
	}
	return l, nil
}

// connect connects to the first of the addresses that answers, those of one
// family a little before the others, as package net does for a name.
func connect(ctx context.Context, addrs []netip.Addr, port string, bind netip.Addr, guard check) (net.Conn, error) {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	d := &net.Dialer{KeepAlive: keepAlive}
	if guard != nil {
		// Control runs before the first packet, for each address that is
		// tried.
		d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			addr, err := netip.ParseAddrPort(address)
			if err == nil {
				err = guard(addr)
			}
			if err != nil {
				return &forbiddenError{err}
			}
			return nil
		}
	}
	if bind.IsValid() {
		d.LocalAddr = &net.TCPAddr{IP: bind.AsSlice(), Zone: bind.Zone()}
	}
	var first, others []netip.AddrPort
	for _, addr := range addrs {
		switch to := netip.AddrPortFrom(addr.Unmap(), uint16(number)); {
		case bind.IsValid() && bind.Is4() != to.Addr().Is4():
		case len(first) == 0 || to.Addr().Is4() == first[0].Addr().Is4():
			first = append(first, to)
		default:
			others = append(others, to)
		}
	}
	if len(first) == 0 {
		return nil, fmt.Errorf("the host has no address that %s could be bound for", bind)
	}
	return race(ctx, d, first, others)
}

// race tries the others beside the first ones when those take long or have
// failed. The error is that of the first ones.
func race(ctx context.Context, d *net.Dialer, first, others []netip.AddrPort) (net.Conn, error) {
	if len(others) == 0 {
		return inTurn(ctx, d, first)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // of a connection that stands, it is too late
	type result struct {
		conn  net.Conn
		err   error
		first bool
	}
	results := make(chan result) // nobody's, when the other has won
	start := func(addrs []netip.AddrPort, isFirst bool) {
		conn, err := inTurn(ctx, d, addrs)
		select {
		case results <- result{conn, err, isFirst}:
		case <-ctx.Done():
			if conn != nil {
				conn.Close()
			}
		}
	}
	go start(first, true)
	fallback := time.NewTimer(fallbackDelay)
	defer fallback.Stop()
	var firstErr error
	for failed := 0; ; {
		select {
		case <-fallback.C:
			go start(others, false)
		case <-ctx.Done():
			return nil, ctx.Err()
		case r := <-results:
			if r.err == nil {
				return r.conn, nil
			}
			if failed++; r.first || firstErr == nil {
				firstErr = r.err
			}
			if failed == 2 {
				return nil, firstErr
			}
			if r.first && fallback.Stop() {
				fallback.Reset(0)
			}
		}
	}
}

// inTurn tries addresses one after the other. The error is that of the first.
func inTurn(ctx context.Context, d *net.Dialer, addrs []netip.AddrPort) (net.Conn, error) {
	var firstErr error
	for n, addr := range addrs {
		conn, err := dialOne(ctx, d, addr, len(addrs)-n)
		if err == nil {
			return conn, nil
		}
		if firstErr == nil {
			firstErr = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, firstErr
}

// dialOne gives an address its share of the time that is left for so many.
func dialOne(ctx context.Context, d *net.Dialer, addr netip.AddrPort, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		share := max(time.Until(end)/time.Duration(left), leastAddressTime)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	return d.DialContext(ctx, "tcp", addr.String())
}
