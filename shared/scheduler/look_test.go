package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/scheduler"
)

// A row that a stale read misses is read again strongly; the rest is not.
func TestReadReadsWhatIsMissingAgainStrongly(t *testing.T) {
	w := newWorld(t, memory.Stale())
	w.admitted(child("p", "new"), child("p", "old"))
	w.settle("old", frontier.Done, "run", 2)
	w.calls = nil
	rows, err := w.Read(t.Context(), job, []crawl.UnitID{unit("old"), unit("new"), unit("never")})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]frontier.State{}
	for u, row := range rows {
		got[name(u)] = row.State
	}
	// What was found may be stale by one write; what was missing is not.
	want := map[string]frontier.State{"old": frontier.Queued, "new": frontier.Queued}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want, +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"get 3 eventually", "get 2 strongly"}, w.calls); diff != "" {
		t.Errorf("calls (-want, +got):\n%s", diff)
	}
}

func TestReadReadsOnceWhereAllIsFound(t *testing.T) {
	w := newWorld(t)
	w.admitted(child("p", "a"))
	if _, err := w.Read(t.Context(), job, []crawl.UnitID{unit("a")}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"get 1 eventually"}, w.calls); diff != "" {
		t.Errorf("calls (-want, +got):\n%s", diff)
	}
	for _, call := range []string{"get 1 eventually", "get 1 strongly"} {
		w.fail = failAt(call)
		if rows, err := w.Read(t.Context(), job, []crawl.UnitID{unit("never")}); !errors.Is(err, errPort) || rows != nil {
			t.Errorf("%s fails: rows %v, err %v", call, rows, err)
		}
	}
}

func TestSettleCountsOnce(t *testing.T) {
	w := newWorld(t)
	w.admitted(child("p", "a"))
	first := frontier.Settlement{Unit: unit("a"), State: frontier.Done, Outcome: frontier.Outcome{Run: "first", Items: 1}}
	second := frontier.Settlement{Unit: unit("a"), State: frontier.Failed, Outcome: frontier.Outcome{Run: "second", Why: "late"}}
	never := frontier.Settlement{Unit: unit("never"), State: frontier.Done}
	for k, list := range [][]frontier.Settlement{{first, never}, {second}, {first}, nil} {
		won, err := w.Settle(t.Context(), job, list)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]bool, len(list))
		if k == 0 {
			want[0] = true
		}
		if !slices.Equal(won, want) {
			t.Errorf("settlement %d: %v, want %v", k, won, want)
		}
	}
	if row := w.row("a"); row.State != frontier.Done || row.Run != "first" {
		t.Errorf("row %+v, want it as the first settled it", row)
	}
	w.fail = failAt("settle 1")
	if _, err := w.Settle(t.Context(), job, []frontier.Settlement{first}); !errors.Is(err, errPort) {
		t.Errorf("err %v, want the port's", err)
	}
}

// scans are the two reads of the join.
var scans = []string{"scan rows", "scan items"}

// onePass is how many reads one pass over the rows and items of a small job
// takes, rowsPass how many one over the rows alone.
const (
	onePass  = 2 * frontier.Shards
	rowsPass = frontier.Shards
)

