package handlers

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// A dialer opens connections and marks its errors with what it was doing.
type dialer struct {
	tcp func(ctx context.Context, network, addr string) (net.Conn, error)
}

func newDialer(opts Options) *dialer {
	if opts.Dial != nil {
		return &dialer{tcp: opts.Dial}
	}
	d := &net.Dialer{KeepAlive: 30 * time.Second} // as in http.DefaultTransport
	if opts.Guard != nil {
		// Control runs after the name was resolved and before the first
		// packet, for each address that is tried.
		d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			addr, err := netip.ParseAddrPort(address)
			if err == nil {
				err = opts.Guard(addr)
			}
			if err != nil {
				return &forbiddenError{err}
			}
			return nil
		}
	}
	return &dialer{tcp: d.DialContext}
}

// A dialError is what a connection failed of while it was being opened.
type dialError struct {
	err error
	tls bool // the server was reached
}

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// A forbiddenError is the guard's no.
type forbiddenError struct{ err error }

func (e *forbiddenError) Error() string { return e.err.Error() }
func (e *forbiddenError) Unwrap() error { return e.err }

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := withConnectTimeout(ctx)
	defer cancel()
	l, err := d.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: l.Conn, link: l}, nil
}

// open makes the connection that all else is done over.
func (d *dialer) open(ctx context.Context, network, addr string) (*link, error) {
	start := time.Now()
	socket, err := d.tcp(ctx, network, addr)
	if err != nil {
		return nil, &dialError{err: err}
	}
	l := &link{Conn: socket, connect: time.Since(start)}
	if host, _, err := net.SplitHostPort(socket.RemoteAddr().String()); err == nil {
		l.ip = host
	}
	return l, nil
}

func (d *dialer) dialTLS(ctx context.Context, network, addr string, config *tls.Config) (net.Conn, error) {
	ctx, cancel := withConnectTimeout(ctx)
	defer cancel()
	l, err := d.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	config = config.Clone()
	config.ServerName = addr
	if host, _, err := net.SplitHostPort(addr); err == nil {
		config.ServerName = host
	}
	start := time.Now()
	secure := tls.Client(l, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		l.Close()
		return nil, &dialError{err: err, tls: true}
	}
	state := secure.ConnectionState()
	l.tls, l.cert = time.Since(start), certificate(state)
	if state.NegotiatedProtocol == "h2" {
		return secure, nil // net/http speaks HTTP/2 over this type only
	}
	return &conn{Conn: secure, link: l}, nil
}

// net/http dials with a context that has the values of the request's, but not
// its deadline: the connection may serve another request. So the time that
// connecting may take goes with it as a value.
type connectTimeoutKey struct{}

func withConnectTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if limit, ok := ctx.Value(connectTimeoutKey{}).(time.Duration); ok {
		return context.WithTimeout(ctx, limit)
	}
	return context.WithCancel(ctx)
}
