package handlers

import (
	"context"
	"crypto/tls"
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

	tlsSessions = 256 // TLS sessions that are remembered, for a shorter handshake
)

// Options are what a process's HTTP handler is made of. The zero value is good.
type Options struct {
	// Guard is asked before each packet to an address, after the name was
	// resolved; its error forbids the address. Nil forbids none.
	Guard func(addr netip.AddrPort) error

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
	strict  http.RoundTripper // checks certificates
	lenient http.RoundTripper // does not
	close   func()
	buffers bounded.Pool
	log     *slog.Logger
	byself  jobHandler // with default settings
}

// HTTP makes the handler of a process.
func HTTP(opts Options) (*HTTPHandler, error) {
	if opts.ConnsPerHost < 0 || opts.IdleConns < 0 || opts.IdleTimeout < 0 {
		return nil, errors.New("making the HTTP handler: numbers and times of connections must be 0 or more")
	}
	if opts.RoundTripper != nil && (opts.Guard != nil || opts.Dial != nil) {
		return nil, errors.New("making the HTTP handler: a RoundTripper of one's own asks neither Guard nor Dial")
	}
	h := &HTTPHandler{log: opts.Logger, strict: opts.RoundTripper, lenient: opts.RoundTripper, close: func() {}}
	if h.log == nil {
		h.log = slog.Default()
	}
	if opts.RoundTripper == nil {
		d := newDialer(opts)
		strict := transport(opts, d, &tls.Config{RootCAs: opts.RootCAs})
		lenient := transport(opts, d, lenientTLS())
		h.strict, h.lenient = strict, lenient
		h.close = func() { strict.CloseIdleConnections(); lenient.CloseIdleConnections() }
	}
	defaults, err := settings.Resolve()
	if err != nil {
		return nil, err
	}
	h.byself = h.forJob(defaults)
	return h, nil
}

// transport makes a pool of connections. It goes through no proxy, unpacks
// nothing and speaks HTTP/2 where the server offers it over TLS.
func transport(opts Options, d *dialer, config *tls.Config) *http.Transport {
	config.ClientSessionCache = tls.NewLRUClientSessionCache(tlsSessions)
	config.NextProtos = []string{"h2", "http/1.1"}
	// Some old servers ask for a client's certificate only once they know
	// the path, by renegotiating.
	config.Renegotiation = tls.RenegotiateOnceAsClient
	return &http.Transport{
		DialContext: d.dial,
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return d.dialTLS(ctx, network, addr, config)
		},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxConnsPerHost:        or(opts.ConnsPerHost, DefaultConnsPerHost),
		MaxIdleConnsPerHost:    or(opts.ConnsPerHost, DefaultConnsPerHost),
		MaxIdleConns:           or(opts.IdleConns, DefaultIdleConns),
		IdleConnTimeout:        or(opts.IdleTimeout, DefaultIdleTimeout),
		ExpectContinueTimeout:  time.Second, // as in http.DefaultTransport
		MaxResponseHeaderBytes: MaxHeaderBytes,
	}
}

// lenientTLS takes any certificate, and the versions and ciphers that servers
// without a good one are likely to have.
func lenientTLS() *tls.Config {
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10}
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		config.CipherSuites = append(config.CipherSuites, s.ID)
	}
	return config
}

func or[T comparable](v, otherwise T) T {
	var none T
	if v == none {
		return otherwise
	}
	return v
}

// Fetch fetches with the default settings.
func (h *HTTPHandler) Fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
	return h.byself.Fetch(ctx, req)
}

// ForJob returns a handler that fetches over h's connections with a job's
// settings: DOWNLOAD_TIMEOUT, DOWNLOAD_CONNECT_TIMEOUT, DOWNLOAD_MAXSIZE,
// DOWNLOAD_WARNSIZE, DOWNLOAD_FAIL_ON_DATALOSS, DOWNLOAD_VERIFY_CERTIFICATES.
// A request's own options win.
func (h *HTTPHandler) ForJob(s settings.Settings) downloader.Handler {
	j := h.forJob(s)
	return &j
}

func (h *HTTPHandler) forJob(s settings.Settings) jobHandler {
	j := jobHandler{
		http:           h,
		transport:      h.strict,
		timeout:        s.DownloadTimeout,
		connectTimeout: s.DownloadConnectTimeout,
		maxsize:        s.DownloadMaxsize,
		warnsize:       s.DownloadWarnsize,
		failOnDataloss: s.DownloadFailOnDataloss,
	}
	if !s.DownloadVerifyCertificates {
		j.transport = h.lenient
	}
	return j
}

// Close closes the connections that are not in use.
func (h *HTTPHandler) Close() { h.close() }
