package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/spider"
)

// bannedSite has a page that is of no use until its third attempt, and one that
// is never.
var bannedSite = worldtest.Site{
	"/":      "item start\nlink /shy\nlink /banned",
	"/shy":   "attempt early\nfirst /found\nretry 2 empty-list\nattempt late",
	"/found": "item found",
	// The last attempt of three is no better.
	"/banned": "attempt banned\nretry 9 banned",
}

var bannedItems = []string{"banned-2", "early-2", "found", "late-2", "start"}

func TestASpiderHasAPageFetchedAgain(t *testing.T) {
	var asked []time.Time
	fetch := func(ctx context.Context, req *crawl.Request, site downloader.Handler) (*crawl.Response, error) {
		if strings.HasSuffix(req.URL, "/shy") {
			asked = append(asked, time.Now())
		}
		return site.Fetch(ctx, req)
	}
	var left []int
	watch := func(s *spider.Spider) {
		read := s.Parse
		s.Parse = func(ctx context.Context, page *spider.Page, out *spider.Output) error {
			if strings.HasSuffix(page.URL, "/shy") {
				left = append(left, page.RetriesLeft)
			}
			return read(ctx, page, out)
		}
	}
	runWorld(t, worldtest.Options{Site: bannedSite, Fetch: fetch, Spider: watch}, func(w *worldtest.World, job crawl.Job, items []string) {
		if job.State != crawl.JobFinished {
			t.Errorf("job %s, want finished", job.State)
		}
		if diff := cmp.Diff(bannedItems, items); diff != "" {
			t.Errorf("items (-want, +got):\n%s", diff)
		}
		if diff := cmp.Diff([]int{2, 1, 0}, left); diff != "" {
			t.Errorf("retries left (-want, +got):\n%s", diff)
		}
		if w.Fetched["/shy"] != 3 || w.Fetched["/banned"] != 3 || w.Fetched["/found"] != 1 {
			t.Errorf("fetched %v", w.Fetched)
		}
		if first, second := asked[1].Sub(asked[0]), asked[2].Sub(asked[1]); first < 900*time.Millisecond || second < 1800*time.Millisecond {
			t.Errorf("the waits are %s and %s, want about 1s and 2s", first, second)
		}
		if row := w.Row("/banned"); row.Why != "gave-up: banned" {
			t.Errorf("/banned: %s, %q", row.State, row.Why)
		}
		stats, err := w.ReadStats(t.Context(), job.UID)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]any{
			"units/failed": 1.0, "units/done": 3.0, "retry/count": 4.0, "retry/max_reached": 1.0,
			"retry/reason_count/banned": 2.0, "retry/reason_count/empty-list": 2.0, "spider_exceptions/count": nil,
		} {
			if stats[key] != want {
				t.Errorf("stat %s = %v, want %v", key, stats[key], want)
			}
		}
	})
}

func TestLimitsOfASpidersRetries(t *testing.T) {
	two := 2
	tests := []struct {
		name     string
		options  crawl.Options
		settings map[string]string
		fetched  int
	}{
		{name: "RETRY_TIMES", settings: map[string]string{"RETRY_TIMES": "1"}, fetched: 2},
		{name: "MaxRetryTimes", settings: map[string]string{"RETRY_TIMES": "0"}, options: crawl.Options{MaxRetryTimes: &two}, fetched: 3},
		{name: "DontRetry", options: crawl.Options{DontRetry: true}, fetched: 1},
		{name: "without the middleware", settings: map[string]string{"RETRY_ENABLED": "false"}, fetched: 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			start := func(s *spider.Spider) {
				s.StartURLs = nil
				s.Start = func(context.Context, spider.Start) spider.Results {
					return func(yield func(crawl.Result, error) bool) {
						yield(crawl.Result{Request: &crawl.Request{URL: worldtest.Host + "/banned", Options: test.options}}, nil)
					}
				}
			}
			o := worldtest.Options{Site: bannedSite, Spider: start, Settings: test.settings}
			runWorld(t, o, func(w *worldtest.World, _ crawl.Job, _ []string) {
				if w.Fetched["/banned"] != test.fetched {
					t.Errorf("fetched %d times, want %d", w.Fetched["/banned"], test.fetched)
				}
				if row := w.Row("/banned"); row.Why != "gave-up: banned" {
					t.Errorf("%s, %q", row.State, row.Why)
				}
			})
		})
	}
}

