package downloadermw

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/cookies"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Cookies sends the cookies that the request carries in its jars, and puts those
// that the response sets into the jar, so that a redirect, a retry and the
// requests found on the page carry them on. It stands inside of Redirect, so
// that the cookies of a redirect count, and outside of the cache, so that those
// of a cached page do.
//
// A request's own Cookies join the jar first, as if the server had set them, and
// are cleared, lest a redirect sends them again; at a retry those that the jar
// has stay as they are. A Cookie header that somebody set is sent together with
// the jar's, which win where both have a name; it never joins the jar, and the
// request has it back, as it was, when the response comes.
//
// Cookies that browsers would refuse are refused, and jars that cannot be read
// are empty; see package cookies.
//
// Settings: COOKIES_ENABLED, COOKIES_DEBUG. Request options: CookieJar,
// DontMergeCookies. Stats: cookies/refused, cookies/evicted (for want of room),
// cookies/unreadable_jars.
func Cookies(s settings.Settings, st *stats.Collector, log *slog.Logger, now func() time.Time) downloader.Middleware {
	c := &cookieJars{debug: s.CookiesDebug, stats: st, log: log, now: now}
	return func(next downloader.Handler) downloader.Handler {
		return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
			if !s.CookiesEnabled || req.DontMergeCookies {
				c.leave(req)
				return next.Fetch(ctx, req)
			}
			return c.fetch(ctx, next, req)
		})
	}
}

type cookieJars struct {
	debug bool
	stats *stats.Collector
	log   *slog.Logger
	now   func() time.Time

	unreadable, unused sync.Once
}

// leave tells a spider's author that cookies were given in vain.
func (c *cookieJars) leave(req *crawl.Request) {
	if len(req.Cookies) > 0 {
		c.unused.Do(func() {
			c.log.Warn("cookies of requests are not sent: COOKIES_ENABLED is false, or the request has dont_merge_cookies", "url", shown(req))
		})
	}
}

func (c *cookieJars) fetch(ctx context.Context, next downloader.Handler, req *crawl.Request) (*crawl.Response, error) {
	jars := c.read(req)
	if len(req.Cookies) > 0 {
		jars = c.join(req, jars)
	}
	own := req.Headers["Cookie"]
	sent := c.send(req, jars)
	resp, err := next.Fetch(ctx, req)
	if sent {
		setCookieHeader(req, own)
	}
	if err != nil {
		return nil, err
	}
	if lines := resp.Headers["Set-Cookie"]; len(lines) > 0 {
		c.take(req, jars, lines)
	}
	if asked := resp.Request; asked != nil && asked != req {
		asked.Jars = req.Jars
		if sent {
			setCookieHeader(asked, own)
		}
	}
	return resp, nil
}

// read reads the request's jars. Those that cannot be read are given up.
func (c *cookieJars) read(req *crawl.Request) cookies.Jars {
	jars, err := cookies.Parse(req.Jars)
	if err != nil {
		c.stats.Inc("cookies/unreadable_jars")
		c.unreadable.Do(func() {
			c.log.Error("cookies that a request carries cannot be read, and it goes on without", "url", shown(req), "err", err)
		})
		req.Jars = ""
	}
	return jars
}

// join puts the request's own cookies into its jar.
func (c *cookieJars) join(req *crawl.Request, jars cookies.Jars) cookies.Jars {
	u, _ := weburl.Parse(req.URL) // a bad one has no cookies, and no handler takes it
	add := jars.Add
	if req.RetryTimes > 0 {
		add = jars.AddMissing
	}
	jars, report := add(req.CookieJar, u, req.Cookies, c.now())
	req.Jars, req.Cookies = jars.String(), nil
	for _, err := range report.Refused {
		c.log.Warn("a request's cookie is refused", "url", shown(req), "err", err)
	}
	c.count(report)
	return jars
}

// send sets the Cookie header, and reports whether it changed it.
func (c *cookieJars) send(req *crawl.Request, jars cookies.Jars) bool {
	if jars.Empty() {
		return false
	}
	u, _ := weburl.Parse(req.URL)
	header := jars.Header(req.CookieJar, u, c.now())
	if header == "" {
		return false
	}
	if own := req.Headers["Cookie"]; len(own) > 0 {
		header = mergeCookies(header, own)
	}
	if c.debug {
		c.log.Info("sending cookies", "url", shown(req), "cookies", cookieNames(header))
	}
	setCookieHeader(req, []string{header})
	return true
}

// take puts the cookies of a response into the jar.
func (c *cookieJars) take(req *crawl.Request, jars cookies.Jars, lines []string) {
	u, _ := weburl.Parse(req.URL)
	jars, report := jars.Take(req.CookieJar, u, lines, c.now())
	req.Jars = jars.String()
	c.count(report)
	if c.debug {
		c.log.Info("received cookies", "url", shown(req), "cookies", report.Set)
		for _, err := range report.Refused {
			c.log.Info("refused a cookie", "url", shown(req), "err", err)
		}
	}
}

func (c *cookieJars) count(report cookies.Report) {
	c.stats.Add("cookies/refused", int64(len(report.Refused)))
	c.stats.Add("cookies/evicted", int64(report.Evicted))
}

// setCookieHeader sets the header's values; none takes the header out.
func setCookieHeader(req *crawl.Request, values []string) {
	if values == nil {
		delete(req.Headers, "Cookie")
		return
	}
	if req.Headers == nil {
		req.Headers = make(map[string][]string, 8)
	}
	req.Headers["Cookie"] = values
}

// mergeCookies adds to the jar's cookies those of a header set by hand whose
// names the jar does not have.
func mergeCookies(header string, own []string) string {
	has := make(map[string]bool)
	for _, name := range cookieNames(header) {
		has[name] = true
	}
	merged := []string{header}
	for pair := range strings.SplitSeq(strings.Join(own, ";"), ";") {
		if pair = strings.TrimSpace(pair); pair != "" && !has[cookieName(pair)] {
			merged = append(merged, pair)
		}
	}
	return strings.Join(merged, "; ")
}

// cookieNames are the names in a Cookie header, which may be logged.
func cookieNames(header string) []string {
	var names []string
	for pair := range strings.SplitSeq(header, "; ") {
		names = append(names, cookieName(pair))
	}
	return names
}

// cookieName is "" for a cookie without a name, whose value stands alone.
func cookieName(pair string) string {
	name, _, named := strings.Cut(pair, "=")
	if !named {
		return ""
	}
	return name
}
