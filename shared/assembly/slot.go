package assembly

import (
	"cmp"
	"context"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/slots"
	"github.com/skitterhq/skitter/shared/weburl"
)

// slotOf says which slot a request takes its turn at, and by which policy:
// Scrapy's download slot, which is the host unless the request names another.
// The delay is the larger of DOWNLOAD_DELAY and what the origin's robots.txt
// asks for, where that is obeyed.
func slotOf(s settings.Settings, robots *downloadermw.Robots) func(context.Context, *crawl.Request) (string, slots.Policy) {
	policy := slots.Policy{
		Concurrency: max(s.ConcurrentRequestsPerDomain, 1),
		Delay:       s.DownloadDelay,
		Randomize:   s.RandomizeDownloadDelay,
	}
	return func(ctx context.Context, req *crawl.Request) (string, slots.Policy) {
		u, err := weburl.Parse(req.URL)
		if err != nil {
			return req.DownloadSlot, policy // the handler says what is wrong with it
		}
		own := policy
		if s.RobotsTxtObey && !req.DontObeyRobotsTxt {
			own.Delay = max(own.Delay, crawlDelay(ctx, s, robots, u.Origin()))
		}
		return cmp.Or(req.DownloadSlot, u.Hostname()), own
	}
}

// hasSlot reports whether a request has a slot: it names one, or a host.
func hasSlot(req *crawl.Request) bool {
	if req.DownloadSlot != "" {
		return true
	}
	u, err := weburl.Parse(req.URL)
	return err == nil && u.Hostname() != ""
}

// crawlDelay is 0 when the file cannot be read now: the middleware, which the
// request has passed, has just read it, and says what is wrong with the store.
func crawlDelay(ctx context.Context, s settings.Settings, robots *downloadermw.Robots, origin string) time.Duration {
	delay, err := robots.CrawlDelay(ctx, origin, cmp.Or(s.RobotsTxtUserAgent, s.UserAgent))
	if err != nil {
		return 0
	}
	return delay
}
