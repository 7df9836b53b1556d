package slots_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/slots"
)

func TestSlotsKeepDelayAndConcurrency(t *testing.T) {
	tests := []struct {
		name      string
		policy    slots.Policy
		latency   time.Duration
		pages     int
		processes int
		least     time.Duration // between two starts
		most      int           // in flight
		within    time.Duration // all of it
		resends   float64       // a page
	}{
		{
			name: "one at a time, a second between two", policy: slots.Policy{Concurrency: 1, Delay: time.Second},
			latency: 200 * time.Millisecond, pages: 50, processes: 3,
			least: time.Second, most: 1, within: 55 * time.Second, resends: 1.5,
		},
		{
			name: "randomized delay", policy: slots.Policy{Concurrency: 1, Delay: time.Second, Randomize: true},
			latency: 200 * time.Millisecond, pages: 50, processes: 3,
			least: 500 * time.Millisecond, most: 1, within: 60 * time.Second, resends: 1.5,
		},
		{
			name: "no delay, four at a time", policy: slots.Policy{Concurrency: 4},
			latency: 200 * time.Millisecond, pages: 200, processes: 3,
			most: 4, within: 20 * time.Second, resends: 3,
		},
		{
			name: "answers that take longer than the delay", policy: slots.Policy{Concurrency: 1, Delay: 100 * time.Millisecond},
			latency: 350 * time.Millisecond, pages: 20, processes: 2,
			least: 350 * time.Millisecond, most: 1, within: 30 * time.Second, resends: 12,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{policy: test.policy, latency: test.latency, rows: memory.NewSlotRows(), draw: 0.5}
				begin := time.Now()
				var all sync.WaitGroup
				for p := range test.processes {
					h := w.handler()
					for k := p; k < test.pages; k += test.processes {
						all.Go(func() { w.fetch(t, h) })
					}
				}
				all.Wait()
				took := time.Since(begin)
				if len(w.starts) != test.pages {
					t.Errorf("%d starts, want %d", len(w.starts), test.pages)
				}
				for _, gap := range w.gaps() {
					if gap < test.least {
						t.Errorf("two starts within %s, want at least %s", gap, test.least)
					}
				}
				if w.most > test.most {
					t.Errorf("%d in flight, want at most %d", w.most, test.most)
				}
				if took > test.within {
					t.Errorf("took %s, want at most %s", took, test.within)
				}
				if got := float64(w.resends) / float64(test.pages); got > test.resends {
					t.Errorf("%.2f re-sends a page, want at most %.2f", got, test.resends)
				}
				t.Logf("%s, %.2f re-sends a page", took, float64(w.resends)/float64(test.pages))
			})
		})
	}
}

func TestALeaseEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots.New(memory.NewSlotRows(), slots.Config{Wait: time.Millisecond, Now: time.Now, Sleep: sleep})
		ask := slots.Ask{Policy: slots.Policy{Concurrency: 1}, Until: time.Now().Add(time.Minute)}
		if _, err := s.Acquire(t.Context(), "host", ask); err != nil {
			t.Fatal(err)
		}
		var refused *slots.Refusal
		if _, err := s.Acquire(t.Context(), "host", ask); !errors.As(err, &refused) {
			t.Fatalf("second turn while the first is out: err %v, want a refusal", err)
		}
		time.Sleep(time.Minute)
		ask.Until = time.Now().Add(time.Minute)
		if _, err := s.Acquire(t.Context(), "host", ask); err != nil {
			t.Errorf("turn after the lease has ended: %v", err)
		}
	})
}

func TestATurnThatComesTooLateIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{policy: slots.Policy{Concurrency: 1, Delay: time.Second}, rows: &slowRows{Store: memory.NewSlotRows(), late: 300 * time.Millisecond}}
		w.fetch(t, w.handler())
		if len(w.starts) != 1 {
			t.Fatalf("%d starts, want 1", len(w.starts))
		}
		if w.resends == 0 {
			t.Error("the turn was used 300 ms after its start, though the slack is 50 ms")
		}
	})
}

// slowRows answer late at first, as if the process had stood still.
type slowRows struct {
	slotrows.Store
	late  time.Duration
	calls int
}

func (r *slowRows) Swap(ctx context.Context, slot string, row slotrows.Row) (bool, error) {
	ok, err := r.Store.Swap(ctx, slot, row)
	if r.calls++; r.calls < 12 {
		time.Sleep(r.late)
	}
	return ok, err
}

func TestARandomizedDelayStaysInItsBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pages, processes = 120, 3
		w := &world{policy: slots.Policy{Concurrency: 1, Delay: time.Second, Randomize: true}, latency: 100 * ms, rows: memory.NewSlotRows()}
		var all sync.WaitGroup
		for p := range processes {
			draw := rand.New(rand.NewPCG(1, uint64(p)))
			h := w.handlerWith(func(c *slots.Config) { c.Draw = draw.Float64 })
			for range pages / processes {
				all.Go(func() { w.fetch(t, h) })
			}
		}
		all.Wait()
		w.wantGaps(t, pages, 500*ms)
		var short, long int
		var sum time.Duration
		for k, gap := range w.gaps() {
			sum += gap
			switch {
			case gap > 1500*ms:
				t.Errorf("start %d comes %s after the one before it, want at most 1.5s", k+1, gap)
			case gap < 700*ms:
				short++
			case gap > 1300*ms:
				long++
			}
		}
		// A fifth of the draws lies at either end.
		if short < pages/10 || long < pages/10 {
			t.Errorf("%d short gaps and %d long ones of %d, want them spread", short, long, pages)
		}
		if mean := sum / (pages - 1); mean < 900*ms || mean > 1100*ms {
			t.Errorf("the mean gap is %s, want about 1s", mean)
		}
	})
}
