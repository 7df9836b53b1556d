package stats_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/stats"
)

func TestCollectorCounts(t *testing.T) {
	var c stats.Collector
	if n := len(c.Snapshot()) + len(c.Take()); n != 0 {
		t.Errorf("the zero collector has %d keys", n)
	}
	c.Inc("a")
	c.Inc("a")
	c.Add("b", 10)
	c.Add("b", -3)
	c.Add("zero", 0) // a key that counted nothing would cost a place in the job's row
	want := map[string]int64{"a": 2, "b": 7}

	snapshot := c.Snapshot()
	if diff := cmp.Diff(want, snapshot); diff != "" {
		t.Errorf("snapshot (-want, +got):\n%s", diff)
	}
	snapshot["a"] = 100 // a snapshot is a copy
	taken := c.Take()
	if diff := cmp.Diff(want, taken); diff != "" {
		t.Errorf("taken (-want, +got):\n%s", diff)
	}

	c.Inc("a")
	if diff := cmp.Diff(want, taken); diff != "" {
		t.Errorf("what was taken is still counted in (-want, +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"a": 1}, c.Take()); diff != "" {
		t.Errorf("taken again (-want, +got):\n%s", diff)
	}
	if got := c.Take(); len(got) != 0 {
		t.Errorf("taken a third time: %v, want nothing", got)
	}
}

// Every count is taken once, whoever takes while others count.
func TestCollectorIsSafeForConcurrentUse(t *testing.T) {
	const workers, each = 8, 1000
	var (
		c     stats.Collector
		all   sync.WaitGroup
		sums  = make([]int64, workers)
		total int64
	)
	for w := range workers {
		all.Go(func() {
			for k := range each {
				c.Inc("n")
				if k%50 == w {
					c.Snapshot()
					sums[w] += c.Take()["n"]
				}
			}
		})
	}
	all.Wait()
	for _, n := range append(sums, c.Take()["n"]) {
		total += n
	}
	if total != workers*each {
		t.Errorf("%d counted in all, want %d", total, workers*each)
	}
}
