package handlers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A route is the way of one request to its server, as the dialer goes it.
type route struct {
	host, port string      // the server
	tls        *tls.Config // nil: plain
	bind       netip.Addr  // the local address; the zero value: any
	proxy      *proxyServer
	proxyTLS   *tls.Config // for the way to a proxy of https

	connectTimeout time.Duration
	dnsTimeout     time.Duration
	dnsCache       bool

	// key tells connections apart that go to one server in different ways.
	// net/http keeps connections by scheme, host and proxy; what else makes a
	// difference stands before the host that it is told, which the dialer does
	// not look at. "" goes the default way.
	key string

	stage atomic.Int32
}

// A stage is where a fetch is.
type stage int32

const (
	waiting stage = iota
	lookingUp
	connecting
	reachingProxy
	tunnelling
	handshaking
)

var stages = [...]string{
	"waiting for a connection", "looking up the host", "connecting", "connecting to the proxy",
	"waiting for the proxy's tunnel", "shaking hands over TLS",
}

func (s stage) String() string { return stages[s] }

// at notes where the dialer is.
func (r *route) at(s stage) { r.stage.Store(int32(s)) }

func (r *route) addr() string { return net.JoinHostPort(r.host, r.port) }

// tellsURLs reports whether there is a proxy that is told the URL of the request:
// for http. All else goes through a tunnel to the server.
func (r *route) tellsURLs() bool { return r.proxy != nil && r.proxy.scheme != "socks5" && r.tls == nil }

// late says where the dialer was when the time for connecting was over. Any
// other error is returned as it is.
func (r *route) late(ctx context.Context, err error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	at := stage(r.stage.Load())
	return &dialError{
		err:   fmt.Errorf("no connection after %s, while %s: %w", r.connectTimeout, at, context.DeadlineExceeded),
		proxy: at == reachingProxy,
	}
}

type routeKey struct{}

func routeOf(ctx context.Context) *route {
	r, _ := ctx.Value(routeKey{}).(*route)
	return r
}

// wayKey is the key of a way that is not the default one. It is a hash, as it
// may be made of passwords.
func wayKey(secure tlsSettings, bind netip.Addr, p *proxyServer) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%+v %s", secure, bind)
	if p != nil {
		fmt.Fprintf(sum, " %q %q %q %q %q", p.scheme, p.host, p.port, p.auth, p.user.String())
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// keyed puts a route's key before a host, in a way that no host is spelled.
func (r *route) keyed(host string) string {
	if r.key == "" {
		return host
	}
	if inner, isIPv6 := strings.CutPrefix(host, "["); isIPv6 {
		return "[" + r.key + "!" + inner
	}
	return r.key + "!" + host
}

// way is the route of a request, or the failure of one that cannot have any.
func (j *jobHandler) way(req *crawl.Request, target weburl.URL, limit time.Duration) (*route, error) {
	r := &route{
		host: strings.Trim(target.Hostname(), "[]"), port: cmp.Or(target.Port(), "80"),
		bind: j.bind, connectTimeout: cmp.Or(j.connectTimeout, limit), dnsTimeout: j.dnsTimeout, dnsCache: j.dnsCache,
	}
	var secure tlsSettings
	if target.Scheme() == "https" {
		r.tls, r.port, secure = j.tls, cmp.Or(target.Port(), "443"), j.secure
	}
	if req.BindAddress != "" {
		bind, err := netip.ParseAddr(req.BindAddress)
		if err != nil {
			return nil, failure(req, ReasonBadRequest, fmt.Errorf("bindaddress %q is no IP address of this machine", req.BindAddress))
		}
		r.bind = bind.Unmap()
	}
	var err error
	if r.proxy, err = proxyOf(req); err != nil {
		return nil, failure(req, ReasonBadRequest, err)
	}
	if r.proxy != nil {
		if err := j.http.guardTarget(r); err != nil {
			return nil, failure(req, ReasonForbiddenAddress, err)
		}
		if r.proxy.scheme == "https" {
			r.proxyTLS, secure = j.tls, j.secure
		}
	}
	byDefault := secure == (tlsSettings{}) || secure == j.http.byself.secure
	if r.proxy != nil || r.bind.IsValid() || !byDefault {
		r.key = wayKey(secure, r.bind, r.proxy)
	}
	return r, nil
}

// guardTarget asks the guard about a server that only a proxy would connect to.
// What a name means there nobody knows here, but for those of the machine
// itself.
func (h *HTTPHandler) guardTarget(r *route) error {
	if h.guard == nil {
		return nil
	}
	var addrs []netip.Addr
	host := strings.ToLower(strings.TrimSuffix(r.host, "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		addrs = append(addrs, addr)
	} else if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		addrs = append(addrs, netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback())
	}
	port, err := strconv.ParseUint(r.port, 10, 16)
	if err != nil {
		return err
	}
	for _, addr := range addrs {
		if err := h.guard(netip.AddrPortFrom(addr, uint16(port))); err != nil {
			return err
		}
	}
	return nil
}

// newTransport makes the connections of a process. It unpacks nothing, and
// speaks HTTP/2 where the server offers it over TLS.
func newTransport(opts Options, d *dialer) *http.Transport {
	return &http.Transport{
		DialContext:    func(ctx context.Context, _, _ string) (net.Conn, error) { return d.dial(ctx, routeOf(ctx)) },
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d.dialTLS(ctx, routeOf(ctx)) },
		// Tunnels are the dialer's business, so that each connection to a
		// server is alike. net/http knows only of proxies that are told URLs.
		Proxy: func(r *http.Request) (*url.URL, error) {
			way := routeOf(r.Context())
			if !way.tellsURLs() {
				return nil, nil
			}
			return &url.URL{Scheme: "http", Host: way.keyed(net.JoinHostPort(way.proxy.host, way.proxy.port))}, nil
		},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxConnsPerHost:        cmp.Or(opts.ConnsPerHost, DefaultConnsPerHost),
		MaxIdleConnsPerHost:    cmp.Or(opts.ConnsPerHost, DefaultConnsPerHost),
		MaxIdleConns:           cmp.Or(opts.IdleConns, DefaultIdleConns),
		IdleConnTimeout:        cmp.Or(opts.IdleTimeout, DefaultIdleTimeout),
		ExpectContinueTimeout:  time.Second, // as in http.DefaultTransport
		MaxResponseHeaderBytes: MaxHeaderBytes,
	}
}
