package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/spider"
)

// An ear hears everything, and says what a test wants it to say.
type ear struct {
	say func(hook string) error

	mu    sync.Mutex
	heard map[string]int // by hook and what it was about
}

func (e *ear) hear(hook, what string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.heard == nil {
		e.heard = make(map[string]int)
	}
	e.heard[strings.TrimSpace(hook+" "+what)]++
	if e.say == nil {
		return nil
	}
	return e.say(hook)
}

func (e *ear) extension() extension.Extension {
	path := func(url string) string { return strings.TrimPrefix(url, worldtest.Host) }
	name := func(item crawl.Item) string {
		v, _ := item.Get("name")
		return fmt.Sprint(v)
	}
	return extension.Extension{
		Name:         "ear",
		SpiderOpened: func(_ context.Context, job crawl.Job) error { return e.hear("SpiderOpened", job.Spider) },
		SpiderClosed: func(_ context.Context, job crawl.Job, stats map[string]any) error {
			return e.hear("SpiderClosed", fmt.Sprint(job.State, " ", job.Reason, " ", stats["finish_reason"]))
		},
		RequestScheduled: func(_ context.Context, req *crawl.Request) error { return e.hear("RequestScheduled", path(req.URL)) },
		RequestDropped: func(_ context.Context, req *crawl.Request, reason string) error {
			return e.hear("RequestDropped", path(req.URL)+" "+reason)
		},
		ResponseReceived: func(_ context.Context, resp *crawl.Response) error {
			return e.hear("ResponseReceived", path(resp.Request.URL))
		},
		ItemScraped: func(_ context.Context, key pipeline.Key, item crawl.Item) error {
			if key.Job == "" || key.Unit.IsZero() || key.Run == "" {
				return errors.New("a key that is not whole")
			}
			return e.hear("ItemScraped", name(item))
		},
		ItemDropped: func(_ context.Context, _ pipeline.Key, item crawl.Item, reason string) error {
			return e.hear("ItemDropped", name(item)+" "+reason)
		},
		ItemError: func(_ context.Context, _ pipeline.Key, item crawl.Item, err error) error {
			return e.hear("ItemError", name(item)+" "+err.Error())
		},
		SpiderError: func(_ context.Context, page *spider.Page, err error) error {
			if page == nil {
				return e.hear("SpiderError", "of the start")
			}
			return e.hear("SpiderError", path(page.URL))
		},
		Counted: func(context.Context, crawl.Job, map[string]int64) error { return e.hear("Counted", "") },
	}
}

// eventful is a site on which everything happens, and what makes it happen.
func eventful(e *ear) worldtest.Options {
	return worldtest.Options{
		Site: worldtest.Site{
			"/":     "item a\nitem no\nitem bad\nlink /next\nlink /next\nlink /robots\nlink /off\nlink /error",
			"/next": "item b\nlink /", "/error": "error",
		},
		Scope: func(req *crawl.Request) error {
			if strings.HasSuffix(req.URL, "/off") {
				return &crawl.Drop{Reason: "offsite"}
			}
			return nil
		},
		Fetch: func(ctx context.Context, req *crawl.Request, site downloader.Handler) (*crawl.Response, error) {
			if strings.HasSuffix(req.URL, "/robots") {
				return nil, &crawl.Drop{Reason: "robots"}
			}
			return site.Fetch(ctx, req)
		},
		Steps: []pipeline.Step{{Name: "step", Process: func(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) {
			switch v, _ := item.Get("name"); v {
			case "no":
				return item, &crawl.Drop{Reason: "unwanted"}
			case "bad":
				return item, errors.New("broken")
			}
			return item, nil
		}}},
		Extensions: []extension.Extension{e.extension()},
	}
}

