package extensions

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/settings"
)

// LogStats logs every LOGSTATS_INTERVAL how many pages and items there are, and
// how many came a minute since the last line:
//
//	Crawled 120 pages (at 60 pages/min), scraped 98 items (at 49 items/min)
//
// The counts are the job's, over all processes. Each process logs for itself,
// when counters come back to it, so one that has nothing to do is silent. An
// interval of 0 logs nothing.
func LogStats(s settings.Settings, log *slog.Logger, now func() time.Time) extension.Extension {
	x := extension.Extension{Name: "LogStats"}
	if s.LogStatsInterval == 0 {
		return x
	}
	l := &logStats{interval: s.LogStatsInterval, log: log, now: now}
	x.Counted = l.counted
	return x
}

type logStats struct {
	interval time.Duration
	log      *slog.Logger
	now      func() time.Time

	mu           sync.Mutex
	at           time.Time // of the last line; zero before the first totals
	pages, items int64     // that it told
}

func (l *logStats) counted(_ context.Context, _ crawl.Job, totals map[string]int64) error {
	pages, items := totals["response_received_count"], totals["item_scraped_count"]
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.at.IsZero() {
		l.at, l.pages, l.items = now, pages, items
		return nil
	}
	since := now.Sub(l.at)
	if since < l.interval {
		return nil
	}
	// Totals that were read before the last line's may come after it.
	minute := func(n int64) float64 { return float64(max(n, 0)) / since.Minutes() }
	l.log.Info(fmt.Sprintf("Crawled %d pages (at %.0f pages/min), scraped %d items (at %.0f items/min)",
		pages, minute(pages-l.pages), items, minute(items-l.items)))
	l.at, l.pages, l.items = now, pages, items
	return nil
}
