package downloadermw

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
)

// reasonNoProxies is why a job closes that has no proxy left.
const reasonNoProxies = "no_proxies"

// proxyFailures are the failures for which a proxy may be to blame, since all
// that the request met was the proxy.
func proxyFailures() []string {
	return []string{
		handlers.ReasonProxy, handlers.ReasonBadResponse, handlers.ReasonConnect, handlers.ReasonDataloss, handlers.ReasonDNS,
		handlers.ReasonReset, handlers.ReasonTimeout, handlers.ReasonTLS,
	}
}

// rotating sends a job's requests through the proxies of a list.
type rotating struct {
	rotation *rotation
	settings settings.Settings
	isBan    func(*crawl.Response) bool
	stats    *stats.Collector
	log      *slog.Logger
}

func (r *rotating) fetch(ctx context.Context, next downloader.Handler, req *crawl.Request) (*crawl.Response, error) {
	n, proxy, at, ok := r.rotation.take()
	if !ok {
		if r.settings.RotatingProxyCloseSpider {
			return nil, &crawl.CloseSpider{Reason: reasonNoProxies}
		}
		return nil, &crawl.Later{At: at, Why: "proxy"}
	}
	through(req, proxy)
	resp, err := next.Fetch(ctx, req)
	stat, reason := r.blame(resp, err)
	if reason == "" {
		if err == nil && !resp.HasFlag(crawl.FlagCached) && r.rotation.worked(n) {
			r.stats.Inc("proxies/good")
			r.log.Debug("a proxy works", "proxy", proxy.shown)
		}
		return resp, err
	}
	r.stats.Inc(stat)
	r.leaveOut(n, proxy, reason)
	if !r.another(req) {
		return resp, err
	}
	r.stats.Inc("proxies/retries")
	r.log.Debug("trying another proxy", "url", shown(req), "attempts", req.RetryTimes+1, "reason", reason)
	return nil, &crawl.Retry{Reason: reason}
}

// blame says whether a proxy is to blame, for what, and in which stat that is
// counted.
func (r *rotating) blame(resp *crawl.Response, err error) (stat, reason string) {
	var failure *crawl.Failure
	switch {
	case errors.As(err, &failure):
		if slices.Contains(proxyFailures(), failure.Reason) {
			return "bans/error/" + failure.Reason, failure.Reason
		}
	case err != nil || resp.HasFlag(crawl.FlagCached):
	case slices.Contains(r.settings.RotatingProxyBanHTTPCodes, resp.Status):
		return "bans/status/" + strconv.Itoa(resp.Status), statusReason(resp.Status)
	case r.isBan != nil && r.isBan(resp):
		return "bans/content", "banned"
	}
	return "", ""
}

func (r *rotating) leaveOut(n int, proxy endpoint, reason string) {
	wait, fell, left := r.rotation.failed(n, r.settings.RotatingProxyBackoffBase, r.settings.RotatingProxyBackoffCap)
	if !fell {
		return
	}
	r.stats.Inc("proxies/dead")
	r.log.Debug("a proxy is left out", "proxy", proxy.shown, "reason", reason, "for", wait, "left", left)
	if left == 0 {
		r.log.Warn("no proxy of ROTATING_PROXY_LIST is left", "proxies", len(r.rotation.proxies))
	}
}

// another reports whether a request is tried through another proxy. The last
// answer is the page's own, which Retry may go on to retry.
func (r *rotating) another(req *crawl.Request) bool {
	most := r.settings.RotatingProxyPageRetryTimes
	if req.MaxRetryTimes != nil {
		most = *req.MaxRetryTimes
	}
	return !req.DontRetry && req.RetryTimes < most
}
