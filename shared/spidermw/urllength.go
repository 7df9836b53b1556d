package spidermw

import (
	"context"
	"log/slog"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// URLLength drops requests whose URL is longer than URLLENGTH_LIMIT bytes,
// those of the start included. It ends what a page begins that appends to its
// own address. A limit of 0 is none.
//
// Stats: urllength/request_ignored_count.
func URLLength(s settings.Settings, st *stats.Collector, log *slog.Logger) spider.Middleware {
	mw := spider.Middleware{Name: "URLLength"}
	limit := s.URLLengthLimit
	if limit == 0 {
		return mw
	}
	keep := func(req *crawl.Request) bool {
		if len(req.URL) <= limit {
			return true
		}
		st.Inc("urllength/request_ignored_count")
		log.Info("ignoring link: its URL is too long", "length", len(req.URL), "limit", limit, "url", shown(req.URL))
		return false
	}
	mw.ProcessStart = func(_ context.Context, _ spider.Start, r spider.Results) spider.Results { return requests(r, keep) }
	mw.ProcessOutput = func(_ context.Context, _ *spider.Page, r spider.Results) spider.Results { return requests(r, keep) }
	return mw
}
