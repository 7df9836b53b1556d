package itemstest

import (
	"slices"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
)

func testRuns(t *testing.T, h Harness) {
	// Run a sends three items and dies, run b sends two and settles.
	u := unit(1, 1)
	h.putKeys(t, jobA, key(u, "aaaa", 0), key(u, "bbbb", 0), key(u, "aaaa", 1))
	h.putKeys(t, jobA, key(u, "bbbb", 1), key(u, "aaaa", 2), key(unit(1, 2), "bbbb", 0))

	a := []items.Key{key(u, "aaaa", 0), key(u, "aaaa", 1), key(u, "aaaa", 2)}
	b := []items.Key{key(u, "bbbb", 0), key(u, "bbbb", 1)}
	wantKeys(t, "scan", h.scan(t, jobA, 1), append(slices.Concat(a, b), key(unit(1, 2), "bbbb", 0)))
}

func testOrdinals(t *testing.T, h Harness) {
	var want []items.Key
	for _, n := range []int{0, 1, 2, 9, 10, 11, 99, 100, 255, 256, 70_000} {
		want = append(want, key(unit(1, 1), "r", n))
	}
	reversed := slices.Clone(want)
	slices.Reverse(reversed)
	h.putKeys(t, jobA, reversed...)
	wantKeys(t, "scan", h.scan(t, jobA, 1), want)
}

func testManyItems(t *testing.T, h Harness) {
	const n = 1_000
	var want []items.Key
	for i := range n {
		want = append(want, key(unit(1, 1), "r", i))
	}
	h.putKeys(t, jobA, want...)
	h.putKeys(t, jobA, key(unit(1, 0), "r", 0), key(unit(1, 2), "r", 0))
	wantKeys(t, "scan", h.scan(t, jobA, 1),
		slices.Concat([]items.Key{key(unit(1, 0), "r", 0)}, want, []items.Key{key(unit(1, 2), "r", 0)}))
}

func testScan(t *testing.T, h Harness) {
	want := map[int][]items.Key{}
	for shard := range frontier.Shards {
		first, last := unit(shard, 0), unit(shard, 255)
		last[0] += 256/frontier.Shards - 1
		for _, u := range []crawl.UnitID{first, last} {
			for _, run := range []crawl.RunID{"0f", "a0"} {
				for n := range 2 {
					want[shard] = append(want[shard], key(u, run, n))
				}
			}
		}
	}
	for _, ks := range want {
		shuffled := slices.Clone(ks)
		slices.Reverse(shuffled)
		h.putKeys(t, jobA, shuffled...)
	}
	for shard, ks := range want {
		wantKeys(t, "scan", h.scan(t, jobA, shard), ks)
	}
}
