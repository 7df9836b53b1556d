package extensions_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extensions"
	"github.com/skitterhq/skitter/shared/settings"
)

var created = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func with(t *testing.T, values map[string]any) settings.Settings {
	t.Helper()
	s, err := settings.Resolve(settings.Layer{Name: "test", Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A count is what the totals say after some time.
type count struct {
	after                time.Duration
	pages, items, errors int64
}

func TestCloseSpider(t *testing.T) {
	tests := []struct {
		name   string
		limits map[string]any
		counts []count // the job closes at the last one, and at no other
		want   string
	}{
		{"items", map[string]any{"CLOSESPIDER_ITEMCOUNT": 3}, []count{{0, 9, 2, 9}, {1, 9, 4, 9}}, "closespider_itemcount"},
		{"pages", map[string]any{"CLOSESPIDER_PAGECOUNT": 3}, []count{{0, 2, 9, 9}, {1, 3, 9, 9}}, "closespider_pagecount"},
		{"errors", map[string]any{"CLOSESPIDER_ERRORCOUNT": 3}, []count{{0, 9, 9, 2}, {1, 9, 9, 3}}, "closespider_errorcount"},
		{"time", map[string]any{"CLOSESPIDER_TIMEOUT": 60}, []count{{59 * time.Second, 9, 9, 9}, {time.Minute, 9, 9, 9}}, "closespider_timeout"},
		{"no item at all", map[string]any{"CLOSESPIDER_TIMEOUT_NO_ITEM": 60}, []count{{59 * time.Second, 9, 0, 9}, {time.Minute, 9, 0, 9}}, "closespider_timeout_no_item"},
		{"no further item", map[string]any{"CLOSESPIDER_TIMEOUT_NO_ITEM": 60}, []count{
			{59 * time.Second, 9, 1, 9}, {100 * time.Second, 9, 2, 9}, {159 * time.Second, 99, 2, 9}, {160 * time.Second, 99, 2, 9},
		}, "closespider_timeout_no_item"},
		{"a process that comes late", map[string]any{"CLOSESPIDER_TIMEOUT_NO_ITEM": 60}, []count{{time.Hour, 9, 5, 0}, {time.Hour + time.Minute, 9, 5, 0}}, "closespider_timeout_no_item"},
		{"pages without any item", map[string]any{"CLOSESPIDER_PAGECOUNT_NO_ITEM": 5}, []count{{0, 4, 0, 0}, {1, 5, 0, 0}}, "closespider_pagecount_no_item"},
		{"pages without further item", map[string]any{"CLOSESPIDER_PAGECOUNT_NO_ITEM": 5}, []count{{0, 4, 1, 0}, {1, 8, 1, 0}, {2, 9, 1, 0}}, "closespider_pagecount_no_item"},
		{"totals that come late", map[string]any{"CLOSESPIDER_PAGECOUNT_NO_ITEM": 5}, []count{{0, 4, 3, 0}, {1, 3, 2, 0}, {2, 9, 3, 0}}, "closespider_pagecount_no_item"},
		{"the first limit wins", map[string]any{"CLOSESPIDER_PAGECOUNT": 3, "CLOSESPIDER_ITEMCOUNT": 3}, []count{{0, 3, 3, 0}}, "closespider_itemcount"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var now time.Time
			x := extensions.CloseSpider(with(t, test.limits), func() time.Time { return now })
			for k, c := range test.counts {
				now = created.Add(c.after)
				err := x.Counted(context.Background(), crawl.Job{Created: created}, map[string]int64{
					"response_received_count": c.pages, "item_scraped_count": c.items, "spider_exceptions/count": c.errors,
				})
				var closes *crawl.CloseSpider
				if last := k == len(test.counts)-1; errors.As(err, &closes) != last || last && closes.Reason != test.want {
					t.Errorf("count %d: got %v", k, err)
				}
			}
		})
	}
}

func TestCloseSpiderListensOnlyWhereThereIsALimit(t *testing.T) {
	if x := extensions.CloseSpider(with(t, nil), time.Now); x.Counted != nil || x.EveryCount {
		t.Error("it listens though there is no limit")
	}
	for limit, every := range map[string]bool{
		"CLOSESPIDER_ITEMCOUNT": false, "CLOSESPIDER_ERRORCOUNT": false, "CLOSESPIDER_PAGECOUNT": true,
		"CLOSESPIDER_TIMEOUT": true, "CLOSESPIDER_TIMEOUT_NO_ITEM": true, "CLOSESPIDER_PAGECOUNT_NO_ITEM": true,
	} {
		if x := extensions.CloseSpider(with(t, map[string]any{limit: 1}), time.Now); x.Counted == nil || x.EveryCount != every {
			t.Errorf("%s: every count %v, want %v", limit, x.EveryCount, every)
		}
	}
}
