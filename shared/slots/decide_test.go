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

// rows are a store whose calls are counted, and can be held up or fail.
type rows struct {
	slotrows.Store

	mu     sync.Mutex
	gets   int
	swaps  int
	onGet  func(n int) error         // called before the nth read
	onSwap func(n int) (bool, error) // false: another has written meanwhile
}

func newRows() *rows { return &rows{Store: memory.NewSlotRows()} }

func (r *rows) Get(ctx context.Context, slot string) (slotrows.Row, error) {
	r.mu.Lock()
	r.gets++
	n := r.gets
	r.mu.Unlock()
	if r.onGet != nil {
		if err := r.onGet(n); err != nil {
			return slotrows.Row{}, err
		}
	}
	return r.Store.Get(ctx, slot)
}

func (r *rows) Swap(ctx context.Context, slot string, row slotrows.Row) (bool, error) {
	r.mu.Lock()
	r.swaps++
	n := r.swaps
	r.mu.Unlock()
	if r.onSwap != nil {
		if ok, err := r.onSwap(n); !ok || err != nil {
			return false, err
		}
	}
	return r.Store.Swap(ctx, slot, row)
}

// preset writes a row as others have left it.
func (r *rows) preset(t *testing.T, row slotrows.Row) {
	t.Helper()
	if ok, err := r.Store.Swap(t.Context(), "host", row); !ok || err != nil {
		t.Fatalf("preset the row: %t, %v", ok, err)
	}
}

func (r *rows) row(t *testing.T) slotrows.Row {
	t.Helper()
	row, err := r.Store.Get(t.Context(), "host")
	if err != nil {
		t.Fatal(err)
	}
	return row
}

const (
	ms   = time.Millisecond
	none = time.Duration(-1 << 62) // a time that is not set
)

