package itemstest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
)

// testInterleavedPuts puts rows so that each put's lie between those of others.
func testInterleavedPuts(t *testing.T, h Harness) {
	const puts, each = 7, 30
	want := make([]items.Key, puts*each)
	for n := range want {
		want[n] = key(unit(4, n), "r", 0)
	}
	for p := range puts {
		var mine []items.Key
		for k := each - 1; k >= 0; k-- {
			mine = append(mine, want[k*puts+p])
		}
		h.putKeys(t, jobA, mine...)
	}
	wantKeys(t, "scan", h.scan(t, jobA, 4), want)
}

func testOverwriteAmongOthers(t *testing.T, h Harness) {
	all := []items.Key{key(unit(5, 1), "r", 0), key(unit(5, 2), "r", 0), key(unit(5, 3), "r", 0)}
	last := map[items.Key]string{}
	put := func(why string, ks ...items.Key) {
		var rows []items.Row
		for _, k := range ks {
			row := stored(t, k)
			row.Why, last[k] = why, why
			rows = append(rows, row)
		}
		h.put(t, jobA, rows...)
	}
	put("1", all...)
	put("2", all[1:]...)
	put("3", all[0], all[2])
	put("4", all[2])
	put("5", all[1])
	rows := h.scan(t, jobA, 5)
	wantKeys(t, "scan", rows, all)
	for _, row := range rows {
		if row.Why != last[row.Key] {
			t.Errorf("unit %s has what was put %s., want %s.", row.Unit, row.Why, last[row.Key])
		}
	}
}

func testStop(t *testing.T, h Harness) {
	var want []items.Key
	for n := range 20 {
		want = append(want, key(unit(6, n), "r", 0))
	}
	h.putKeys(t, jobA, want...)
	scan := h.Store.Scan(t.Context(), jobA, 6)
	for _, n := range []int{1, 7, 20} {
		var got []items.Row
		for row, err := range scan {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, row); len(got) == n {
				break
			}
		}
		wantKeys(t, "the first rows", got, want[:n])
	}
}

// testScanBesidePuts puts rows before and after the ones that a scan has come
// to, while it goes on.
func testScanBesidePuts(t *testing.T, h Harness) {
	const n = 1_200 // more than what a family reads at a time
	var before []items.Key
	for k := range n {
		before = append(before, key(unit(7, 2*(k/10)), "r", k%10))
	}
	h.putKeys(t, jobA, before...)
	want := map[items.Key]bool{}
	for _, k := range before {
		want[k] = true
	}
	var got []items.Key
	for row, err := range h.Store.Scan(t.Context(), jobA, 7) {
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < n && len(got)%100 == 0 {
			h.putKeys(t, jobA, key(unit(7, 2*len(got)/10+1), "r", 0), key(unit(7, 2), "r", 100+len(got)))
			h.putKeys(t, jobA, before[n-1-len(got)], before[len(got)])
		}
		got = append(got, row.Key)
		delete(want, row.Key)
	}
	if !slices.IsSortedFunc(got, items.Key.Compare) || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Error("the scan is out of order, or has rows twice")
	}
	if len(want) > 0 {
		t.Errorf("%d of %d rows that were there before are missing", len(want), n)
	}
}

func testScanIsLazy(t *testing.T, h Harness) {
	scan := h.Store.Scan(t.Context(), jobA, 1)
	k := key(unit(1, 1), "r", 0)
	h.putKeys(t, jobA, k)
	var got []items.Row
	for row, err := range scan {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row)
	}
	wantKeys(t, "scan", got, []items.Key{k})
}

func testScanErrors(t *testing.T, h Harness) {
	h.putKeys(t, jobA, key(unit(0, 1), "r", 0))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	fails := func(what string, ctx context.Context, shard int) (errs []error) {
		for row, err := range h.Store.Scan(ctx, jobA, shard) {
			if row.Unit != (crawl.UnitID{}) {
				t.Errorf("%s: got the row %v", what, row.Key)
			}
			errs = append(errs, err)
		}
		if len(errs) != 1 || errs[0] == nil {
			t.Errorf("%s: errors %v, want one", what, errs)
		}
		return errs
	}
	fails("shard -1", t.Context(), -1)
	fails("a shard too many", t.Context(), frontier.Shards)
	if errs := fails("the context has ended", ended, 0); len(errs) == 1 && !errors.Is(errs[0], context.Canceled) {
		t.Errorf("the context has ended: %v", errs[0])
	}
}
