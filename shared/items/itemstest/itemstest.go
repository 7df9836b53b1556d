// Package itemstest holds the tests that every family's items store must
// pass: the contract of package items, sentence by sentence.
package itemstest

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
)

// A Harness is one family under test, with an empty store.
type Harness struct {
	Store items.Store
}

const (
	jobA = crawl.JobUID("aaaaaaaaaaaaaaaaaaaaaaaa")
	jobB = crawl.JobUID("bbbbbbbbbbbbbbbbbbbbbbbb")
)

// Run tests the stores that open returns, a fresh one for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	tests := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"an item comes back as it was put", testRoundTrip},
		{"the same key again overwrites", testOverwrite},
		{"jobs are apart", testJobsApart},
		{"InterleavingE: the runs of a unit do not mix", testRuns},
		{"ordinals are ordered as numbers", testOrdinals},
		{"InterleavingH: a run of many items is read whole", testManyItems},
		{"scan reads each shard in order", testScan},
		{"rows of several puts interleave in order", testInterleavedPuts},
		{"of a key among others the last put counts", testOverwriteAmongOthers},
		{"a scan may be stopped, and ranged over again", testStop},
		{"a scan sees what was there before the puts beside it", testScanBesidePuts},
		{"a scan reads what is there when it begins", testScanIsLazy},
		{"a shard that is not there, and a context that ended, are errors", testScanErrors},
		{"puts at once are all kept", testAtOnce},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// unit is the n-th unit of a shard, in the order of units, n under 65,536.
func unit(shard, n int) crawl.UnitID {
	return crawl.UnitID{0: byte(shard * 256 / frontier.Shards), 18: byte(n >> 8), 19: byte(n)}
}

func key(u crawl.UnitID, run crawl.RunID, ordinal int) items.Key {
	return items.Key{Unit: u, Run: run, Ordinal: ordinal}
}

// stored is a row whose item tells it from others.
func stored(t *testing.T, k items.Key) items.Row {
	t.Helper()
	item, err := crawl.NewItem(map[string]any{"n": k.Ordinal, "run": k.Run})
	if err != nil {
		t.Fatal(err)
	}
	return items.Row{Key: k, State: items.Stored, Item: item}
}

func (h Harness) put(t *testing.T, job crawl.JobUID, rows ...items.Row) {
	t.Helper()
	if err := h.Store.Put(t.Context(), job, rows); err != nil {
		t.Fatalf("put %d items: %v", len(rows), err)
	}
}

func (h Harness) putKeys(t *testing.T, job crawl.JobUID, keys ...items.Key) {
	t.Helper()
	var rows []items.Row
	for _, k := range keys {
		rows = append(rows, stored(t, k))
	}
	h.put(t, job, rows...)
}

func (h Harness) scan(t *testing.T, job crawl.JobUID, shard int) []items.Row {
	t.Helper()
	var rows []items.Row
	for row, err := range h.Store.Scan(t.Context(), job, shard) {
		if err != nil {
			t.Fatalf("scan shard %d: %v", shard, err)
		}
		rows = append(rows, row)
	}
	return rows
}

func keys(rows []items.Row) []items.Key {
	ks := make([]items.Key, len(rows))
	for i, row := range rows {
		ks[i] = row.Key
	}
	return ks
}

func wantKeys(t *testing.T, what string, rows []items.Row, want []items.Key) {
	t.Helper()
	if got := keys(rows); !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func encoded(t *testing.T, item crawl.Item) string {
	t.Helper()
	data, err := json.Marshal(item)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func testRoundTrip(t *testing.T, h Harness) {
	h.put(t, jobA) // nothing
	item, err := crawl.NewItem(struct {
		Zeta  string `json:"zeta"`
		Alpha any    `json:"alpha"`
	}{"größer <&>", []any{1e300, nil, "x"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []items.Row{
		{Key: key(unit(1, 1), "r", 0), State: items.Stored, Item: item},
		{Key: key(unit(1, 1), "r", 1), State: items.Dropped, Why: "duplicate", Item: item},
		{Key: key(unit(1, 1), "r", 2), State: items.Dead, Why: "größer", Item: crawl.Item{}},
	}
	h.put(t, jobA, want...)
	got := h.scan(t, jobA, 1)
	wantKeys(t, "scan", got, keys(want))
	for i := range min(len(got), len(want)) {
		if got[i].State != want[i].State || got[i].Why != want[i].Why {
			t.Errorf("item %d is %s (%q), want %s (%q)", i, got[i].State, got[i].Why, want[i].State, want[i].Why)
		}
		if g, w := encoded(t, got[i].Item), encoded(t, want[i].Item); g != w {
			t.Errorf("item %d is %s, want %s", i, g, w)
		}
	}
}

func testOverwrite(t *testing.T, h Harness) {
	k := key(unit(1, 1), "r", 0)
	dead := stored(t, k)
	dead.State, dead.Why, dead.Item = items.Dead, "panic", crawl.Item{}
	h.put(t, jobA, dead)
	h.put(t, jobA, stored(t, k))
	rows := h.scan(t, jobA, 1)
	wantKeys(t, "scan", rows, []items.Key{k})
	if len(rows) == 1 && (rows[0].State != items.Stored || rows[0].Why != "" || encoded(t, rows[0].Item) != `{"n":0,"run":"r"}`) {
		t.Errorf("the row is %s (%q) %s, want the last one put", rows[0].State, rows[0].Why, encoded(t, rows[0].Item))
	}
}

func testJobsApart(t *testing.T, h Harness) {
	h.putKeys(t, jobA, key(unit(1, 1), "r", 0))
	if rows := h.scan(t, jobB, 1); len(rows) != 0 {
		t.Errorf("job B's scan finds items of job A: %v", keys(rows))
	}
}

func testAtOnce(t *testing.T, h Harness) {
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				row := items.Row{Key: key(unit(2, w), "r", n), State: items.Stored}
				if err := h.Store.Put(t.Context(), jobA, []items.Row{row}); err != nil {
					t.Errorf("put: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(h.scan(t, jobA, 2)); n != writers*each {
		t.Errorf("%d of %d items are there", n, writers*each)
	}
}