// TestTheRulesOfTheLine has one ask find one row. All times are from now.
func TestTheRulesOfTheLine(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time {
		if d == none {
			return time.Time{}
		}
		return now.Add(d)
	}
	since := func(at time.Time) time.Duration {
		if at.IsZero() {
			return none
		}
		return at.Sub(now)
	}
	second := slots.Policy{Concurrency: 1, Delay: time.Second}
	random := slots.Policy{Concurrency: 1, Delay: time.Second, Randomize: true}
	// A place is a row's clocks and how long its leases still run.
	type place struct {
		gate, tail, blocked time.Duration
		leases              []time.Duration
	}
	type answer struct {
		start, refused time.Duration // one of them is set
		gate, tail     time.Duration // as the row has them then
		leases         int
		writes         int
	}
	tests := []struct {
		name   string
		policy slots.Policy
		draw   float64
		row    place
		told   time.Duration
		want   answer
	}{
		{
			"the first of all starts at once", second, 0.5,
			place{none, none, none, nil}, none,
			answer{0, none, time.Second, time.Second, 1, 1},
		},
		{
			"a gate that opens soon is waited for", second, 0.5,
			place{100 * ms, 100 * ms, none, nil}, none,
			answer{100 * ms, none, 1100 * ms, 1100 * ms, 1, 1},
		},
		{
			"a gate that opens later is come back for, at the head of the line", second, 0.5,
			place{101 * ms, 101 * ms, none, nil}, none,
			answer{none, 101 * ms, 101 * ms, 1101 * ms, 0, 1},
		},
		{
			"a newcomer goes to the end of a line, though the gate is open", second, 0.5,
			place{-100 * ms, 3 * time.Second, none, nil}, none,
			answer{none, 3 * time.Second, -100 * ms, 4 * time.Second, 0, 1},
		},
		{
			"a newcomer need not go to the end of a line that ends soon", second, 0.5,
			place{-100 * ms, 100 * ms, none, nil}, none,
			answer{0, none, time.Second, time.Second, 1, 1},
		},
		{
			"who was told takes the open gate, and the line stays", second, 0.5,
			place{0, 3 * time.Second, none, nil}, 0,
			answer{0, none, time.Second, 3 * time.Second, 1, 1},
		},
		{
			"who was told and comes late takes the open gate", second, 0.5,
			place{-100 * ms, 3 * time.Second, none, nil}, -5 * time.Second,
			answer{0, none, time.Second, 3 * time.Second, 1, 1},
		},
		{
			"who was told comes back to a gate that another took, and goes to the end", second, 0.5,
			place{time.Second, 3 * time.Second, none, nil}, 0,
			answer{none, 3 * time.Second, time.Second, 4 * time.Second, 0, 1},
		},
		{
			"who comes early keeps the place without a write", second, 0.5,
			place{-100 * ms, 3 * time.Second, none, nil}, 2 * time.Second,
			answer{none, 2 * time.Second, -100 * ms, 3 * time.Second, 0, 0},
		},
		{
			"who comes early keeps the place though the slot is idle", second, 0.5,
			place{-time.Hour, -time.Hour, none, nil}, 101 * ms,
			answer{none, 101 * ms, -time.Hour, -time.Hour, 0, 0},
		},
		{
			"who comes early and finds a lease that has ended takes it out", second, 0.5,
			place{-100 * ms, 3 * time.Second, none, []time.Duration{0}}, 2 * time.Second,
			answer{none, 2 * time.Second, -100 * ms, 3 * time.Second, 0, 1},
		},
		{
			"who comes a little early waits for the gate here", second, 0.5,
			place{20 * ms, 3 * time.Second, none, nil}, 100 * ms,
			answer{20 * ms, none, 1020 * ms, 3 * time.Second, 1, 1},
		},
		{
			"a line whose gate stands idle is void", second, 0.5,
			place{-1551 * ms, 3 * time.Second, none, nil}, none,
			answer{0, none, time.Second, time.Second, 1, 1},
		},
		{
			"a line whose gate has been open for the longest delay is not void yet", second, 0.5,
			place{-1550 * ms, 3 * time.Second, none, nil}, none,
			answer{none, 3 * time.Second, -1550 * ms, 4 * time.Second, 0, 1},
		},
		{
			"a line without a delay is void soon", slots.Policy{Concurrency: 1}, 0.5,
			place{-251 * ms, 3 * time.Second, none, nil}, none,
			answer{0, none, 0, 0, 1, 1},
		},
		{
			"a line is not void while all permits are out", second, 0.5,
			place{-time.Hour, 3 * time.Second, none, []time.Duration{time.Minute}}, none,
			answer{none, 3 * time.Second, -time.Hour, 4 * time.Second, 1, 1},
		},
		{
			"a line is not void by the time that the slot was blocked", second, 0.5,
			place{-time.Hour, 3 * time.Second, -time.Second, nil}, none,
			answer{none, 3 * time.Second, -time.Hour, 4 * time.Second, 0, 1},
		},
		{
			"a blocked slot lets nobody start", second, 0.5,
			place{-time.Second, none, time.Minute, nil}, none,
			answer{none, time.Minute, -time.Second, 61 * time.Second, 0, 1},
		},
		{
			"a blocked slot lets nobody start who was told", second, 0.5,
			place{-time.Second, 3 * time.Second, time.Minute, nil}, 0,
			answer{none, time.Minute, -time.Second, 61 * time.Second, 0, 1},
		},
		{
			"a block that ends soon is waited for", second, 0.5,
			place{-time.Second, none, 80 * ms, nil}, none,
			answer{80 * ms, none, 1080 * ms, 1080 * ms, 1, 1},
		},
		{
			"a second permit is given while the first is out", slots.Policy{Concurrency: 2, Delay: time.Second}, 0.5,
			place{0, 0, none, []time.Duration{time.Minute}}, none,
			answer{0, none, time.Second, time.Second, 2, 1},
		},
		{
			"without a permit the line moves as permits come back", slots.Policy{Concurrency: 2}, 0.5,
			place{0, 0, none, []time.Duration{time.Minute, time.Minute}}, none,
			answer{none, 100 * ms, 0, 200 * ms, 2, 1},
		},
		{
			"who was told goes on waiting where no permit is free", slots.Policy{Concurrency: 1}, 0.5,
			place{0, time.Second, none, []time.Duration{time.Minute}}, 0,
			answer{none, time.Second, 0, 1200 * ms, 1, 1},
		},
		{
			"a lease that has ended frees its permit", second, 0.5,
			place{-time.Second, none, none, []time.Duration{0}}, none,
			answer{0, none, time.Second, time.Second, 1, 1},
		},
		{
			"a randomized delay opens the gate after half of it, and draws the place", random, 1,
			place{none, none, none, nil}, none,
			answer{0, none, 500 * ms, 1500 * ms, 1, 1},
		},
		{
			"the shortest draw is half of the delay", random, 0,
			place{2 * time.Second, 2 * time.Second, none, nil}, none,
			answer{none, 2 * time.Second, 2 * time.Second, 2500 * ms, 0, 1},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := newRows()
			preset := slotrows.Row{Gate: at(test.row.gate), Tail: at(test.row.tail), BlockedUntil: at(test.row.blocked)}
			for k, d := range test.row.leases {
				preset.Leases = append(preset.Leases, slotrows.Lease{ID: fmt.Sprint(k), Until: at(d)})
			}
			store.preset(t, preset)
			s := slots.New(store, slots.Config{
				Slack: 50 * ms, Wait: 100 * ms, Now: func() time.Time { return now }, Draw: func() float64 { return test.draw },
			})
			turn, err := s.Acquire(t.Context(), "host", slots.Ask{Policy: test.policy, Told: at(test.told), Until: at(time.Hour)})
			got := answer{start: none, refused: none, writes: store.swaps}
			var refused *slots.Refusal
			switch {
			case err == nil:
				got.start = since(turn.Start)
				if !turn.Until.Equal(at(time.Hour)) {
					t.Errorf("the turn ends %s, want when it was asked to", turn.Until)
				}
			case errors.As(err, &refused):
				got.refused = since(refused.At)
			default:
				t.Fatal(err)
			}
			row := store.row(t)
			got.gate, got.tail, got.leases = since(row.Gate), since(row.Tail), len(row.Leases)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(answer{})); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
		})
	}
}

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
		all.Wait()
		if store.gets != 2 || store.swaps != 2 {
			t.Errorf("%d reads and %d writes, want 2 of each: one for the first, one for all others", store.gets, store.swaps)
		}
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
			return nil
		}
		if _, err := s.Acquire(ctx, "host", ask); err != nil {
			t.Errorf("who works the row while its context ends: %v", err)
		}
		if _, err := s.Acquire(t.Context(), "host", ask); err != nil {
			t.Errorf("the next: %v", err)
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
			store := newRows()
			s := slots.New(store, slots.Config{Wait: ms, Now: time.Now})
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
