package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/spider"
)

func TestACallbackDropsItsPage(t *testing.T) {
	o := worldtest.Options{Site: worldtest.Site{"/": ""}, Spider: func(s *spider.Spider) {
		s.Parse = func(_ context.Context, _ *spider.Page, out *spider.Output) error {
			out.Item(map[string]string{"name": "kept"})
			return &crawl.Drop{Reason: "old"}
		}
	}}
	runWorld(t, o, func(w *worldtest.World, job crawl.Job, items []string) {
		stats, err := w.ReadStats(t.Context(), job.UID)
		if err != nil {
			t.Fatal(err)
		}
		if stats["units/dropped"] != 1.0 || stats["spider_exceptions/count"] != nil || len(items) != 1 {
			t.Errorf("items %v, stats %v", items, stats)
		}
	})
}

// Point 5 and 7 of Scrapy's exception flow, as far as they are the engine's: who
// hears of what.
func TestExceptionFlow7OfAFailedDownloadNobodyHearsButTheErrback(t *testing.T) {
	failing := func(context.Context, *crawl.Request, downloader.Handler) (*crawl.Response, error) {
		return nil, &crawl.Failure{Reason: "timeout"}
	}
	for _, test := range []struct {
		name    string
		errback spider.Errback
		heard   int
		why     string
	}{
		{"no errback", nil, 0, "units/failed"},
		{"an errback", func(context.Context, *spider.Page, *spider.Output) error { return nil }, 0, "units/done"},
		{"an errback that fails", func(context.Context, *spider.Page, *spider.Output) error { return errors.New("broken") }, 1, "spider_exceptions/count"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var e ear
			o := worldtest.Options{Site: worldtest.Site{}, Fetch: failing, Extensions: []extension.Extension{e.extension()}, Spider: func(s *spider.Spider) {
				s.Start = func(context.Context, spider.Start) spider.Results {
					return func(yield func(crawl.Result, error) bool) {
						req := &crawl.Request{URL: worldtest.Host + "/"}
						if test.errback != nil {
							req.Errback = "sorry"
						}
						yield(crawl.Result{Request: req}, nil)
					}
				}
				s.Errbacks = map[string]spider.Errback{"sorry": test.errback}
			}}
			if test.errback == nil {
				spiders := o.Spider
				o.Spider = func(s *spider.Spider) { spiders(s); s.Errbacks = nil }
			}
			runWorld(t, o, func(w *worldtest.World, job crawl.Job, _ []string) {
				if n := e.heard["SpiderError /"]; n != test.heard {
					t.Errorf("extensions heard %d times", n)
				}
				stats, err := w.ReadStats(t.Context(), job.UID)
				if err != nil {
					t.Fatal(err)
				}
				if stats[test.why] != 1.0 {
					t.Errorf("stats %v, want one %s", stats, test.why)
				}
			})
		})
	}
}

func TestAStepClosesTheJobAndItsItemIsKeptAsDead(t *testing.T) {
	o := worldtest.Options{Site: tree(50), Start: []string{"/0"}, Steps: []pipeline.Step{{
		Name: "enough", Process: func(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) {
			if v, _ := item.Get("name"); v == "2" {
				return item, &crawl.CloseSpider{Reason: "enough"}
			}
			return item, nil
		},
	}}}
	runWorld(t, o, func(w *worldtest.World, job crawl.Job, _ []string) {
		tally, err := w.Scheduler.Tally(t.Context(), job.UID)
		if err != nil {
			t.Fatal(err)
		}
		if job.Reason != "enough" || tally.Dead != 1 {
			t.Errorf("job %s, %s; %d dead items", job.State, job.Reason, tally.Dead)
		}
	})
}