// An errback hears of each failure, and may want another attempt.
func TestAnErrbackHasAPageFetchedAgain(t *testing.T) {
	fetch := func(ctx context.Context, req *crawl.Request, site downloader.Handler) (*crawl.Response, error) {
		if req.RetryTimes == 0 && strings.HasSuffix(req.URL, "/shy") {
			return nil, &crawl.Failure{Reason: "certificate"}
		}
		return site.Fetch(ctx, req)
	}
	mind := func(s *spider.Spider) {
		s.StartURLs = nil
		s.Start = func(context.Context, spider.Start) spider.Results {
			return func(yield func(crawl.Result, error) bool) {
				yield(crawl.Result{Request: &crawl.Request{URL: worldtest.Host + "/shy", Errback: "again"}}, nil)
			}
		}
		s.Errbacks = map[string]spider.Errback{"again": func(_ context.Context, page *spider.Page, _ *spider.Output) error {
			return &crawl.Retry{Reason: "new-certificate", After: time.Minute, Priority: -5}
		}}
	}
	runWorld(t, worldtest.Options{Site: bannedSite, Fetch: fetch, Spider: mind}, func(w *worldtest.World, job crawl.Job, items []string) {
		if diff := cmp.Diff([]string{"early-2", "late-2"}, items); diff != "" {
			t.Errorf("items (-want, +got):\n%s", diff)
		}
		stats, err := w.ReadStats(t.Context(), job.UID)
		if err != nil {
			t.Fatal(err)
		}
		if stats["retry/reason_count/new-certificate"] != 1.0 || stats["elapsed_time_seconds"].(float64) < 60 {
			t.Errorf("stats %v", stats)
		}
	})
}

func TestDuplicatesOfASpidersRetriesAreHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: bannedSite})
		w.Duplicate = func(queue.Delivery) bool { return true }
		w.Run()
		if diff := cmp.Diff(bannedItems, slices.Sorted(slices.Values(w.Delivered))); diff != "" {
			t.Errorf("items (-want, +got):\n%s", diff)
		}
	})
}

// What the first attempt alone found is fetched, and of each page the items of
// one attempt count, wherever the process dies.
func TestCrashAtEveryPortCallOfASpidersRetries(t *testing.T) {
	run := func(plan map[int]worldtest.Fault) (problem string, calls int) {
		faults := &worldtest.Faults{Plan: plan}
		synctest.Test(t, func(t *testing.T) {
			w := worldtest.New(t, worldtest.Options{Site: bannedSite, Wrap: faults.Around, NoCensus: true})
			job := w.Run()
			calls = faults.Calls()
			if job.State != crawl.JobFinished {
				problem = fmt.Sprintf("job %s, %s, %s", job.State, job.Reason, job.Problem)
			}
			if len(plan) == 1 && w.Revived > 0 {
				problem += fmt.Sprintf("\n%d requests had to be sent again by the sweep", w.Revived)
			}
			if diff := cmp.Diff(bannedItems, slices.Sorted(slices.Values(w.Delivered))); diff != "" {
				problem += fmt.Sprintf("\nitems (-want, +got):\n%s\nrows:\n%s", diff, w.Dump())
			}
		})
		if problem != "" {
			problem = fmt.Sprintf("%v: %s", faults.Log(), problem)
		}
		return problem, calls
	}
	_, calls := run(nil)
	for n := range calls {
		for k, fault := range worldtest.AllFaults {
			if testing.Short() && (n+k)%17 != 0 {
				continue
			}
			if problem, _ := run(map[int]worldtest.Fault{n: fault}); problem != "" {
				t.Fatal(problem)
			}
		}
	}
}
