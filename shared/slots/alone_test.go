package slots_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/slots"
)

// A process that writes a slot's row alone need not read it, for a second at
// most; what another writes meanwhile costs it one write that fails.
func TestWhoWritesARowAloneDoesNotReadIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		s := slots.New(store, slots.Config{Wait: ms, Now: time.Now, Sleep: sleep})
		acquire := func() *slots.Turn {
			t.Helper()
			turn, err := s.Acquire(t.Context(), "host", slots.Ask{Policy: slots.Policy{Concurrency: 8}, Until: time.Now().Add(time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
			return turn
		}
		want := func(what string, reads, writes int) {
			t.Helper()
			if gets, swaps := store.calls(); gets != reads || swaps != writes {
				t.Errorf("%s: %d reads and %d writes, want %d and %d", what, gets, swaps, reads, writes)
			}
			store.gets, store.swaps = 0, 0
		}
		first := acquire()
		want("the first turn", 1, 1)
		second := acquire()
		want("the second turn", 0, 1)

		row := store.row(t)
		row.Leases = append(row.Leases, slotrows.Lease{ID: "other", Until: time.Now().Add(time.Hour)})
		if ok, err := store.Swap(t.Context(), "host", row); !ok || err != nil {
			t.Fatal(ok, err)
		}
		store.gets, store.swaps = 0, 0
		third := acquire()
		want("a turn after another process wrote", 1, 2)
		if n := len(store.row(t).Leases); n != 4 {
			t.Errorf("%d leases, want the other's and three", n)
		}
		time.Sleep(time.Second)
		for _, turn := range []*slots.Turn{first, second, third} {
			if err := s.Release(t.Context(), turn); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(store.row(t).Leases); n != 1 {
			t.Errorf("%d leases, want the other's", n)
		}
	})
}

// With Gather, turns that are given back one after the other share a write, and
// the last one waits for nobody.
func TestTurnsAreGivenBackTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		s := slots.New(store, slots.Config{Wait: 100 * ms, Gather: 50 * ms, Now: time.Now, Sleep: sleep})
		var turns []*slots.Turn
		done := make(chan *slots.Turn)
		for range 4 {
			go func() {
				turn, err := s.Acquire(t.Context(), "host", slots.Ask{Policy: slots.Policy{Concurrency: 8}, Until: time.Now().Add(time.Hour)})
				if err != nil {
					t.Error(err)
				}
				done <- turn
			}()
		}
		for range 4 {
			turns = append(turns, <-done)
		}
		if _, swaps := store.calls(); swaps != 1 {
			t.Errorf("%d writes for four asks, want one", swaps)
		}
		begun := time.Now()
		released := make(chan struct{})
		for k, turn := range turns {
			go func() {
				time.Sleep(time.Duration(k) * 10 * ms)
				if err := s.Release(t.Context(), turn); err != nil {
					t.Error(err)
				}
				released <- struct{}{}
			}()
		}
		for range turns {
			<-released
		}
		if _, swaps := store.calls(); swaps != 2 {
			t.Errorf("%d writes for four turns back, want one", swaps-1)
		}
		if took := time.Since(begun); took != 30*ms {
			t.Errorf("it took %s, want no longer than until the last one", took)
		}
		if n := len(store.row(t).Leases); n != 0 {
			t.Errorf("%d leases out, want none", n)
		}
	})
}
