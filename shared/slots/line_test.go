package slots_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/slots"
)

// Who asks while the row is being written goes into the next write, with all
// others that came meanwhile; a permit that comes back there is given there.
func TestReleasesAndAsksShareOneSwap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		s := slots.New(store, slots.Config{Wait: 100 * ms, Now: time.Now, Sleep: sleep})
		now := time.Now()
		ask := func(told time.Time) slots.Ask {
			return slots.Ask{Policy: slots.Policy{Concurrency: 2}, Told: told, Until: now.Add(time.Hour)}
		}
		var out []*slots.Turn
		for range 2 {
			turn, err := s.Acquire(t.Context(), "host", ask(time.Time{}))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, turn)
		}
		time.Sleep(time.Second) // so that the row is read again
		now = time.Now()
		store.gets, store.swaps = 0, 0
		hold := make(chan struct{})
		store.onGet = func(n int) error {
			if n == 1 {
				<-hold
			}
			return nil
		}
		var (
			all     sync.WaitGroup
			mu      sync.Mutex
			granted []string
		)
		acquire := func(name string, told time.Time) {
			all.Go(func() {
				if _, err := s.Acquire(t.Context(), "host", ask(told)); err == nil {
					mu.Lock()
					granted = append(granted, name)
					mu.Unlock()
				}
			})
			synctest.Wait() // so that they come in this order
		}
		acquire("the one who holds the row", time.Time{})
		acquire("a newcomer", time.Time{})
		acquire("told later", now.Add(-time.Second))
		acquire("told first", now.Add(-2*time.Second))
		for _, turn := range out {
			all.Go(func() {
				if err := s.Release(t.Context(), turn); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(hold)
		synctest.Wait()
		if gets, swaps := store.calls(); gets > 2 || swaps != 1 {
			t.Errorf("%d reads and %d writes, want a read for the first, and a write for all", gets, swaps)
		}
		all.Wait() // the other two are refused in the end
		slices.Sort(granted)
		if diff := cmp.Diff([]string{"told first", "told later"}, granted); diff != "" {
			t.Errorf("granted (-want, +got):\n%s", diff)
		}
		if n := len(store.row(t).Leases); n != 2 {
			t.Errorf("%d leases out, want 2", n)
		}
	})
}

// One who goes away does not end the others' wishes, which are in one write.
func TestOneWhoGoesAwayDoesNotEndTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		s := slots.New(store, slots.Config{Wait: 100 * ms, Now: time.Now, Sleep: sleep})
		ask := slots.Ask{Policy: slots.Policy{Concurrency: 2}, Until: time.Now().Add(time.Hour)}
		ctx, cancel := context.WithCancel(t.Context())
		store.onGet = func(int) error {
			cancel()
			synctest.Wait()
			return nil
		}
		if _, err := s.Acquire(ctx, "host", ask); !errors.Is(err, context.Canceled) {
			t.Errorf("whose context ends while the row is worked: %v", err)
		}
		for range 2 {
			if _, err := s.Acquire(t.Context(), "host", ask); err != nil {
				t.Errorf("the next: %v", err)
			}
		}
	})
}

func TestAWriteIsTriedAgainWhenOthersWereFaster(t *testing.T) {
	store := newRows()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	policy := slots.Policy{Concurrency: 1, Delay: time.Second}
	s := slots.New(store, slots.Config{Wait: 100 * ms, Now: func() time.Time { return now }})
	// The other takes the turn between this one's read and write.
	store.onSwap = func(n int) (bool, error) {
		if n == 1 {
			store.preset(t, slotrows.Row{Gate: now.Add(time.Second), Tail: now.Add(time.Second), Leases: []slotrows.Lease{{ID: "other", Until: now.Add(time.Hour)}}})
		}
		return true, nil
	}
	_, err := s.Acquire(t.Context(), "host", slots.Ask{Policy: policy, Until: now.Add(time.Hour)})
	var refused *slots.Refusal
	if !errors.As(err, &refused) || !refused.At.Equal(now.Add(time.Second)) {
		t.Errorf("err %v, want a refusal until the other's gate opens", err)
	}
	if row := store.row(t); store.swaps != 2 || len(row.Leases) != 1 || row.Leases[0].ID != "other" {
		t.Errorf("%d writes, leases %v; want 2, the other's", store.swaps, row.Leases)
	}
}

func TestAcquireAndReleaseErrors(t *testing.T) {
	errStore := errors.New("the store is down")
	ask := slots.Ask{Policy: slots.Policy{Concurrency: 1}, Until: time.Now().Add(time.Hour)}
	tests := []struct {
		name  string
		fail  func(*rows)
		want  string
		swaps int
	}{
		{"the row cannot be read", func(r *rows) { r.onGet = func(int) error { return errStore } }, "the store is down", 0},
		{"the row cannot be written", func(r *rows) { r.onSwap = func(int) (bool, error) { return false, errStore } }, "the store is down", 1},
		{"others are always faster", func(r *rows) { r.onSwap = func(int) (bool, error) { return false, nil } }, "too many others write its row", 64},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store, now := newRows(), time.Now()
			s := slots.New(store, slots.Config{Wait: ms, Now: func() time.Time { return now }})
			test.fail(store)
			turn, err := s.Acquire(t.Context(), "host", ask)
			if want := "turn at slot host: " + test.want; turn != nil || err == nil || err.Error() != want {
				t.Errorf("turn %v, err %v; want %q", turn, err, want)
			}
			if store.swaps != test.swaps {
				t.Errorf("%d writes tried, want %d", store.swaps, test.swaps)
			}
			// The slot works again once its store does.
			store.onGet, store.onSwap = nil, nil
			if turn, err = s.Acquire(t.Context(), "host", ask); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second) // so that the row is read again
			test.fail(store)
			if err := s.Release(t.Context(), turn); err == nil || !strings.HasPrefix(err.Error(), "give a turn at slot host back: "+test.want) {
				t.Errorf("release: err %v", err)
			}
		})
	}
}

func TestGivingATurnBackTwiceIsHarmless(t *testing.T) {
	store := newRows()
	s := slots.New(store, slots.Config{Wait: ms, Now: time.Now})
	ask := slots.Ask{Policy: slots.Policy{Concurrency: 2}, Until: time.Now().Add(time.Hour)}
	first, err := s.Acquire(t.Context(), "host", ask)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context(), "host", ask); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Release(t.Context(), first); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(store.row(t).Leases); n != 1 || store.swaps != 3 {
		t.Errorf("%d leases after %d writes, want the other's, and no write for nothing", n, store.swaps)
	}
}

// A process forgets the lines of slots that it is done with.
func TestManySlotsAreNoHindrance(t *testing.T) {
	s := slots.New(memory.NewSlotRows(), slots.Config{Wait: ms, Now: time.Now})
	ask := slots.Ask{Policy: slots.Policy{Concurrency: 1}, Until: time.Now().Add(time.Hour)}
	first, err := s.Acquire(t.Context(), "0", ask)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 10_500 {
		if _, err := s.Acquire(t.Context(), fmt.Sprint(k+1), ask); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Acquire(t.Context(), "0", ask); err == nil {
		t.Error("a second turn at the first slot, whose one permit is out")
	}
	if err := s.Release(t.Context(), first); err != nil {
		t.Error(err)
	}
}
