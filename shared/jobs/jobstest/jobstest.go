// Package jobstest holds the tests that every family's jobs store must pass:
// the contract of package jobs, sentence by sentence.
package jobstest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
)

// A Harness is one family under test, with an empty store.
type Harness struct {
	Store jobs.Store
	// Advance moves the family's clock.
	Advance func(time.Duration)
}

// Run tests the stores that open returns, a fresh one for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"a job comes back as it was created", testRoundTrip},
		{"a job can be peeked at", testPeek},
		{"a job that is not there is not found", testNotFound},
		{"a name is taken once in a project", testCreate},
		{"InterleavingP: of many creations of a name one wins", testCreateAtOnce},
		{"update replaces the row and raises its rev", testUpdate},
		{"update of an old rev does nothing", testUpdateStale},
		{"InterleavingJ: of many updates of a rev one wins", testUpdateAtOnce},
		{"list is newest first, with a limit", testList},
		{"list takes projects and states", testListFilter},
		{"counters are summed over stages", testAdd},
		{"jobs' counters are apart", testCountersApart},
		{"additions at once are all counted", testAddAtOnce},
		{"an addition moves a job's counters", testMoved},
		{"a lease is one holder's until it ends", testLease},
		{"of many that want a lease one has it", testLeaseAtOnce},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// day is when the n-th job was created: later for a larger n.
func day(n int) time.Time { return time.Date(2026, 3, 1+n, 12, 30, 0, 123456789, time.UTC) }

// job is the n-th job of a project, complete.
func job(project string, n int) crawl.Job {
	return crawl.Job{
		UID: crawl.JobUID(fmt.Sprintf("%s-%022d", project, n)), Project: project, Name: fmt.Sprintf("job-%d", n),
		Spider: "books", State: crawl.JobRunning, SpecHash: "abc", Created: day(n), Latest: day(n + 14),
	}
}

// create creates a job whose name is free.
func (h Harness) create(t *testing.T, job crawl.Job) crawl.Job {
	t.Helper()
	got, wrote, err := h.Store.Create(t.Context(), job)
	if err != nil || !wrote {
		t.Fatalf("create %s: wrote %t (%v)", job.Name, wrote, err)
	}
	wantJob(t, got, job)
	return got
}

func (h Harness) get(t *testing.T, uid crawl.JobUID) crawl.Job {
	t.Helper()
	got, err := h.Store.Get(t.Context(), uid)
	if err != nil {
		t.Fatalf("get %s: %v", uid, err)
	}
	return got
}

func wantJob(t *testing.T, got, want crawl.Job) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mismatch (-want, +got):\n%s", diff)
	}
}

func testRoundTrip(t *testing.T, h Harness) {
	want := job("shop", 1)
	want.State, want.Stop, want.Reason = crawl.JobClosing, "closespider_cost", crawl.ReasonFinished
	want.Ended, want.Rev = day(2), 7
	h.create(t, want)
	wantJob(t, h.get(t, want.UID), want)
	found, err := h.Store.Find(t.Context(), "shop", want.Name)
	if err != nil {
		t.Fatalf("find: %v", err)
	}
	wantJob(t, found, want)
}

func testPeek(t *testing.T, h Harness) {
	if _, err := h.Store.Peek(t.Context(), jobA); !errors.Is(err, jobs.ErrNotFound) {
		t.Errorf("a job that is not there: %v", err)
	}
	want := h.create(t, job("shop", 1))
	h.Advance(time.Minute) // so that nothing was written a moment ago
	got, err := h.Store.Peek(t.Context(), want.UID)
	if err != nil {
		t.Fatal(err)
	}
	wantJob(t, got, want)
}

func testNotFound(t *testing.T, h Harness) {
	h.create(t, job("shop", 1))
	if _, err := h.Store.Get(t.Context(), "nobody"); !errors.Is(err, jobs.ErrNotFound) {
		t.Errorf("get: %v, want ErrNotFound", err)
	}
	for _, where := range [][2]string{{"shop", "nobody"}, {"other", "job-1"}, {"", "job-1"}} {
		if _, err := h.Store.Find(t.Context(), where[0], where[1]); !errors.Is(err, jobs.ErrNotFound) {
			t.Errorf("find %s in %q: %v, want ErrNotFound", where[1], where[0], err)
		}
	}
	if _, _, err := h.Store.Update(t.Context(), job("shop", 2)); !errors.Is(err, jobs.ErrNotFound) {
		t.Errorf("update: %v, want ErrNotFound", err)
	}
}

func testList(t *testing.T, h Harness) {
	want := func(limit int, want ...string) {
		t.Helper()
		h.wantList(t, "shop", limit, nil, want...)
	}
	want(0)
	for _, n := range []int{2, 4, 1, 3} {
		h.create(t, job("shop", n))
	}
	want(0, "job-4", "job-3", "job-2", "job-1")
	want(2, "job-4", "job-3")
	want(10, "job-4", "job-3", "job-2", "job-1")
}

func testListFilter(t *testing.T, h Harness) {
	states := []crawl.JobState{crawl.JobRunning, crawl.JobPaused, crawl.JobFinished, crawl.JobRunning, crawl.JobFailed}
	for n, state := range states {
		j := job("shop", n)
		j.State = state
		h.create(t, j)
	}
	h.create(t, job("other", 9))

	h.wantList(t, "other", 0, nil, "job-9")
	h.wantList(t, "nobody", 0, nil)
	h.wantList(t, "", 2, nil, "job-9", "job-4")
	h.wantList(t, "shop", 0, []crawl.JobState{crawl.JobRunning}, "job-3", "job-0")
	h.wantList(t, "shop", 0, []crawl.JobState{crawl.JobFailed, crawl.JobPaused}, "job-4", "job-1")
	h.wantList(t, "shop", 1, []crawl.JobState{crawl.JobRunning}, "job-3")
	h.wantList(t, "", 0, []crawl.JobState{crawl.JobRunning}, "job-9", "job-3", "job-0")
	h.wantList(t, "shop", 0, []crawl.JobState{crawl.JobCancelled})

	// A job is listed by the state that it has now.
	j := h.get(t, job("shop", 0).UID)
	j.State = crawl.JobCancelled
	h.update(t, j, true)
	h.wantList(t, "shop", 0, []crawl.JobState{crawl.JobRunning}, "job-3")
	h.wantList(t, "shop", 0, []crawl.JobState{crawl.JobCancelled}, "job-0")
}

func (h Harness) wantList(t *testing.T, project string, limit int, states []crawl.JobState, want ...string) {
	t.Helper()
	got, err := h.Store.List(t.Context(), project, limit, states...)
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	var names []string
	for _, j := range got {
		names = append(names, j.Name)
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("project %q, limit %d, states %v: mismatch (-want, +got):\n%s", project, limit, states, diff)
	}
}