func TestLook(t *testing.T) {
	tests := []struct {
		name string
		make func(*world)
		done bool
		want scheduler.Tally
	}{
		{"a closed row without items", func(w *world) { w.settle("a", frontier.Failed, "", 0) }, true, scheduler.Tally{Rows: 1, Failed: 1}},
		{"an open row", func(*world) {}, false, scheduler.Tally{Rows: 1, Queued: 1}},
		{
			"items of a row that is open do not count", func(w *world) { w.put("a", "", items.Stored) },
			false, scheduler.Tally{Rows: 1, Queued: 1},
		},
		{"all items are there", func(w *world) {
			w.settle("a", frontier.Done, "run", 4)
			w.put("a", "run", items.Stored, items.Dropped, items.Dead, items.Stored)
		}, true, scheduler.Tally{Rows: 1, Done: 1, Stored: 2, ItemsDropped: 1, Dead: 1}},
		{"an item is missing", func(w *world) {
			w.settle("a", frontier.Done, "run", 2)
			w.put("a", "run", items.Stored)
		}, false, scheduler.Tally{Rows: 1, Done: 1, Stored: 1}},
		{"the items of a run that lost do not make up for it", func(w *world) {
			w.settle("a", frontier.Done, "run", 2)
			w.put("a", "run", items.Stored)
			w.put("a", "lost", items.Stored)
			w.put("a", "zz", items.Stored)
		}, false, scheduler.Tally{Rows: 1, Done: 1, Stored: 1}},
		{"the items of a run that lost are not too many", func(w *world) {
			w.settle("a", frontier.Done, "run", 1)
			w.put("a", "lost", items.Stored, items.Stored)
			w.put("a", "run", items.Stored)
			w.put("a", "zz", items.Dead)
		}, true, scheduler.Tally{Rows: 1, Done: 1, Stored: 1}},
		{"items of units that have no row are passed over", func(w *world) {
			w.settle("a", frontier.Dropped, "run", 1)
			w.put("a", "run", items.Stored)
			w.put("`", "run", items.Stored) // just before a, in its shard
			w.put("aa", "run", items.Stored)
		}, true, scheduler.Tally{Rows: 1, Dropped: 1, Stored: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.admitted(child("p", "a"))
			test.make(w)
			w.calls = nil
			got, done, err := w.Look(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want || done != test.done {
				t.Errorf("done %t, tally %+v; want %t, %+v", done, got, test.done, test.want)
			}
			if n := w.count(scans...); test.done && n != rowsPass+onePass {
				t.Errorf("%d reads, want a pass of %d and one of %d", n, rowsPass, onePass)
			}
			if tally, err := w.Tally(t.Context(), job); err != nil || tally != test.want {
				t.Errorf("tally %+v, err %v; want %+v", tally, err, test.want)
			}
		})
	}
}

func TestTheStartCountsAsARowOnly(t *testing.T) {
	for state, want := range map[frontier.State]scheduler.Tally{
		frontier.Done:   {Rows: 1, Started: true},
		frontier.Failed: {Rows: 1, Started: true, StartFailed: true},
	} {
		w := newWorld(t)
		if err := w.PutStart(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Settle(t.Context(), job, []frontier.Settlement{{Unit: crawl.StartUnit, State: state}}); err != nil {
			t.Fatal(err)
		}
		if got, done, err := w.Look(t.Context(), job); err != nil || !done || got != want {
			t.Errorf("start %s: done %t, tally %+v, err %v; want %+v", state, done, got, err, want)
		}
	}
}

// Between the passes a parent that the first one had not reached admits a
// child that the first one had passed, and both are closed before the second:
// nothing is open in either pass, yet the job was at work.
func TestTwoPassesThatCountDifferentlyAreNotTheEnd(t *testing.T) {
	w := newWorld(t)
	w.admitted(child("p", "m"))
	w.settle("m", frontier.Done, "", 0)
	reads := 0
	w.before = func(call string) {
		if !slices.Contains(scans, call) {
			return
		}
		if reads++; reads == rowsPass+1 {
			w.before = nil
			w.admitted(child("m", "a"))
			w.settle("a", frontier.Done, "", 0)
		}
	}
	got, done, err := w.Look(t.Context(), job)
	if err != nil || done || got.Rows != 2 {
		t.Errorf("done %t, tally %+v, err %v; want it not done with two rows", done, got, err)
	}
	if _, done, err := w.Look(t.Context(), job); err != nil || !done {
		t.Errorf("the next look: done %t, err %v; want it done", done, err)
	}
}

// A row that opens between the passes is found by the second.
func TestTheSecondPassFindsWhatIsOpen(t *testing.T) {
	w := newWorld(t)
	w.admitted(child("p", "m"))
	w.settle("m", frontier.Done, "", 0)
	reads := 0
	w.before = func(call string) {
		if !slices.Contains(scans, call) {
			return
		}
		if reads++; reads == rowsPass+1 {
			w.before = nil
			w.admitted(child("m", "a"))
		}
	}
	if got, done, err := w.Look(t.Context(), job); err != nil || done || got.Queued != 1 {
		t.Errorf("done %t, tally %+v, err %v; want one queued", done, got, err)
	}
}

func TestTheWitnessMakesALookOneRead(t *testing.T) {
	w := newWorld(t)
	w.admitted(child("p", "a"), child("p", "b"))
	look := func(want bool, calls int, why string) {
		t.Helper()
		w.calls = nil
		_, done, err := w.Look(t.Context(), job)
		if err != nil || done != want {
			t.Errorf("%s: done %t, err %v; want %t", why, done, err, want)
		}
		if calls > 0 && len(w.calls) != calls {
			t.Errorf("%s: calls %v, want %d", why, w.calls, calls)
		}
	}
	look(false, 0, "the first look")
	look(false, 1, "as long as the witness is open")
	if diff := cmp.Diff([]string{"get 1 strongly"}, w.calls); diff != "" {
		t.Errorf("calls (-want, +got):\n%s", diff)
	}
	w.settle("b", frontier.Done, "", 0)
	look(false, 1, "though another row was closed")
	w.settle("a", frontier.Done, "run", 1)
	look(false, 0, "the witness is closed, and its item is missing")
	w.put("a", "run", items.Stored)
	look(true, 1+rowsPass+onePass, "the witness is whole")
	look(true, rowsPass+onePass, "no witness is left")

	// Another job's witness says nothing about this one.
	if _, err := w.Admit(t.Context(), "other", []scheduler.Child{child("p", "a")}); err != nil {
		t.Fatal(err)
	}
	if _, done, err := w.Look(t.Context(), "other"); err != nil || done {
		t.Errorf("the other job: done %t, err %v; want it open", done, err)
	}
	look(true, rowsPass+onePass, "with another job open")
}

// A witness must not be read stale: it would be open for ever.
func TestTheWitnessIsReadStrongly(t *testing.T) {
	w := newWorld(t, memory.Stale())
	w.admitted(child("p", "a"))
	if _, done, err := w.Look(t.Context(), job); err != nil || done {
		t.Fatalf("done %t, err %v", done, err)
	}
	w.settle("a", frontier.Done, "", 0)
	if _, done, err := w.Look(t.Context(), job); err != nil || !done {
		t.Errorf("done %t, err %v; want it done", done, err)
	}
}

func TestLookErrors(t *testing.T) {
	for _, call := range []string{"scan rows", "scan items", "get 1 strongly"} {
		w := newWorld(t)
		w.admitted(child("p", "a"))
		if call == "get 1 strongly" {
			if _, _, err := w.Look(t.Context(), job); err != nil { // makes a witness
				t.Fatal(err)
			}
		} else {
			w.settle("a", frontier.Done, "", 0)
		}
		w.fail = failAt(call)
		if _, done, err := w.Look(t.Context(), job); !errors.Is(err, errPort) || done {
			t.Errorf("%s fails: done %t, err %v", call, done, err)
		}
	}
}

// A pass that could not be read whole counts nothing as done.
func TestAnErrorInTheSecondPassIsNotTheEnd(t *testing.T) {
	w := newWorld(t)
	w.admitted(child("p", "a"))
	w.settle("a", frontier.Done, "", 0)
	reads := 0
	w.fail = func(string) error {
		if reads++; reads > rowsPass {
			return errPort
		}
		return nil
	}
	if _, done, err := w.Look(t.Context(), job); !errors.Is(err, errPort) || done {
		t.Errorf("done %t, err %v", done, err)
	}
}

// The join goes over more than one page of rows and of items, and over all
// shards.
func TestTheJoinReadsOnPastAPage(t *testing.T) {
	const rows, itemsOfLast = 1100, 1100 // a page has 500
	w := newWorld(t)
	var children []scheduler.Child
	var list []frontier.Settlement
	var last []items.State
	for range itemsOfLast {
		last = append(last, items.Stored)
	}
	for shard := range frontier.Shards {
		n := 1
		if shard == 3 {
			n = rows
		}
		for k := range n {
			u := crawl.UnitID{byte(shard * 16), byte(k >> 8), byte(k), 1}
			children = append(children, scheduler.Child{Unit: u, Request: &crawl.Request{URL: fmt.Sprintf("http://a/%d/%d", shard, k)}})
			s := frontier.Settlement{Unit: u, State: frontier.Done, Outcome: frontier.Outcome{Run: "run", Items: 1}}
			states := []items.State{items.Stored}
			if k == rows-1 {
				s.Items, states = itemsOfLast, last
			}
			list = append(list, s)
			w.put(string(u[:]), "run", states...)
		}
	}
	w.admitted(children...)
	if _, err := w.Settle(t.Context(), job, list); err != nil {
		t.Fatal(err)
	}
	units := len(children)
	want := scheduler.Tally{Rows: units, Done: units, Stored: units - 1 + itemsOfLast}
	if got, done, err := w.Look(t.Context(), job); err != nil || !done || got != want {
		t.Errorf("done %t, tally %+v, err %v; want %+v", done, got, err, want)
	}
	n := 0
	for _, err := range w.Output(t.Context(), job) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != want.Stored {
		t.Errorf("%d items of output, want %d", n, want.Stored)
	}
}

func TestOutputIsOfTheRunThatCounts(t *testing.T) {
	w := newWorld(t)
	w.admitted(child("p", "b"), child("p", "a"), child("p", "open"), child("p", "without"))
	for _, run := range []crawl.RunID{"1", "2", "3"} {
		w.put("a", run, items.Stored, items.Stored)
	}
	w.put("b", "run", items.Dropped, items.Stored, items.Dead, items.Stored)
	w.put("open", "", items.Stored)
	w.put("open", "run", items.Stored)
	w.put("aa", "", items.Stored) // has no row
	w.put("without", "run", items.Stored)
	w.settle("a", frontier.Done, "2", 2)
	w.settle("b", frontier.Failed, "run", 4)
	w.settle("without", frontier.Dropped, "", 0)

	var got []string
	for row, err := range w.Output(t.Context(), job) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s/%s/%d", name(row.Unit), row.Run, row.Ordinal))
	}
	want := []string{"a/2/0", "a/2/1", "b/run/1", "b/run/3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output (-want, +got):\n%s", diff)
	}

	// Whoever has enough may stop anywhere.
	for stop := 1; stop <= len(want); stop++ {
		n := 0
		for range w.Output(t.Context(), job) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("stopped after %d items, want %d", n, stop)
		}
	}
}

func TestOutputErrors(t *testing.T) {
	for _, call := range scans {
		w := newWorld(t)
		w.admitted(child("p", "a"))
		w.put("a", "run", items.Stored)
		w.settle("a", frontier.Done, "run", 1)
		w.fail = failAt(call)
		var errs []error
		for _, err := range w.Output(t.Context(), job) {
			errs = append(errs, err)
		}
		if len(errs) != 1 || !errors.Is(errs[0], errPort) {
			t.Errorf("%s fails: errors %v, want that alone", call, errs)
		}
	}
}
