package slots_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/slots"
)

// An ask that lacks nothing but a permit waits here, and is given the one that
// comes back in the write that takes it back.
func TestAPermitIsHandedOnInOneWrite(t *testing.T) {
	for _, policy := range []slots.Policy{{Concurrency: 1}, {Concurrency: 1, Delay: 10 * ms}} {
		synctest.Test(t, func(t *testing.T) {
			store := newRows()
			s := slots.New(store, slots.Config{Wait: 100 * ms, Now: time.Now, Sleep: sleep})
			ask := slots.Ask{Policy: policy, Until: time.Now().Add(time.Hour)}
			first, err := s.Acquire(t.Context(), "host", ask)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			var all sync.WaitGroup
			var granted []time.Duration
			var refused []time.Duration
			for range 2 {
				all.Go(func() {
					if _, err := s.Acquire(t.Context(), "host", ask); err == nil {
						granted = append(granted, time.Since(begin))
					} else {
						refused = append(refused, time.Since(begin))
					}
				})
				synctest.Wait()
			}
			time.Sleep(60 * ms)
			store.swaps = 0
			if err := s.Release(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if _, swaps := store.calls(); swaps != 1 {
				t.Errorf("%d writes, want one", swaps)
			}
			all.Wait()
			if diff := cmp.Diff([][]time.Duration{{60 * ms}, {100 * ms}}, [][]time.Duration{granted, refused}); diff != "" {
				t.Errorf("granted, refused after (-want, +got):\n%s", diff)
			}
		})
	}
}

// Whoever goes away while waiting takes no permit along, however close to its
// grant.
func TestWhoGoesAwayTakesNoPermitAlong(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			random := newDice(7, seed)
			store := newRows()
			store.onGet = func(int) error { time.Sleep(random.upTo(3 * ms)); return nil }
			store.onSwap = func(int) (bool, error) { time.Sleep(random.upTo(3 * ms)); return true, nil }
			s := slots.New(store, slots.Config{Wait: 20 * ms, Now: time.Now, Sleep: sleep})
			ask := slots.Ask{Policy: slots.Policy{Concurrency: 2}, Until: time.Now().Add(time.Hour)}
			var all sync.WaitGroup
			for range 20 {
				come, stay, hold := random.upTo(40*ms), random.upTo(25*ms), random.upTo(10*ms)
				all.Go(func() {
					time.Sleep(come)
					ctx, cancel := context.WithTimeout(t.Context(), stay)
					defer cancel()
					turn, err := s.Acquire(ctx, "host", ask)
					var refused *slots.Refusal
					switch {
					case err == nil:
						time.Sleep(hold)
						if err := s.Release(t.Context(), turn); err != nil {
							t.Error(err)
						}
					case errors.As(err, &refused), errors.Is(err, context.DeadlineExceeded):
					default:
						t.Error(err)
					}
				})
			}
			all.Wait()
			if leases := store.row(t).Leases; len(leases) > 0 {
				t.Errorf("seed %d: leases %v are out", seed, leases)
			}
		})
	}
}

// However long the round takes that is looking at an ask, the ask's end is
// heard right after it.
func TestWhoGoesAwayDuringARoundIsNotParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		s := slots.New(store, slots.Config{Wait: time.Minute, Now: time.Now, Sleep: sleep})
		ask := slots.Ask{Policy: slots.Policy{Concurrency: 1}, Until: time.Now().Add(time.Hour)}
		if _, err := s.Acquire(t.Context(), "host", ask); err != nil {
			t.Fatal(err)
		}
		store.onGet = func(int) error { time.Sleep(time.Second); return nil }
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 500*ms)
		defer cancel()
		_, err := s.Acquire(ctx, "host", ask)
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took > 2*time.Second {
			t.Errorf("err %v after %s, want the context's after two rounds", err, took)
		}
	})
}

// Asks do not wait behind others where a look at the row may find a permit.
func TestAnAskLooksWhereItMayFindAPermit(t *testing.T) {
	begin := func(t *testing.T) (here, there *slots.Slots, leases func() int) {
		store := newRows()
		config := slots.Config{Wait: time.Minute, Now: time.Now, Sleep: sleep}
		return slots.New(store, config), slots.New(store, config), func() int {
			synctest.Wait()
			return len(store.row(t).Leases)
		}
	}
	acquire := func(t *testing.T, s *slots.Slots, concurrency int) *slots.Turn {
		ask := slots.Ask{Policy: slots.Policy{Concurrency: concurrency}, Until: time.Now().Add(time.Hour)}
		turn, err := s.Acquire(t.Context(), "host", ask)
		if err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		return turn
	}
	synctest.Test(t, func(t *testing.T) {
		here, _, leases := begin(t)
		acquire(t, here, 1)
		go acquire(t, here, 1)
		synctest.Wait()
		go acquire(t, here, 2)
		if n := leases(); n != 2 {
			t.Errorf("%d leases, want the second given to the one whose policy allows it", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		here, there, leases := begin(t)
		turn := acquire(t, there, 1)
		go acquire(t, here, 1)
		synctest.Wait()
		if err := there.Release(t.Context(), turn); err != nil {
			t.Error(err)
		}
		go acquire(t, here, 1)
		if n := leases(); n != 1 {
			t.Errorf("%d leases, want the permit found that came back elsewhere", n)
		}
	})
}

// Only who holds no permit at all asks others to leave one: who holds some is
// given those that come back here.
func TestWhoHoldsAPermitDoesNotStarve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		s := slots.New(store, slots.Config{Wait: 100 * ms, Now: time.Now, Sleep: sleep})
		ask := slots.Ask{Policy: slots.Policy{Concurrency: 1}, Until: time.Now().Add(time.Hour)}
		if _, err := s.Acquire(t.Context(), "host", ask); err != nil {
			t.Fatal(err)
		}
		var refused *slots.Refusal
		if _, err := s.Acquire(t.Context(), "host", ask); !errors.As(err, &refused) || store.swaps != 1 {
			t.Errorf("err %v, %d writes; want a refusal without a write", err, store.swaps)
		}
	})
}