func TestExtensionsHearOfEverything(t *testing.T) {
	var e ear
	runWorld(t, eventful(&e), func(_ *worldtest.World, _ crawl.Job, items []string) {
		if diff := cmp.Diff([]string{"a", "b"}, items); diff != "" {
			t.Errorf("items (-want, +got):\n%s", diff)
		}
		if e.heard["Counted"] == 0 {
			t.Error("no totals were heard of")
		}
		delete(e.heard, "Counted")
		want := map[string]int{
			"SpiderOpened world": 1, "SpiderClosed finished finished finished": 1,
			"RequestScheduled /": 2, "RequestScheduled /next": 2, "RequestScheduled /robots": 1, "RequestScheduled /error": 1,
			"RequestDropped /next duplicate": 1, "RequestDropped / duplicate": 1, "RequestDropped /off offsite": 1, "RequestDropped /robots robots": 1,
			"ResponseReceived /": 1, "ResponseReceived /next": 1, "ResponseReceived /error": 1,
			"ItemScraped a": 1, "ItemScraped b": 1, "ItemDropped no unwanted": 1, "ItemError bad pipeline step step: broken": 1,
			"SpiderError /error": 1,
		}
		if diff := cmp.Diff(want, e.heard); diff != "" {
			t.Errorf("(-want, +got):\n%s", diff)
		}
	})
}

// What an extension says loses no work.
func TestExtensionsThatFailLoseNothing(t *testing.T) {
	for name, say := range map[string]func(string) error{
		"errors": func(string) error { return errors.New("broken") },
		"panics": func(string) error { panic("broken") },
	} {
		t.Run(name, func(t *testing.T) {
			e := ear{say: say}
			runWorld(t, eventful(&e), func(w *worldtest.World, job crawl.Job, items []string) {
				if diff := cmp.Diff([]string{"a", "b"}, items); diff != "" || job.State != crawl.JobFinished {
					t.Errorf("job %s; items (-want, +got):\n%s", job.State, diff)
				}
				stats, err := w.ReadStats(t.Context(), job.UID)
				if err != nil {
					t.Fatal(err)
				}
				told := 0
				for _, n := range e.heard {
					told += n
				}
				// What is said of the last totals comes after they were added.
				if n, _ := stats["extension/ear/error_count"].(float64); int(n) < told-e.heard["Counted"] || int(n) > told {
					t.Errorf("%v errors were counted of %d", stats["extension/ear/error_count"], told)
				}
			})
		})
	}
}

func TestExtensionsThatFailAtTheVeryEndAreInTheStats(t *testing.T) {
	e := ear{say: func(hook string) error {
		if hook == "SpiderClosed" {
			return errors.New("broken")
		}
		return nil
	}}
	runWorld(t, eventful(&e), func(w *worldtest.World, job crawl.Job, _ []string) {
		stats, err := w.ReadStats(t.Context(), job.UID)
		if err != nil {
			t.Fatal(err)
		}
		if stats["extension/ear/error_count"] != 1.0 {
			t.Errorf("stats %v", stats)
		}
	})
}

func TestExtensionsThatFailLoseNothingInCrashes(t *testing.T) {
	e := ear{say: func(string) error { panic("broken") }}
	run := func(plan map[int]worldtest.Fault) int {
		faults := &worldtest.Faults{Plan: plan}
		synctest.Test(t, func(t *testing.T) {
			w := worldtest.New(t, worldtest.Options{
				Site: worldtest.CrashSite, Wrap: faults.Around, NoCensus: true, Extensions: []extension.Extension{e.extension()},
			})
			job := w.Run()
			if diff := cmp.Diff(worldtest.CrashItems, slices.Sorted(slices.Values(w.Delivered))); diff != "" || job.State != crawl.JobFinished {
				t.Errorf("%v: job %s; items (-want, +got):\n%s", faults.Log(), job.State, diff)
			}
		})
		return faults.Calls()
	}
	calls := run(nil)
	for n := 0; n < calls; n += 5 {
		e.heard = nil
		run(map[int]worldtest.Fault{n: worldtest.AllFaults[n/5%len(worldtest.AllFaults)]})
		for _, item := range worldtest.CrashItems {
			if e.heard["ItemScraped "+item] == 0 {
				t.Errorf("fault at call %d: nobody heard of item %s", n, item)
			}
		}
		if opened, closed := e.heard["SpiderOpened world"], e.heard["SpiderClosed finished finished finished"]; opened == 0 || closed == 0 {
			t.Errorf("fault at call %d: opened %d times, closed %d times", n, opened, closed)
		}
	}
}

