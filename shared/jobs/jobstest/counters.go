package jobstest

import (
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
)

const (
	jobA = crawl.JobUID("aaaaaaaaaaaaaaaaaaaaaaaa")
	jobB = crawl.JobUID("bbbbbbbbbbbbbbbbbbbbbbbb")
)

func (h Harness) add(t *testing.T, job crawl.JobUID, stage jobs.Stage, delta jobs.Counts) jobs.Counts {
	t.Helper()
	totals, err := h.Store.Add(t.Context(), job, stage, delta)
	if err != nil {
		t.Fatalf("add: %v", err)
	}
	return totals
}

// wantTotals compares without the keys that are 0, which may be absent.
func wantTotals(t *testing.T, got, want jobs.Counts) {
	t.Helper()
	got = maps.Clone(got)
	maps.DeleteFunc(got, func(_ string, n int64) bool { return n == 0 })
	if got == nil {
		got = jobs.Counts{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("totals: mismatch (-want, +got):\n%s", diff)
	}
}

func (h Harness) wantTotals(t *testing.T, job crawl.JobUID, want jobs.Counts) {
	t.Helper()
	got, err := h.Store.Totals(t.Context(), job)
	if err != nil {
		t.Fatalf("totals: %v", err)
	}
	wantTotals(t, got, want)
}

func testAdd(t *testing.T, h Harness) {
	h.wantTotals(t, jobA, jobs.Counts{})
	wantTotals(t, h.add(t, jobA, jobs.Fetch, jobs.Counts{"pages": 3, "bytes": 1 << 40}), jobs.Counts{"pages": 3, "bytes": 1 << 40})
	wantTotals(t, h.add(t, jobA, jobs.Fetch, jobs.Counts{"pages": 2, "retries/größer": 1}),
		jobs.Counts{"pages": 5, "bytes": 1 << 40, "retries/größer": 1})

	h.add(t, jobA, jobs.Parse, jobs.Counts{"pages": 10, "items": 4})
	h.add(t, jobA, jobs.Pipeline, jobs.Counts{"items": -1})
	h.add(t, jobA, jobs.Control, jobs.Counts{"starts": 1, "bytes": -1})
	h.wantTotals(t, jobA, jobs.Counts{"pages": 15, "bytes": 1<<40 - 1, "retries/größer": 1, "items": 3, "starts": 1})

	delta := jobs.Counts{"starts": 5}
	totals := h.add(t, jobA, jobs.Control, delta)
	totals["starts"], delta["starts"] = 99, 99
	h.add(t, jobA, jobs.Control, nil)
	h.wantTotals(t, jobA, jobs.Counts{"pages": 15, "bytes": 1<<40 - 1, "retries/größer": 1, "items": 3, "starts": 6})

	// An answer has what was added before, by other stages and by Note, too.
	for _, delta := range []jobs.Counts{{"pages": 1}, {}} {
		if err := h.Store.Note(t.Context(), jobA, jobs.Fetch, delta); err != nil {
			t.Fatalf("note: %v", err)
		}
	}
	wantTotals(t, h.add(t, jobA, jobs.Parse, jobs.Counts{"items": 1}),
		jobs.Counts{"pages": 16, "bytes": 1<<40 - 1, "retries/größer": 1, "items": 4, "starts": 6})
}

func testCountersApart(t *testing.T, h Harness) {
	h.add(t, jobA, jobs.Fetch, jobs.Counts{"pages": 1})
	h.wantTotals(t, jobB, jobs.Counts{})
	wantTotals(t, h.add(t, jobB, jobs.Fetch, jobs.Counts{"pages": 7}), jobs.Counts{"pages": 7})
	h.wantTotals(t, jobA, jobs.Counts{"pages": 1})
}

func testAddAtOnce(t *testing.T, h Harness) {
	const each = 10
	stages := []jobs.Stage{jobs.Control, jobs.Fetch, jobs.Parse, jobs.Pipeline}
	var wg sync.WaitGroup
	for _, stage := range stages {
		for range 2 {
			wg.Go(func() {
				for range each {
					if _, err := h.Store.Add(t.Context(), jobA, stage, jobs.Counts{"n": 1, string(stage): 1}); err != nil {
						t.Errorf("add: %v", err)
					}
				}
			})
		}
	}
	wg.Wait()
	want := jobs.Counts{"n": int64(2 * each * len(stages))}
	for _, stage := range stages {
		want[string(stage)] = 2 * each
	}
	h.wantTotals(t, jobA, want)
}

func testMoved(t *testing.T, h Harness) {
	moved := func(job crawl.JobUID) time.Time {
		t.Helper()
		at, err := h.Store.Moved(t.Context(), job)
		if err != nil {
			t.Fatalf("moved: %v", err)
		}
		return at
	}
	if at := moved(jobA); !at.IsZero() {
		t.Errorf("a job that was never added to moved at %s", at)
	}
	h.add(t, jobA, jobs.Fetch, jobs.Counts{"pages": 1})
	first := moved(jobA)
	if first.IsZero() {
		t.Fatal("the first addition did not move the job")
	}
	h.Advance(time.Minute)
	h.add(t, jobA, jobs.Parse, nil)
	h.add(t, jobB, jobs.Parse, jobs.Counts{"pages": 1})
	if at := moved(jobA); !at.Equal(first) {
		t.Errorf("moved at %s by an empty delta or another job's, want %s", at, first)
	}
	h.add(t, jobA, jobs.Parse, jobs.Counts{"pages": 1})
	if at := moved(jobA); at.Sub(first) != time.Minute {
		t.Errorf("moved %s after the first time, want a minute", at.Sub(first))
	}
}
