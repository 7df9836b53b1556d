package jobstest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

func testCreate(t *testing.T, h Harness) {
	first := h.create(t, job("shop", 1))
	again := job("shop", 1)
	again.UID, again.SpecHash = "another", "other arguments"
	stands, wrote, err := h.Store.Create(t.Context(), again)
	if err != nil || wrote {
		t.Fatalf("create the same name: wrote %t (%v)", wrote, err)
	}
	wantJob(t, stands, first)
	wantJob(t, h.get(t, first.UID), first)

	// Another project may use the name.
	h.create(t, job("other", 1))
}

func testCreateAtOnce(t *testing.T, h Harness) {
	const n = 8
	answers := make([]crawl.Job, n)
	wrote := make([]bool, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			j := job("shop", 1)
			j.UID = crawl.JobUID(fmt.Sprintf("%024d", i))
			var err error
			if answers[i], wrote[i], err = h.Store.Create(t.Context(), j); err != nil {
				t.Errorf("create: %v", err)
			}
		})
	}
	wg.Wait()
	winners := 0
	for i := range n {
		if wrote[i] {
			winners++
		}
		wantJob(t, answers[i], answers[0])
	}
	if winners != 1 {
		t.Errorf("%d of %d creations wrote, want 1", winners, n)
	}
}

func (h Harness) update(t *testing.T, j crawl.Job, want bool) crawl.Job {
	t.Helper()
	stands, wrote, err := h.Store.Update(t.Context(), j)
	if err != nil || wrote != want {
		t.Fatalf("update rev %d: wrote %t (%v), want %t", j.Rev, wrote, err, want)
	}
	return stands
}

func testUpdate(t *testing.T, h Harness) {
	j := h.create(t, job("shop", 1))
	other := h.create(t, job("shop", 2))
	j.State, j.Stop = crawl.JobPaused, "cancelled"
	got := h.update(t, j, true)
	j.Rev++
	wantJob(t, got, j)
	wantJob(t, h.get(t, j.UID), j)
	wantJob(t, h.get(t, other.UID), other)

	j.State, j.Stop, j.Ended = crawl.JobCancelled, "", day(9)
	got = h.update(t, j, true)
	j.Rev++
	wantJob(t, got, j)
	found, err := h.Store.Find(t.Context(), j.Project, j.Name)
	if err != nil {
		t.Fatal(err)
	}
	wantJob(t, found, j)
}

func testUpdateStale(t *testing.T, h Harness) {
	old := h.create(t, job("shop", 1))
	current := h.update(t, old, true)
	old.State = crawl.JobFailed
	wantJob(t, h.update(t, old, false), current)
	ahead := current
	ahead.Rev++
	wantJob(t, h.update(t, ahead, false), current)
	wantJob(t, h.get(t, old.UID), current)
}

func testUpdateAtOnce(t *testing.T, h Harness) {
	const n = 8
	j := h.create(t, job("shop", 1))
	answers := make([]crawl.Job, n)
	wrote := make([]bool, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			mine := j
			mine.State, mine.Reason = crawl.JobClosing, fmt.Sprint(i)
			var err error
			if answers[i], wrote[i], err = h.Store.Update(t.Context(), mine); err != nil {
				t.Errorf("update: %v", err)
			}
		})
	}
	wg.Wait()
	winners := 0
	for i := range n {
		if wrote[i] {
			winners++
			if answers[i].Reason != fmt.Sprint(i) {
				t.Errorf("winner %d is told that %s stands", i, answers[i].Reason)
			}
		}
		wantJob(t, answers[i], answers[0])
	}
	if winners != 1 || answers[0].Rev != j.Rev+1 {
		t.Errorf("%d of %d updates wrote and the rev is %d, want 1 and %d", winners, n, answers[0].Rev, j.Rev+1)
	}
}

func (h Harness) lease(t *testing.T, name string, seconds int, want bool) {
	t.Helper()
	got, err := h.Store.Lease(t.Context(), name, seconds)
	if err != nil || got != want {
		t.Errorf("lease %s: %t (%v), want %t", name, got, err, want)
	}
}

func testLease(t *testing.T, h Harness) {
	h.lease(t, "sweep", 60, true)
	h.lease(t, "sweep", 60, false)
	h.lease(t, "sweep", 1, false)
	h.lease(t, "other", 60, true)
	h.Advance(59 * time.Second)
	h.lease(t, "sweep", 60, false)
	h.Advance(time.Second)
	h.lease(t, "sweep", 10, true)
	h.Advance(10 * time.Second)
	h.lease(t, "sweep", 10, true)
}

func testLeaseAtOnce(t *testing.T, h Harness) {
	const n = 8
	for round := range 3 {
		got := make([]bool, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				var err error
				if got[i], err = h.Store.Lease(t.Context(), "sweep", 60); err != nil {
					t.Errorf("lease: %v", err)
				}
			})
		}
		wg.Wait()
		holders := 0
		for _, has := range got {
			if has {
				holders++
			}
		}
		if holders != 1 {
			t.Errorf("round %d: %d of %d have the lease, want 1", round, holders, n)
		}
		h.Advance(time.Minute)
	}
}
