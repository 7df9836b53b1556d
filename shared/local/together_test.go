package local_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/local"
	"github.com/skitterhq/skitter/shared/queue"
)

// Turns of readThenWrite, by each helper and each goroutine of the test.
const turns = 60

// readThenWrite reads a row and writes it again, changed, as often as turns
// says; whoever lost the race does it again.
func readThenWrite(ctx context.Context, s *local.Store, say func(string)) error {
	for n := 0; n < turns; {
		row, err := s.SlotRows().Get(ctx, "shared")
		if err != nil {
			return err
		}
		row.Gate = row.Gate.Add(1)
		did, err := s.SlotRows().Swap(ctx, "shared", row)
		if err != nil {
			return err
		}
		if _, err := s.Jobs().Add(ctx, job, "fetch", map[string]int64{"tries": 1}); err != nil {
			return err
		}
		if did {
			n++
		}
	}
	say("done")
	return nil
}

// TestInterleavingX has processes and goroutines that all read and then write:
// none is ever told that the database is locked, and no change is lost.
func TestInterleavingX(t *testing.T) {
	const processes, goroutines = 3, 4
	dir := t.TempDir()
	s := open(t, dir, local.Options{})
	var helpers []*process
	for range processes {
		helpers = append(helpers, startHelper(t, "turn", dir))
	}
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			if err := readThenWrite(t.Context(), s, func(string) {}); err != nil {
				t.Error(err)
			}
		})
	}
	for _, p := range helpers {
		if line, _ := p.line(); line != "done" {
			t.Errorf("a helper says %q", line)
		}
	}
	wg.Wait()

	row, err := s.SlotRows().Get(t.Context(), "shared")
	if err != nil {
		t.Fatal(err)
	}
	if want := int64((processes + goroutines) * turns); row.Version != want {
		t.Errorf("%d changes were kept, want %d", row.Version, want)
	}
}

// TestTwoStoresShareTheWork sends 1,000 messages from each of two processes
// while both receive: each message is received and deleted once.
func TestTwoStoresShareTheWork(t *testing.T) {
	const each = 1_000
	dir := t.TempDir()
	stores := []*local.Store{open(t, dir, local.Options{}), open(t, dir, local.Options{})}
	var sent, received sync.WaitGroup
	var sending atomic.Int32
	sending.Store(int32(len(stores)))
	var mu sync.Mutex
	times := map[string]int{}
	for i, s := range stores {
		sent.Go(func() {
			defer sending.Add(-1)
			for n := 0; n < each; n += 10 {
				if err := s.Queue().Send(t.Context(), queue.Page, messages(fmt.Sprintf("%d-%d", i, n), 10)); err != nil {
					t.Errorf("send: %v", err)
				}
			}
		})
		for range 2 {
			received.Go(func() {
				for ; ; runtime.Gosched() {
					last := sending.Load() == 0
					got, err := s.Queue().Receive(t.Context(), queue.Page, job, 10)
					if err != nil {
						t.Errorf("receive: %v", err)
						return
					}
					if last && len(got) == 0 {
						return
					}
					var receipts []string
					mu.Lock()
					for _, d := range got {
						receipts = append(receipts, d.Receipt)
						times[string(d.Body)]++
					}
					mu.Unlock()
					if err := s.Queue().Delete(t.Context(), queue.Page, receipts); err != nil {
						t.Errorf("delete: %v", err)
					}
				}
			})
		}
	}
	sent.Wait()
	received.Wait()

	if len(times) != each*len(stores) {
		t.Errorf("%d of %d messages were received", len(times), each*len(stores))
	}
	for body, n := range times {
		if n != 1 {
			t.Errorf("%s was received %d times", body, n)
		}
	}
	if n, err := stores[0].Queue().Outstanding(t.Context(), job); err != nil || n != 0 {
		t.Errorf("%d messages are left (%v)", n, err)
	}
}

// TestTwoStoresContendForRows puts and settles the same rows from two
// processes: of each row one put and one settlement wins.
func TestTwoStoresContendForRows(t *testing.T) {
	const units = 100
	dir := t.TempDir()
	stores := []*local.Store{open(t, dir, local.Options{}), open(t, dir, local.Options{})}
	var puts, settled [units]atomic.Int32
	var wg sync.WaitGroup
	for i, s := range stores {
		for n := range units {
			unit := crawl.RepeatUnit(crawl.StartUnit, [20]byte{}, n)
			wg.Go(func() {
				stands, err := s.Frontier().Put(t.Context(), job, []frontier.Row{{Unit: unit, State: frontier.Queued}})
				if err != nil {
					t.Errorf("put: %v", err)
					return
				}
				if stands[0] == nil {
					puts[n].Add(1)
				}
				run := crawl.RunID(fmt.Sprint(i))
				done := frontier.Settlement{Unit: unit, State: frontier.Done, Outcome: frontier.Outcome{Run: run}}
				closed, err := s.Frontier().Settle(t.Context(), job, []frontier.Settlement{done})
				if err != nil {
					t.Errorf("settle: %v", err)
					return
				}
				if !closed[0] {
					return
				}
				settled[n].Add(1)
				rows, err := s.Frontier().Get(t.Context(), job, []crawl.UnitID{unit}, frontier.Strong)
				if err != nil || rows[unit].Run != run {
					t.Errorf("unit %d names run %s (%v), want the winner's %s", n, rows[unit].Run, err, run)
				}
			})
		}
	}
	wg.Wait()
	for n := range units {
		if puts[n].Load() != 1 || settled[n].Load() != 1 {
			t.Errorf("unit %d was put %d times and settled %d times, want once each", n, puts[n].Load(), settled[n].Load())
		}
	}
}

// TestAnOperationThatFailsFailsAlone has calls that cannot succeed among many
// that can, so that they share transactions.
func TestAnOperationThatFailsFailsAlone(t *testing.T) {
	s, _ := fresh(t)
	if _, _, err := s.Jobs().Create(t.Context(), crawl.Job{UID: "taken", Name: "first"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			_, _, err := s.Jobs().Create(t.Context(), crawl.Job{UID: "taken", Name: fmt.Sprint("other", n)})
			if err == nil {
				t.Error("a second job has the UID of the first")
			}
		})
		wg.Go(func() {
			if err := s.Queue().Send(t.Context(), queue.Page, numbered(10*n, 10)); err != nil {
				t.Errorf("send: %v", err)
			}
		})
	}
	wg.Wait()
	if n, err := s.Queue().Outstanding(t.Context(), job); err != nil || n != 500 {
		t.Errorf("%d messages are there (%v), want 500, each once", n, err)
	}
	if all, err := s.Jobs().List(t.Context(), "", 0); err != nil || len(all) != 1 {
		t.Errorf("%d jobs are there (%v), want 1", len(all), err)
	}
}

func TestContextEndsAWaitForTheLock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, local.Options{})
	release := lockDatabase(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() { failed <- s.Queue().Send(ctx, queue.Page, numbered(0, 1)) }()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("send: %v, want the context's error", err)
	}

	// Who goes on waiting has its turn when the lock is free.
	go func() { failed <- s.Queue().Send(t.Context(), queue.Page, numbered(0, 1)) }()
	release()
	if err := <-failed; err != nil {
		t.Errorf("send: %v", err)
	}
	if _, err := s.SlotRows().Get(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("get with a context that is done: %v, want the context's error", err)
	}
}
