package downloadermw

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/origins"
	"github.com/skitterhq/skitter/shared/robots"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Robots knows the robots.txt of the origins that a process meets. One serves
// all jobs of a process; it is safe for concurrent use.
//
// Each file is fetched once for all jobs and processes: its row in the store is
// the truth, and a lease on the row lets one asker fetch. What was read stays in
// memory, up to a bound, until it expires.
type Robots struct {
	store   origins.Store
	now     func() time.Time
	cache   knownCache
	flights flights
}

// NewRobots makes a process's Robots over a store.
func NewRobots(store origins.Store, now func() time.Time) *Robots {
	return &Robots{store: store, now: now}
}

// Middleware drops a job's requests that robots.txt forbids, with the reason
// "robots". The agent is ROBOTSTXT_USER_AGENT, else the request's User-Agent,
// else USER_AGENT.
//
// Who finds no fresh file fetches it through next, as one turn of the host's
// slot, and follows up to five redirects; the others of this process wait for
// it, those of other processes come back some seconds later (*crawl.Later). The
// statuses mean what RFC 9309, section 2.3.1, says:
//
//	2xx        the rules hold
//	3xx, 4xx   everything is allowed
//	429, 5xx,  nothing is known: with ROBOTSTXT_ON_ERROR "allow" everything is
//	no answer  allowed, with "disallow" the request waits, for ROBOTSTXT_WAIT
//	           since the first such answer, and is then dropped as "robots"
//
// An answer is kept for a day, none for some minutes; while there is none, the
// rules that were known go on to hold. A host that cannot be resolved, reached
// or trusted, and a proxy that cannot be used, are the request's own failure, as
// fetching the page would find the same.
//
// The file is fetched by the page's way (Proxy, BindAddress).
//
// Request option: DontObeyRobotsTxt. Stats: robotstxt/forbidden, /unreachable
// (what is dropped because nothing is known), /request_count, /response_count,
// /response_status_count/200, /exception_count/<reason>.
func (r *Robots) Middleware(s settings.Settings, st *stats.Collector, log *slog.Logger) downloader.Middleware {
	if !s.RobotsTxtObey {
		return off
	}
	return func(next downloader.Handler) downloader.Handler {
		j := &robotsJob{Robots: r, settings: s, stats: st, log: log, next: next}
		return downloader.HandlerFunc(j.fetch)
	}
}

// CrawlDelay returns the Crawl-delay that an origin's robots.txt asks of an
// agent, 0 if none or if the file is not known. It fetches nothing: the requests
// of an origin that is obeyed have passed the middleware before.
func (r *Robots) CrawlDelay(ctx context.Context, origin, agent string) (time.Duration, error) {
	k := r.cache.get(origin)
	if k.rules == nil {
		row, found, err := r.store.Get(ctx, origin)
		if err != nil {
			return 0, fmt.Errorf("reading what is known of %s: %w", origin, err)
		}
		if !found {
			return 0, nil
		}
		k = knownOf(row)
		r.cache.put(origin, k)
	}
	delay, _ := k.rules.CrawlDelay(agent)
	return delay, nil
}

// A robotsJob is the middleware of one job.
type robotsJob struct {
	*Robots
	settings settings.Settings
	stats    *stats.Collector
	log      *slog.Logger
	next     downloader.Handler
}

func (j *robotsJob) fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
	u, err := weburl.Parse(req.URL)
	if req.DontObeyRobotsTxt || err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
		return j.next.Fetch(ctx, req)
	}
	k, err := j.lookUp(ctx, req, u.Origin())
	if err != nil {
		return nil, err
	}
	if k.availability == robots.Unreachable {
		err = j.unreachable(req, k)
	} else if !k.rules.Allowed(j.agent(req), u.String()) {
		j.stats.Inc("robotstxt/forbidden")
		j.log.Debug("forbidden by robots.txt", "url", shown(req))
		err = &crawl.Drop{Reason: "robots"}
	}
	if err != nil {
		return nil, err
	}
	return j.next.Fetch(ctx, req)
}

func (j *robotsJob) agent(req *crawl.Request) string {
	if j.settings.RobotsTxtUserAgent != "" {
		return j.settings.RobotsTxtUserAgent
	}
	if agent := req.Headers.Get("User-Agent"); agent != "" {
		return agent
	}
	return j.settings.UserAgent
}

// unreachable says what becomes of a request while nothing is known of its
// origin's robots.txt; nil lets it through.
func (j *robotsJob) unreachable(req *crawl.Request, k known) error {
	if j.settings.RobotsTxtOnError == settings.Allow {
		return nil
	}
	end := k.since.Add(j.settings.RobotsTxtWait)
	if j.now().Before(end) {
		return &crawl.Later{At: earlier(end, k.expires), Why: "robots"}
	}
	j.stats.Inc("robotstxt/unreachable")
	j.log.Debug("dropped: robots.txt cannot be had", "url", shown(req), "since", k.since)
	return &crawl.Drop{Reason: "robots"}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
