package handlers

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers/bounded"
	"github.com/skitterhq/skitter/shared/settings"
)

// What the pools and limits of a process default to.
const (
	// DefaultConnsPerHost bounds the connections to one host, and those of
	// them that are kept: 100, as many as one slot can use.
	DefaultConnsPerHost = 100
	// DefaultIdleConns bounds the kept connections of a process: 512, half
	// of the 1,024 files that a Lambda function may have open. Source: AWS
	// Lambda developer guide, "Lambda quotas".
	DefaultIdleConns = 512
	// DefaultIdleTimeout is how long an unused connection is kept: 90 s, as
	// in http.DefaultTransport.
	DefaultIdleTimeout = 90 * time.Second
	// MaxHeaderBytes bounds the headers of an answer: 256 KiB, as in Chrome.
	MaxHeaderBytes = 256 << 10
)

// Options are what a process's HTTP handler is made of. The zero value is good.
type Options struct {
	// Guard is asked before each packet to an address, after the name was
	// resolved; its error forbids the address. Nil forbids none.
	Guard func(addr netip.AddrPort) error

	// ProxyGuard is asked in Guard's place where the address is that of a
	// request's proxy; see [Guard.CheckProxy]. Nil means Guard.
	ProxyGuard func(addr netip.AddrPort) error

	// Resolver finds the addresses of names. Nil means net.DefaultResolver.
	Resolver *net.Resolver

	// Dial replaces the network, for tests and tunnels. The guard is then its
	// business. Nil means the network.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// RootCAs are the authorities that certificates are checked against. Nil
	// means the system's.
	RootCAs *x509.CertPool

	// ConnsPerHost bounds the connections to one host. Default:
	// [DefaultConnsPerHost].
	ConnsPerHost int

	// IdleConns bounds the connections that are kept. Default:
	// [DefaultIdleConns].
	IdleConns int

	// IdleTimeout is how long an unused connection is kept. Default:
	// [DefaultIdleTimeout].
	IdleTimeout time.Duration

	// RoundTripper replaces the connections altogether. Nil means ours. It
	// may not follow redirects nor unpack bodies.
	RoundTripper http.RoundTripper

	// Logger gets the warnings of large bodies. Nil means slog.Default().
	Logger *slog.Logger
}

// An HTTPHandler fetches over http and https. It is safe for concurrent use;
// one a process is enough, and shares its connections among all jobs.
type HTTPHandler struct {
	transport http.RoundTripper
	own       bool // the transport is ours
	dialer    *dialer
	guard     check
	tls       tlsTable
	close     func()
	buffers   bounded.Pool
	log       *slog.Logger
	byself    jobHandler // with default settings
}

// HTTP makes the handler of a process.
func HTTP(opts Options) (*HTTPHandler, error) {
	if opts.ConnsPerHost < 0 || opts.IdleConns < 0 || opts.IdleTimeout < 0 {
		return nil, errors.New("making the HTTP handler: numbers and times of connections must be 0 or more")
	}
	if opts.RoundTripper != nil && (opts.Guard != nil || opts.Dial != nil) {
		return nil, errors.New("making the HTTP handler: a RoundTripper of one's own asks neither Guard nor Dial")
	}
	h := &HTTPHandler{
		transport: opts.RoundTripper, own: opts.RoundTripper == nil, dialer: newDialer(opts), guard: opts.Guard,
		tls: tlsTable{roots: opts.RootCAs}, close: func() {}, log: opts.Logger,
	}
	if h.log == nil {
		h.log = slog.Default()
	}
	if h.own {
		transport := newTransport(opts, h.dialer)
		h.transport, h.close = transport, transport.CloseIdleConnections
	}
	defaults, err := settings.Resolve()
	if err != nil {
		return nil, err
	}
	h.byself = h.forJob(defaults)
	return h, nil
}

// Fetch fetches with the default settings.
func (h *HTTPHandler) Fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
	return h.byself.Fetch(ctx, req)
}

// ForJob returns a handler that fetches over h's connections with a job's
// settings. Jobs whose settings of TLS, HTTP/2 and the local address are the
// same use each other's connections. A request's own options win.
//
// Settings: DNSCACHE_ENABLED, DNSCACHE_SIZE, DNS_TIMEOUT,
// DOWNLOADER_CLIENT_TLS_CIPHERS, DOWNLOAD_BIND_ADDRESS,
// DOWNLOAD_CONNECT_TIMEOUT, DOWNLOAD_FAIL_ON_DATALOSS,
// DOWNLOAD_FIRST_BYTE_TIMEOUT, DOWNLOAD_MAXSIZE, DOWNLOAD_TIMEOUT,
// DOWNLOAD_TLS_MAX_VERSION, DOWNLOAD_TLS_MIN_VERSION,
// DOWNLOAD_VERIFY_CERTIFICATES, DOWNLOAD_WARNSIZE, HTTP2_ENABLED.
//
// Request options: BindAddress, DownloadFailOnDataloss, DownloadMaxsize,
// DownloadTimeout, DownloadWarnsize, Proxy.
func (h *HTTPHandler) ForJob(s settings.Settings) downloader.Handler {
	j := h.forJob(s)
	return &j
}

func (h *HTTPHandler) forJob(s settings.Settings) jobHandler {
	h.dialer.names.keep(s.DNSCacheSize)
	j := jobHandler{
		http:             h,
		timeout:          s.DownloadTimeout,
		connectTimeout:   s.DownloadConnectTimeout,
		firstByteTimeout: s.DownloadFirstByteTimeout,
		dnsTimeout:       s.DNSTimeout,
		dnsCache:         s.DNSCacheEnabled,
		bind:             s.DownloadBindAddress,
		maxsize:          s.DownloadMaxsize,
		warnsize:         s.DownloadWarnsize,
		failOnDataloss:   s.DownloadFailOnDataloss,
	}
	j.secure, j.tls = h.tls.of(s)
	return j
}

// Close closes the connections that are not in use.
func (h *HTTPHandler) Close() { h.close() }
