package extensions_test

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extensions"
)

func TestLogStats(t *testing.T) {
	var log bytes.Buffer
	var now time.Time
	x := extensions.LogStats(with(t, map[string]any{"LOGSTATS_INTERVAL": 30}), slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now })
	for _, c := range []count{
		{after: 0, pages: 10, items: 5}, {after: 29 * time.Second, pages: 20, items: 10},
		{after: 30 * time.Second, pages: 25, items: 15}, {after: 59 * time.Second, pages: 99, items: 99},
		{after: 90 * time.Second, pages: 100, items: 20}, {after: 2 * time.Minute, pages: 90, items: 20},
	} {
		now = created.Add(c.after)
		if err := x.Counted(context.Background(), crawl.Job{}, map[string]int64{"response_received_count": c.pages, "item_scraped_count": c.items}); err != nil {
			t.Fatal(err)
		}
	}
	got := regexp.MustCompile(`Crawled[^"]*`).FindAllString(log.String(), -1)
	want := []string{
		"Crawled 25 pages (at 30 pages/min), scraped 15 items (at 20 items/min)",
		"Crawled 100 pages (at 75 pages/min), scraped 20 items (at 5 items/min)",
		"Crawled 90 pages (at 0 pages/min), scraped 20 items (at 0 items/min)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if off := extensions.LogStats(with(t, map[string]any{"LOGSTATS_INTERVAL": 0}), slog.Default(), time.Now); off.Counted != nil {
		t.Error("it listens though it is off")
	}
	if x.EveryCount {
		t.Error("a line of log costs a read of the counters")
	}
}