func TestExtensionsCloseTheJob(t *testing.T) {
	var all ear
	runWorld(t, eventful(&all), func(*worldtest.World, crawl.Job, []string) {})
	hooks := make(map[string]bool)
	for what := range maps.Keys(all.heard) {
		hooks[strings.Fields(what)[0]] = true
	}
	delete(hooks, "SpiderClosed") // too late
	if len(hooks) != 9 {
		t.Fatalf("hooks %v", hooks)
	}
	for hook := range hooks {
		t.Run(hook, func(t *testing.T) {
			e := ear{say: func(h string) error {
				if h == hook {
					return &crawl.CloseSpider{Reason: "enough"}
				}
				return nil
			}}
			runWorld(t, eventful(&e), func(_ *worldtest.World, job crawl.Job, _ []string) {
				if job.State != crawl.JobFinished || job.Reason != "enough" {
					t.Errorf("job %s, %s; want finished, enough", job.State, job.Reason)
				}
			})
		})
	}
}

func TestExtensionsDropRequests(t *testing.T) {
	e := ear{say: func(hook string) error {
		if hook == "RequestScheduled" {
			return &crawl.Drop{Reason: "known"}
		}
		return nil
	}}
	runWorld(t, worldtest.Options{Site: tree(3), Start: []string{"/0", "/1"}, Extensions: []extension.Extension{e.extension()}},
		func(w *worldtest.World, job crawl.Job, _ []string) {
			if len(w.Fetched) != 0 || job.Reason != crawl.ReasonFinished {
				t.Errorf("%v were fetched, job %s", w.Fetched, job.Reason)
			}
			stats, err := w.ReadStats(t.Context(), job.UID)
			if err != nil {
				t.Fatal(err)
			}
			if stats["extension/ear/request_dropped_count"] != 2.0 {
				t.Errorf("stats %v", stats)
			}
		})
}

func TestExtensionsHearOfAStartThatFails(t *testing.T) {
	var e ear
	o := worldtest.Options{Site: worldtest.Site{"/": ""}, Extensions: []extension.Extension{e.extension()}, Spider: func(s *spider.Spider) {
		s.Start = func(context.Context, spider.Start) spider.Results { panic("broken") }
	}}
	runWorld(t, o, func(_ *worldtest.World, job crawl.Job, _ []string) {
		if job.State != crawl.JobFailed || e.heard["SpiderError of the start"] != 1 || e.heard["SpiderClosed failed start_error start_error"] != 1 {
			t.Errorf("job %s, heard %v", job.State, e.heard)
		}
	})
}

func TestExtensionsHearOfAJobWhosePipelineDoesNotOpen(t *testing.T) {
	var e ear
	o := worldtest.Options{Site: worldtest.Site{"/": "item a"}, Extensions: []extension.Extension{e.extension()}, Steps: []pipeline.Step{{
		Name: "shut", Open: func(context.Context, crawl.Job) error { return errors.New("shut") },
		Process: func(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) { return item, nil },
	}}}
	runWorld(t, o, func(_ *worldtest.World, job crawl.Job, _ []string) {
		if job.State != crawl.JobFailed || e.heard["SpiderClosed failed failed <nil>"] == 0 {
			t.Errorf("job %s, heard %v", job.State, e.heard)
		}
	})
}

func TestExtensionsThatListenCostNoCallOfAPort(t *testing.T) {
	calls := func(list ...extension.Extension) int {
		faults := &worldtest.Faults{}
		synctest.Test(t, func(t *testing.T) {
			// One page after the other, so that nothing depends on what comes together.
			site := worldtest.Site{"/": "item a\nlink /1\nlink /1", "/1": "item b\nlink /2", "/2": "item c\nlink /"}
			w := worldtest.New(t, worldtest.Options{Site: site, Wrap: faults.Around, NoCensus: true, Extensions: list})
			w.Run()
		})
		return faults.Calls()
	}
	if without, with := calls(), calls(new(ear).extension()); with != without {
		t.Errorf("%d calls with an extension, %d without", with, without)
	}
}

// Messages that come twice tell of things twice at most, and lose none.
func TestExtensionsHearAtLeastOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ear
		w := worldtest.New(t, worldtest.Options{Site: tree(20), Start: []string{"/0"}, Extensions: []extension.Extension{e.extension()}})
		w.Duplicate = func(queue.Delivery) bool { return true }
		w.Run()
		for _, name := range names(20) {
			if e.heard["ItemScraped "+name] == 0 || e.heard["ResponseReceived /"+name] == 0 {
				t.Errorf("nobody heard of page %s", name)
			}
		}
	})
}

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
