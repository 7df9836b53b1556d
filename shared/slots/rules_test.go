package slots_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/slots"
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
			"who comes early starts if the gate stands idle", second, 0.5,
			place{-1551 * ms, 3 * time.Second, none, nil}, 2 * time.Second,
			answer{0, none, time.Second, time.Second, 1, 1},
		},
		{
			"who comes early keeps the place though the slot was blocked until now", second, 0.5,
			place{-time.Hour, 3 * time.Second, 0, nil}, 2 * time.Second,
			answer{none, 2 * time.Second, -time.Hour, 3 * time.Second, 0, 0},
		},
		{
			"who comes early and finds a lease that has ended takes it out", second, 0.5,
			place{-100 * ms, 3 * time.Second, none, []time.Duration{-50 * ms}}, 2 * time.Second,
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
			"without a delay whoever comes takes a free permit", slots.Policy{Concurrency: 1}, 0.5,
			place{0, 0, none, nil}, none,
			answer{0, none, 0, 0, 1, 1},
		},
		{
			"without a delay who comes early takes a free permit", slots.Policy{Concurrency: 1}, 0.5,
			place{0, 0, none, nil}, 2 * time.Second,
			answer{0, none, 0, 0, 1, 1},
		},
		{
			"without a delay who comes early keeps the place where no permit is free", slots.Policy{Concurrency: 1}, 0.5,
			place{0, 0, none, []time.Duration{time.Minute}}, 2 * time.Second,
			answer{none, 2 * time.Second, 0, 0, 1, 0},
		},
		{
			"without a delay one permit is left to others who wait", slots.Policy{Concurrency: 2}, 0.5,
			place{0, 3 * time.Second, none, []time.Duration{time.Minute}}, none,
			answer{none, 100 * ms, 0, 3 * time.Second, 1, 0},
		},
		{
			"without a delay no more than one is", slots.Policy{Concurrency: 2}, 0.5,
			place{0, 3 * time.Second, none, nil}, none,
			answer{0, none, 0, 3 * time.Second, 1, 1},
		},
		{
			"without a delay none is when nobody has come for it", slots.Policy{Concurrency: 1}, 0.5,
			place{-451 * ms, 3 * time.Second, none, nil}, none,
			answer{0, none, 0, 0, 1, 1},
		},
		{
			"a line is not void while all permits are out", second, 0.5,
			place{-10 * time.Second, 3 * time.Second, none, []time.Duration{time.Minute}}, none,
			answer{none, 3 * time.Second, -10 * time.Second, 4 * time.Second, 1, 1},
		},
		{
			"a permit that is out for long is asked for more and more rarely", second, 0.5,
			place{-8 * time.Second, 500 * ms, none, []time.Duration{time.Minute}}, none,
			answer{none, time.Second, -8 * time.Second, 2 * time.Second, 1, 1},
		},
		{
			"but every few seconds at least", slots.Policy{Concurrency: 1}, 0.5,
			place{-time.Hour, -time.Hour, none, []time.Duration{time.Minute}}, none,
			answer{none, 7500 * ms, -time.Hour, 7600 * ms, 1, 1},
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
			"without a permit it is told when one comes back, and writes that it starves", slots.Policy{Concurrency: 2}, 0.5,
			place{0, 0, none, []time.Duration{time.Minute, time.Minute}}, none,
			answer{none, 100 * ms, 0, 200 * ms, 2, 1},
		},
		{
			"who was told goes on waiting where no permit is free", slots.Policy{Concurrency: 1}, 0.5,
			place{0, time.Second, none, []time.Duration{time.Minute}}, 0,
			answer{none, 200 * ms, 0, time.Second, 1, 0},
		},
		{
			"a lease that has ended frees its permit", second, 0.5,
			place{-time.Second, none, none, []time.Duration{-50 * ms}}, none,
			answer{0, none, time.Second, time.Second, 1, 1},
		},
		{
			"a lease counts for the slack longer, since its holder's clock may be late", second, 0.5,
			place{-time.Second, none, none, []time.Duration{-49 * ms}}, none,
			answer{none, 200 * ms, -time.Second, 1200 * ms, 1, 1},
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
			synctest.Test(t, func(t *testing.T) {
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
		})
	}
}
