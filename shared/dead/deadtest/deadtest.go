// Package deadtest holds the tests that every family's store of dead letters
// must pass: the contract of package dead, sentence by sentence.
package deadtest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/queue"
)

// A Harness is one family under test, with an empty store.
type Harness struct {
	Store dead.Store
}

const (
	jobA = crawl.JobUID("aaaaaaaaaaaaaaaaaaaaaaaa")
	jobB = crawl.JobUID("bbbbbbbbbbbbbbbbbbbbbbbb")
)

// Run tests the stores that open returns, a fresh one for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"a letter comes back as it was put", testRoundTrip},
		{"a letter that is not there is not found", testUnknown},
		{"the same ID again overwrites", testOverwrite},
		{"bodies belong to their owners", testCopies},
		{"a list is in the order of IDs, without bodies", testList},
		{"a deleted letter is gone", testDelete},
		{"jobs are apart", testJobsApart},
		{"puts at once are all kept", testAtOnce},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func letter(job crawl.JobUID, id string) dead.Letter {
	return dead.Letter{
		ID: id, Job: job, Unit: crawl.RepeatUnit(crawl.StartUnit, [20]byte{}, len(id)),
		From: queue.Page, Reason: "timeout", Body: []byte("the body of " + id),
		Time: time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC),
	}
}

func (h Harness) put(t *testing.T, ls ...dead.Letter) {
	t.Helper()
	for _, l := range ls {
		if err := h.Store.Put(t.Context(), l); err != nil {
			t.Fatalf("put %s: %v", l.ID, err)
		}
	}
}

func (h Harness) want(t *testing.T, want dead.Letter) {
	t.Helper()
	got, ok, err := h.Store.Get(t.Context(), want.Job, want.ID)
	if err != nil || !ok {
		t.Fatalf("get %s: found %t (%v)", want.ID, ok, err)
	}
	wantSame(t, got, want)
}

func (h Harness) wantNone(t *testing.T, job crawl.JobUID, id string) {
	t.Helper()
	if got, ok, err := h.Store.Get(t.Context(), job, id); err != nil || ok {
		t.Errorf("get %s: %v (%v), want none", id, got, err)
	}
}

func (h Harness) wantList(t *testing.T, job crawl.JobUID, limit int, want ...dead.Letter) {
	t.Helper()
	got, err := h.Store.List(t.Context(), job, limit)
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	for i := range want {
		want[i].Body = nil
	}
	wantSame(t, got, want)
}

func wantSame(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("mismatch (-want, +got):\n%s", diff)
	}
}

func testRoundTrip(t *testing.T, h Harness) {
	full := letter(jobA, "a")
	full.Body = []byte("\x00\xff poison \r\n")
	bare := dead.Letter{ID: "control", Job: jobA, From: queue.Control}
	h.put(t, full, bare)
	h.want(t, full)
	h.want(t, bare)
}

func testUnknown(t *testing.T, h Harness) {
	h.wantNone(t, jobA, "a")
	h.wantList(t, jobA, 0)
}

func testOverwrite(t *testing.T, h Harness) {
	h.put(t, letter(jobA, "a"))
	again := letter(jobA, "a")
	again.Reason, again.Body, again.From = "panic", nil, queue.Item
	h.put(t, again)
	h.want(t, again)
	h.wantList(t, jobA, 0, again)
}

func testCopies(t *testing.T, h Harness) {
	l, want := letter(jobA, "a"), letter(jobA, "a")
	h.put(t, l)
	l.Body[0] = 'X'
	h.want(t, want)
	got, _, err := h.Store.Get(t.Context(), jobA, "a")
	if err != nil {
		t.Fatal(err)
	}
	got.Body[0] = 'X'
	h.want(t, want)
}

func testList(t *testing.T, h Harness) {
	h.put(t, letter(jobA, "c"), letter(jobA, "a"), letter(jobA, "B"), letter(jobA, "b"))
	all := []dead.Letter{letter(jobA, "B"), letter(jobA, "a"), letter(jobA, "b"), letter(jobA, "c")}
	h.wantList(t, jobA, 0, all...)
	h.wantList(t, jobA, 2, all[:2]...)
	h.wantList(t, jobA, 9, all...)
}

func testDelete(t *testing.T, h Harness) {
	h.put(t, letter(jobA, "a"), letter(jobA, "b"))
	for _, id := range []string{"a", "a", "never"} {
		if err := h.Store.Delete(t.Context(), jobA, id); err != nil {
			t.Errorf("delete %s: %v", id, err)
		}
	}
	h.wantNone(t, jobA, "a")
	h.wantList(t, jobA, 0, letter(jobA, "b"))
}

func testJobsApart(t *testing.T, h Harness) {
	mine, other := letter(jobA, "a"), letter(jobB, "a")
	other.Reason = "panic"
	h.put(t, mine, other)
	h.want(t, mine)
	h.want(t, other)
	if err := h.Store.Delete(t.Context(), jobB, "a"); err != nil {
		t.Fatal(err)
	}
	h.want(t, mine)
	h.wantList(t, jobA, 0, mine)
	h.wantList(t, jobB, 0)
}

func testAtOnce(t *testing.T, h Harness) {
	const n = 20
	var wg sync.WaitGroup
	var want []dead.Letter
	for i := range n {
		l := letter(jobA, fmt.Sprintf("%02d", i))
		want = append(want, l)
		wg.Go(func() {
			if err := h.Store.Put(t.Context(), l); err != nil {
				t.Errorf("put: %v", err)
			}
		})
	}
	wg.Wait()
	h.wantList(t, jobA, 0, want...)
}
