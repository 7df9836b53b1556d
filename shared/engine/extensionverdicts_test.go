package engine_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/extension"
)

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
