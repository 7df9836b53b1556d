// Package slotrowstest holds the tests that every family's slot rows must
// pass: the contract of package slotrows, sentence by sentence.
//
// It leaves to the adapters what becomes of the leases of a process that was
// killed.
package slotrowstest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skitterhq/skitter/shared/slotrows"
)

// A Harness is one family under test, without rows.
type Harness struct {
	Store slotrows.Store
}

// Run tests the stores that open returns, a fresh one for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"a slot that is not there is the zero row", testUnknown},
		{"a row comes back as it was written", testRoundTrip},
		{"swap wants the version that stands there", testVersion},
		{"slots are apart", testApart},
		{"leases belong to the process that wrote them", testProcess},
		{"rows belong to their owners", testCopies},
		{"of many swaps of a version one wins", testAtOnce},
		{"read, change, swap, again: no change is lost", testCounter},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func at(second int) time.Time { return time.Date(2026, 3, 1, 12, 0, second, 987654321, time.UTC) }

func (h Harness) get(t *testing.T, slot string) slotrows.Row {
	t.Helper()
	row, err := h.Store.Get(t.Context(), slot)
	if err != nil {
		t.Fatalf("get %s: %v", slot, err)
	}
	return row
}

func (h Harness) swap(t *testing.T, slot string, row slotrows.Row, want bool) {
	t.Helper()
	did, err := h.Store.Swap(t.Context(), slot, row)
	if err != nil || did != want {
		t.Fatalf("swap version %d of %s: %t (%v), want %t", row.Version, slot, did, err, want)
	}
}

// wantRow compares all but the leases' processes, which are the family's.
func wantRow(t *testing.T, got, want slotrows.Row) {
	t.Helper()
	opts := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(slotrows.Lease{}, "Process")}
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Errorf("mismatch (-want, +got):\n%s", diff)
	}
}

func testUnknown(t *testing.T, h Harness) {
	wantRow(t, h.get(t, "example.com"), slotrows.Row{})
}

func testRoundTrip(t *testing.T, h Harness) {
	full := slotrows.Row{
		Gate: at(1), Tail: at(2), BlockedUntil: at(3),
		Leases: []slotrows.Lease{{ID: "a", Until: at(4)}, {ID: "größer", Until: at(5)}},
	}
	h.swap(t, "example.com", full, true)
	full.Version = 1
	wantRow(t, h.get(t, "example.com"), full)

	// Zero times and no leases come back as such.
	h.swap(t, "example.com", slotrows.Row{Version: 1}, true)
	wantRow(t, h.get(t, "example.com"), slotrows.Row{Version: 2})
}

func testVersion(t *testing.T, h Harness) {
	h.swap(t, "s", slotrows.Row{Version: 5, Gate: at(9)}, false) // none stands there
	wantRow(t, h.get(t, "s"), slotrows.Row{})
	h.swap(t, "s", slotrows.Row{Gate: at(1)}, true)
	h.swap(t, "s", slotrows.Row{Gate: at(9)}, false) // one stands there
	h.swap(t, "s", slotrows.Row{Version: 2, Gate: at(9)}, false)
	h.swap(t, "s", slotrows.Row{Version: 1, Gate: at(2)}, true)
	h.swap(t, "s", slotrows.Row{Version: 1, Gate: at(9)}, false)
	wantRow(t, h.get(t, "s"), slotrows.Row{Version: 2, Gate: at(2)})
}

func testApart(t *testing.T, h Harness) {
	h.swap(t, "a", slotrows.Row{Gate: at(1)}, true)
	wantRow(t, h.get(t, "b"), slotrows.Row{})
	h.swap(t, "b", slotrows.Row{Gate: at(2)}, true)
	wantRow(t, h.get(t, "a"), slotrows.Row{Version: 1, Gate: at(1)})
}

func testProcess(t *testing.T, h Harness) {
	h.swap(t, "a", slotrows.Row{Leases: []slotrows.Lease{{ID: "1", Until: at(1)}}}, true)
	h.swap(t, "b", slotrows.Row{Leases: []slotrows.Lease{{ID: "2", Until: at(1)}}}, true)
	a, b := h.get(t, "a"), h.get(t, "b")
	if len(a.Leases) != 1 || len(b.Leases) != 1 {
		t.Fatalf("%d and %d leases, want 1 and 1", len(a.Leases), len(b.Leases))
	}
	if a.Leases[0].Process != b.Leases[0].Process {
		t.Errorf("one process wrote leases of %q and %q", a.Leases[0].Process, b.Leases[0].Process)
	}
	// A lease that was there stays its holder's.
	a.Leases = append(a.Leases, slotrows.Lease{ID: "3", Until: at(1)})
	h.swap(t, "a", a, true)
	for _, l := range h.get(t, "a").Leases {
		if l.Process != a.Leases[0].Process {
			t.Errorf("lease %s is of process %q, want %q", l.ID, l.Process, a.Leases[0].Process)
		}
	}
}

func testCopies(t *testing.T, h Harness) {
	want := slotrows.Row{Version: 1, Leases: []slotrows.Lease{{ID: "a", Until: at(1)}}}
	row := slotrows.Row{Leases: []slotrows.Lease{{ID: "a", Until: at(1)}}}
	h.swap(t, "s", row, true)
	row.Leases[0].ID = "changed"
	wantRow(t, h.get(t, "s"), want)
	h.get(t, "s").Leases[0].ID = "changed"
	wantRow(t, h.get(t, "s"), want)
}

func testAtOnce(t *testing.T, h Harness) {
	const writers = 8
	for version := range int64(3) {
		did := make([]bool, writers)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				var err error
				row := slotrows.Row{Version: version, Leases: []slotrows.Lease{{ID: fmt.Sprint(w), Until: at(w)}}}
				if did[w], err = h.Store.Swap(t.Context(), "s", row); err != nil {
					t.Errorf("swap: %v", err)
				}
			})
		}
		wg.Wait()
		var winners []string
		for w := range writers {
			if did[w] {
				winners = append(winners, fmt.Sprint(w))
			}
		}
		row := h.get(t, "s")
		if len(winners) != 1 || row.Version != version+1 || row.Leases[0].ID != winners[0] {
			t.Fatalf("swaps %v won, and version %d of %s stands there, want one winner that stands", winners, row.Version, row.Leases[0].ID)
		}
	}
}

func testCounter(t *testing.T, h Harness) {
	const writers, each = 4, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := 0; n < each; {
				row, err := h.Store.Get(t.Context(), "s")
				if err != nil {
					t.Errorf("get: %v", err)
					return
				}
				row.Leases = append(row.Leases, slotrows.Lease{ID: fmt.Sprintf("%d-%d", w, n), Until: at(1)})
				did, err := h.Store.Swap(t.Context(), "s", row)
				if err != nil {
					t.Errorf("swap: %v", err)
					return
				}
				if did {
					n++
				}
			}
		})
	}
	wg.Wait()
	if row := h.get(t, "s"); len(row.Leases) != writers*each || row.Version != writers*each {
		t.Errorf("%d leases and version %d after %d additions", len(row.Leases), row.Version, writers*each)
	}
}
