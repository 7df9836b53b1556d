package downloadermw

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/weburl"
)

// HTTPProxyOptions are what HTTPProxy wants to know of the project.
type HTTPProxyOptions struct {
	// IsBan reports that a response is no page but a site's refusal to serve us
	// through this proxy, such as a captcha. Its body is as it came, so maybe
	// compressed. Nil means the statuses of ROTATING_PROXY_BAN_HTTP_CODES alone.
	IsBan func(*crawl.Response) bool
}

// HTTPProxy says through which proxy a request for http or https goes. The first
// of these that says something decides:
//
//  1. the request's Proxy; crawl.NoProxy is none,
//  2. ROTATING_PROXY_LIST, of which each attempt takes one at random,
//  3. HTTPPROXY_PROXIES, by the scheme of the URL,
//  4. the environment of the process: http_proxy, https_proxy, no_proxy.
//
// What it chose is the engine's copy's alone: each hop of a redirect and each
// retry is decided anew. User and password of the proxy's URL become the header
// Proxy-Authorization, which goes to the proxy and never to the server; a header
// of that name that stands on the request goes with the request's own proxy
// alone. A proxy that is no URL of http, https, socks5 or socks5h is an error
// here, and of a request its failure "bad-request".
//
// A proxy of the list that cannot be used ("proxy", "connect", "timeout" and
// other failures of the network) or that a site bans
// (ROTATING_PROXY_BAN_HTTP_CODES) is left out for a time, which is drawn from 0
// to ROTATING_PROXY_BACKOFF_BASE and twice as long each further time, at most
// ROTATING_PROXY_BACKOFF_CAP; and the request is tried again at once through
// another (*crawl.Retry), ROTATING_PROXY_PAGE_RETRY_TIMES times; those attempts
// count as the retries that Retry allows. Once all are left out, requests wait
// for the first that may be tried again, or the job closes as "no_proxies"
// (ROTATING_PROXY_CLOSE_SPIDER). What is known of a list is the process's.
//
// Settings: HTTPPROXY_AUTH_ENCODING, HTTPPROXY_ENABLED, HTTPPROXY_PROXIES and
// those of ROTATING_PROXY. Request options: Proxy; DontRetry and MaxRetryTimes
// for the list. Stats: proxies/dead and proxies/good (how often a proxy of the
// list was left out, and found to work the first time or again),
// proxies/retries, bans/status/403, bans/error/<reason>, bans/content (IsBan).
func HTTPProxy(s settings.Settings, opts HTTPProxyOptions, st *stats.Collector, log *slog.Logger, proxies *Proxies) (downloader.Middleware, error) {
	if !s.HTTPProxyEnabled {
		return off, nil
	}
	p := &httpProxy{inUTF8: s.HTTPProxyAuthEncoding == settings.UTF8}
	if len(s.RotatingProxyList) > 0 {
		rotation, err := proxies.rotation(s.RotatingProxyList, p.inUTF8)
		if err != nil {
			return nil, err
		}
		p.rotating = &rotating{rotation: rotation, settings: s, isBan: opts.IsBan, stats: st, log: log}
	}
	var err error
	if p.fixed, err = fixedProxies(s, proxies, p.inUTF8); err != nil {
		return nil, err
	}
	return func(next downloader.Handler) downloader.Handler {
		return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
			return p.fetch(ctx, next, req)
		})
	}, nil
}

type httpProxy struct {
	inUTF8   bool
	rotating *rotating // nil without a list
	fixed    fixed
}

func (p *httpProxy) fetch(ctx context.Context, next downloader.Handler, req *crawl.Request) (*crawl.Response, error) {
	switch req.Proxy {
	case crawl.NoProxy:
		req.Headers.Del("Proxy-Authorization")
	case "":
		req.Headers.Del("Proxy-Authorization") // it is for another proxy
		u, err := weburl.Parse(req.URL)
		if err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
			break
		}
		if p.rotating != nil {
			return p.rotating.fetch(ctx, next, req)
		}
		if e, found := p.fixed.of(u); found {
			through(req, e)
		}
	default:
		e, err := parseProxy(req.Proxy, p.inUTF8)
		if err != nil {
			return nil, &crawl.Failure{Reason: handlers.ReasonBadRequest, Message: "proxy: " + err.Error(), Request: req}
		}
		through(req, e)
	}
	return next.Fetch(ctx, req)
}

// through sends a request through a proxy.
func through(req *crawl.Request, e endpoint) {
	req.Proxy = e.url
	if e.auth != "" {
		req.SetHeader("Proxy-Authorization", e.auth)
	}
}

// fixedProxies are those of the settings, else those of the environment.
func fixedProxies(s settings.Settings, proxies *Proxies, inUTF8 bool) (fixed, error) {
	if len(s.HTTPProxyProxies) == 0 {
		return newFixed(map[string]string{"http": proxies.env.HTTPProxy, "https": proxies.env.HTTPSProxy, "no": proxies.env.NoProxy},
			func(scheme string) string { return "the environment's " + scheme + "_proxy" }, inUTF8)
	}
	return newFixed(s.HTTPProxyProxies, func(scheme string) string { return "HTTPPROXY_PROXIES, " + scheme }, inUTF8)
}

// A fixed set of proxies has one a scheme.
type fixed struct {
	byScheme map[string]endpoint
	needed   func(u weburl.URL) bool
}

func newFixed(urls map[string]string, where func(scheme string) string, inUTF8 bool) (fixed, error) {
	f := fixed{byScheme: make(map[string]endpoint, 2), needed: neededBy(urls["no"])}
	for _, scheme := range []string{"http", "https"} {
		if strings.TrimSpace(urls[scheme]) == "" {
			continue
		}
		e, err := parseProxy(urls[scheme], inUTF8)
		if err != nil {
			return fixed{}, fmt.Errorf("%s: %w", where(scheme), err)
		}
		f.byScheme[scheme] = e
	}
	return f, nil
}

// of is the proxy for a URL.
func (f fixed) of(u weburl.URL) (endpoint, bool) {
	e, found := f.byScheme[u.Scheme()]
	if !found || !f.needed(u) {
		return endpoint{}, false
	}
	return e, true
}
