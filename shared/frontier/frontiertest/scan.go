package frontiertest

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
)

// scan reads one page of a shard.
func (h Harness) scan(t *testing.T, job crawl.JobUID, shard int, after *crawl.UnitID, limit int) []frontier.Row {
	t.Helper()
	rows, err := h.Store.Scan(t.Context(), job, shard, after, limit)
	if err != nil {
		t.Fatalf("scan shard %d: %v", shard, err)
	}
	if len(rows) > limit {
		t.Fatalf("scan shard %d: %d rows, limit %d", shard, len(rows), limit)
	}
	return rows
}

// scanShard reads a whole shard in pages.
func (h Harness) scanShard(t *testing.T, job crawl.JobUID, shard, limit int) []frontier.Row {
	t.Helper()
	var all []frontier.Row
	var after *crawl.UnitID
	for {
		page := h.scan(t, job, shard, after, limit)
		all = append(all, page...)
		if len(page) < limit {
			return all
		}
		after = &page[len(page)-1].Unit
	}
}

func units(rows []frontier.Row) []crawl.UnitID {
	us := make([]crawl.UnitID, len(rows))
	for i, row := range rows {
		us[i] = row.Unit
	}
	return us
}

func compareUnits(a, b crawl.UnitID) int { return bytes.Compare(a[:], b[:]) }

func testScan(t *testing.T, h Harness) {
	// The first and last units of each shard, and others all over.
	var all []crawl.UnitID
	for shard := range frontier.Shards {
		first, last := unit(shard, 0), unit(shard, 0)
		last[0] += 256/frontier.Shards - 1
		for i := 1; i < len(last); i++ {
			last[i] = 0xff
		}
		all = append(all, first, last)
	}
	for n := range 200 {
		all = append(all, spread(n))
	}
	for _, u := range all {
		h.mustPut(t, jobA, queued(u))
	}
	h.mustPut(t, jobB, queued(unit(3, 77)))
	slices.SortFunc(all, compareUnits)

	for _, limit := range []int{1, 7, 1000} {
		var got []crawl.UnitID
		for shard := range frontier.Shards {
			rows := h.scanShard(t, jobA, shard, limit)
			for _, row := range rows {
				if row.Unit.Shard(frontier.Shards) != shard {
					t.Errorf("shard %d has unit %s of shard %d", shard, row.Unit, row.Unit.Shard(frontier.Shards))
				}
				wantSame(t, row, queued(row.Unit))
			}
			got = append(got, units(rows)...)
		}
		if !slices.Equal(got, all) {
			t.Errorf("pages of %d give %d units, want all %d in order", limit, len(got), len(all))
		}
	}
}

func testScanPages(t *testing.T, h Harness) {
	for n := range 10 {
		if n != 4 {
			h.mustPut(t, jobA, queued(unit(5, n)))
		}
	}
	u := func(n int) *crawl.UnitID { id := unit(5, n); return &id }
	tests := []struct {
		name  string
		after *crawl.UnitID
		limit int
		want  []int
	}{
		{"from the first", nil, 3, []int{0, 1, 2}},
		{"after a unit", u(2), 2, []int{3, 5}},
		{"after a unit that is not there", u(4), 2, []int{5, 6}},
		{"to the end", u(7), 2, []int{8, 9}},
		{"over the end", u(7), 3, []int{8, 9}},
		{"after the last", u(9), 3, nil},
	}
	for _, test := range tests {
		var want []crawl.UnitID
		for _, n := range test.want {
			want = append(want, unit(5, n))
		}
		if got := units(h.scan(t, jobA, 5, test.after, test.limit)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", test.name, got, want)
		}
	}
	if rows := h.scan(t, jobA, 6, nil, 3); len(rows) != 0 {
		t.Errorf("an empty shard has %d rows", len(rows))
	}
}

func testScanBehind(t *testing.T, h Harness) {
	h.mustPut(t, jobA, queued(unit(5, 1)))
	for shard := range 6 { // a look that has passed shards 0 to 5
		h.scanShard(t, jobA, shard, 10)
	}
	h.mustPut(t, jobA, queued(unit(1, 1)))
	h.settle(t, jobA, frontier.Settlement{Unit: unit(5, 1), State: frontier.Done})
	h.mustPut(t, jobA, queued(unit(0, 1)))

	for _, shard := range []int{0, 1} {
		rows := h.scan(t, jobA, shard, nil, 10)
		if len(rows) != 1 || rows[0].State != frontier.Queued {
			t.Errorf("the second look finds %d rows in shard %d, want the one that was put behind the first", len(rows), shard)
		}
	}
	if rows := h.scan(t, jobA, 5, nil, 10); len(rows) != 1 || rows[0].State != frontier.Done {
		t.Errorf("the second look finds %v, want the row closed", rows)
	}
}

func testScanAtOnce(t *testing.T, h Harness) {
	for n := 0; n < 200; n += 2 {
		h.mustPut(t, jobA, queued(unit(5, n)))
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 1; n < 200; n += 2 {
			if _, err := h.Store.Put(t.Context(), jobA, []frontier.Row{queued(unit(5, n))}); err != nil {
				t.Errorf("put: %v", err)
			}
		}
	})
	for range 5 {
		got := units(h.scanShard(t, jobA, 5, 9))
		if !slices.IsSortedFunc(got, compareUnits) {
			t.Error("the scan is out of order")
		}
		even := slices.DeleteFunc(slices.Compact(got), func(u crawl.UnitID) bool { return u[19]%2 == 1 })
		if len(even) != 100 {
			t.Errorf("the scan finds %d of the 100 rows that were there", len(even))
		}
	}
	wg.Wait()
}
