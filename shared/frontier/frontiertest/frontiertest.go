// Package frontiertest holds the tests that every family's frontier must
// pass: the contract of package frontier, sentence by sentence.
package frontiertest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
)

// A Harness is one family under test, with an empty frontier.
type Harness struct {
	Store frontier.Store
}

const (
	jobA = crawl.JobUID("aaaaaaaaaaaaaaaaaaaaaaaa")
	jobB = crawl.JobUID("bbbbbbbbbbbbbbbbbbbbbbbb")
)

// Run tests the frontiers that open returns, a fresh one for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"a row comes back as it was put", testRoundTrip},
		{"rows belong to their owners", testCopies},
		{"what is not there is not found", testGetUnknown},
		{"InterleavingO: a strong read finds what was just written", testStrong},
		{"put writes only what is not there", testPut},
		{"jobs are apart", testJobsApart},
		{"of many puts of a unit one wins", testPutAtOnce},
		{"settle closes what is queued, once", testSettle},
		{"settle keeps what it does not name", testSettleKeeps},
		{"InterleavingE: of many settlements of a unit one wins", testSettleAtOnce},
		{"mark counts on a queued row", testMark},
		{"marks at once are all counted", testMarkAtOnce},
		{"round sets rounds of queued rows", testRound},
		{"scan reads each shard in order", testScan},
		{"scan goes on after a unit", testScanPages},
		{"InterleavingF: a row put behind the reader is found at the next look", testScanBehind},
		{"scan while rows are put is ordered and misses none that were there", testScanAtOnce},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// unit is the n-th unit of a shard, in the order of units.
func unit(shard, n int) crawl.UnitID {
	return crawl.UnitID{0: byte(shard * 256 / frontier.Shards), 18: byte(n >> 8), 19: byte(n)}
}

// spread is the n-th of units that lie all over the shards.
func spread(n int) crawl.UnitID {
	return crawl.RepeatUnit(crawl.StartUnit, [20]byte{}, n)
}

func queued(u crawl.UnitID) frontier.Row {
	return frontier.Row{Unit: u, State: frontier.Queued, Req: fmt.Appendf(nil, "request %s", u)}
}

func (h Harness) put(t *testing.T, job crawl.JobUID, rows ...frontier.Row) []*frontier.Row {
	t.Helper()
	stands, err := h.Store.Put(t.Context(), job, rows)
	if err != nil {
		t.Fatalf("put %d rows: %v", len(rows), err)
	}
	if len(stands) != len(rows) {
		t.Fatalf("put %d rows, %d answers", len(rows), len(stands))
	}
	return stands
}

// mustPut puts rows that are new.
func (h Harness) mustPut(t *testing.T, job crawl.JobUID, rows ...frontier.Row) {
	t.Helper()
	for i, row := range h.put(t, job, rows...) {
		if row != nil {
			t.Fatalf("row %s was there already", rows[i].Unit)
		}
	}
}

func (h Harness) settle(t *testing.T, job crawl.JobUID, s ...frontier.Settlement) []bool {
	t.Helper()
	closed, err := h.Store.Settle(t.Context(), job, s)
	if err != nil {
		t.Fatalf("settle %d rows: %v", len(s), err)
	}
	if len(closed) != len(s) {
		t.Fatalf("settle %d rows, %d answers", len(s), len(closed))
	}
	return closed
}

func (h Harness) get(t *testing.T, job crawl.JobUID, units ...crawl.UnitID) map[crawl.UnitID]frontier.Row {
	t.Helper()
	rows, err := h.Store.Get(t.Context(), job, units, frontier.Strong)
	if err != nil {
		t.Fatalf("get %d rows: %v", len(units), err)
	}
	return rows
}

// wantRow fails unless the row that stands there is the one wanted.
func (h Harness) wantRow(t *testing.T, job crawl.JobUID, want frontier.Row) {
	t.Helper()
	row, ok := h.get(t, job, want.Unit)[want.Unit]
	if !ok {
		t.Fatalf("row %s is not there", want.Unit)
	}
	wantSame(t, row, want)
}

func wantSame(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(bytes.Equal)); diff != "" {
		t.Errorf("mismatch (-want, +got):\n%s", diff)
	}
}
