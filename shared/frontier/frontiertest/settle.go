package frontiertest

import (
	"slices"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
)

func testSettle(t *testing.T, h Harness) {
	h.settle(t, jobA) // nothing
	h.mustPut(t, jobA, queued(spread(1)), queued(spread(2)), queued(spread(3)), queued(spread(4)))

	done := frontier.Settlement{Unit: spread(1), State: frontier.Done, Outcome: frontier.Outcome{Run: "run-1", Items: 3}}
	got := h.settle(t, jobA, done,
		frontier.Settlement{Unit: spread(99), State: frontier.Done}, // not there
		frontier.Settlement{Unit: spread(2), State: frontier.Dropped, Outcome: frontier.Outcome{Why: "robots"}},
		frontier.Settlement{Unit: spread(3), State: frontier.Failed, Outcome: frontier.Outcome{Why: "timeout"}},
	)
	if want := []bool{true, false, true, true}; !slices.Equal(got, want) {
		t.Errorf("settled %v, want %v", got, want)
	}
	if _, ok := h.get(t, jobA, spread(99))[spread(99)]; ok {
		t.Error("settling a unit that is not there made a row")
	}

	// Closed is final, and another run changes nothing.
	again := frontier.Settlement{Unit: spread(1), State: frontier.Failed, Outcome: frontier.Outcome{Run: "run-2", Items: 9, Why: "late"}}
	got = h.settle(t, jobA, again, frontier.Settlement{Unit: spread(4), State: frontier.Done})
	if want := []bool{false, true}; !slices.Equal(got, want) {
		t.Errorf("settled %v the second time, want %v", got, want)
	}
	want := queued(spread(1))
	want.State, want.Outcome = frontier.Done, done.Outcome
	h.wantRow(t, jobA, want)
	for n, state := range map[int]frontier.State{2: frontier.Dropped, 3: frontier.Failed, 4: frontier.Done} {
		if row := h.get(t, jobA, spread(n))[spread(n)]; row.State != state {
			t.Errorf("unit %d is %s, want %s", n, row.State, state)
		}
	}
}

func testSettleKeeps(t *testing.T, h Harness) {
	row := queued(spread(1))
	row.By, row.Priority, row.Depth, row.Marks, row.Rounds = spread(2), 5, 3, 2, 1
	h.mustPut(t, jobA, row)
	h.settle(t, jobA, frontier.Settlement{Unit: row.Unit, State: frontier.Done, Outcome: frontier.Outcome{Run: "r", Items: 1}})
	row.State, row.Outcome = frontier.Done, frontier.Outcome{Run: "r", Items: 1}
	h.wantRow(t, jobA, row)
}

func testSettleAtOnce(t *testing.T, h Harness) {
	const runs, units = 8, 20
	for n := range units {
		h.mustPut(t, jobA, queued(spread(n)))
	}
	var mu sync.Mutex
	winners := map[crawl.UnitID][]crawl.RunID{}
	var wg sync.WaitGroup
	for r := range runs {
		wg.Go(func() {
			run := crawl.NewRunID()
			batch := make([]frontier.Settlement, units)
			for n := range batch {
				batch[n] = frontier.Settlement{
					Unit: spread(n), State: frontier.Done,
					Outcome: frontier.Outcome{Run: run, Items: r},
				}
			}
			closed, err := h.Store.Settle(t.Context(), jobA, batch)
			if err != nil || len(closed) != units {
				t.Errorf("settle: %d answers (%v)", len(closed), err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for n, won := range closed {
				if won {
					winners[spread(n)] = append(winners[spread(n)], run)
				}
			}
		})
	}
	wg.Wait()

	for n := range units {
		u := spread(n)
		if len(winners[u]) != 1 {
			t.Fatalf("unit %d was closed by %d of %d runs, want 1", n, len(winners[u]), runs)
		}
		if row := h.get(t, jobA, u)[u]; row.Run != winners[u][0] {
			t.Errorf("unit %d names run %s, want the winner %s", n, row.Run, winners[u][0])
		}
	}
}

func (h Harness) mark(t *testing.T, u crawl.UnitID, want int) {
	t.Helper()
	got, err := h.Store.Mark(t.Context(), jobA, u)
	if err != nil || got != want {
		t.Errorf("mark: %d (%v), want %d", got, err, want)
	}
}

func testMark(t *testing.T, h Harness) {
	h.mark(t, spread(1), 0) // not there
	h.mustPut(t, jobA, queued(spread(1)), queued(spread(2)))
	h.mark(t, spread(1), 1)
	h.mark(t, spread(1), 2)
	h.mark(t, spread(2), 1)
	want := queued(spread(1))
	want.Marks = 2
	h.wantRow(t, jobA, want)

	h.settle(t, jobA, frontier.Settlement{Unit: spread(1), State: frontier.Failed})
	h.mark(t, spread(1), 0) // closed
	if row := h.get(t, jobA, spread(1))[spread(1)]; row.Marks != 2 {
		t.Errorf("a closed row has %d marks, want the 2 of before", row.Marks)
	}
}

func testMarkAtOnce(t *testing.T, h Harness) {
	const markers, each = 8, 10
	h.mustPut(t, jobA, queued(spread(1)))
	var mu sync.Mutex
	var sums []int
	var wg sync.WaitGroup
	for range markers {
		wg.Go(func() {
			for range each {
				n, err := h.Store.Mark(t.Context(), jobA, spread(1))
				if err != nil {
					t.Errorf("mark: %v", err)
				}
				mu.Lock()
				sums = append(sums, n)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(sums)
	for i, n := range sums {
		if n != i+1 {
			t.Fatalf("the sums are %v, want each of 1 to %d once", sums, markers*each)
		}
	}
}

func testRound(t *testing.T, h Harness) {
	round := func(rounds map[crawl.UnitID]int) {
		t.Helper()
		if err := h.Store.Round(t.Context(), jobA, rounds); err != nil {
			t.Fatalf("round: %v", err)
		}
	}
	round(nil)
	h.mustPut(t, jobA, queued(spread(1)), queued(spread(2)), queued(spread(3)))
	h.settle(t, jobA, frontier.Settlement{Unit: spread(3), State: frontier.Done})

	round(map[crawl.UnitID]int{spread(1): 1, spread(2): 5, spread(3): 2, spread(4): 1})
	round(map[crawl.UnitID]int{spread(2): 0})
	want := map[int]int{1: 1, 2: 0, 3: 0} // 3 is closed
	for n, rounds := range want {
		if row := h.get(t, jobA, spread(n))[spread(n)]; row.Rounds != rounds {
			t.Errorf("unit %d has %d rounds, want %d", n, row.Rounds, rounds)
		}
	}
	if rows := h.get(t, jobA, spread(4)); len(rows) != 0 {
		t.Error("a round for a unit that is not there made a row")
	}
}
