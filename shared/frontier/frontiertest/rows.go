package frontiertest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
)

func testRoundTrip(t *testing.T, h Harness) {
	full := frontier.Row{
		Unit: spread(1), By: spread(2), State: frontier.Queued,
		Priority: -1_000_000_000, Depth: 7, Req: bytes.Repeat([]byte{0, 1, 0xff, '"'}, 180),
		Marks: 2, Rounds: 3,
	}
	bare := frontier.Row{Unit: crawl.StartUnit, State: frontier.Queued}
	closed := frontier.Row{
		Unit: spread(3), State: frontier.Failed,
		Outcome: frontier.Outcome{Run: "0123456789abcdef", Items: 4, Why: "größer"},
	}
	h.mustPut(t, jobA, full, bare, closed)
	for _, want := range []frontier.Row{full, bare, closed} {
		h.wantRow(t, jobA, want)
	}
}

func testCopies(t *testing.T, h Harness) {
	row := queued(spread(1))
	want := queued(spread(1))
	h.mustPut(t, jobA, row)
	row.Req[0] = 'X'
	h.wantRow(t, jobA, want)

	h.get(t, jobA, row.Unit)[row.Unit].Req[0] = 'X'
	h.wantRow(t, jobA, want)
	stands := h.put(t, jobA, queued(row.Unit))[0]
	if stands == nil {
		t.Fatal("a row was put over the one that was there")
	}
	stands.Req[0] = 'X'
	h.wantRow(t, jobA, want)
	rows, err := h.Store.Scan(t.Context(), jobA, row.Unit.Shard(frontier.Shards), nil, 1)
	if err != nil || len(rows) != 1 {
		t.Fatalf("scan: %d rows (%v), want 1", len(rows), err)
	}
	rows[0].Req[0] = 'X'
	h.wantRow(t, jobA, want)
}

func testGetUnknown(t *testing.T, h Harness) {
	if rows := h.get(t, jobA); len(rows) != 0 {
		t.Errorf("get nothing: %v", rows)
	}
	h.mustPut(t, jobA, queued(spread(1)))
	for _, c := range []frontier.Consistency{frontier.Strong, frontier.Eventual} {
		rows, err := h.Store.Get(t.Context(), jobA, []crawl.UnitID{spread(2), spread(3)}, c)
		if err != nil || len(rows) != 0 {
			t.Errorf("get unknown units: %v (%v)", rows, err)
		}
	}
}

func testStrong(t *testing.T, h Harness) {
	for n := range 120 { // more than one batched read of DynamoDB takes, by and by
		h.mustPut(t, jobA, queued(spread(n)))
		rows, err := h.Store.Get(t.Context(), jobA, []crawl.UnitID{spread(n)}, frontier.Eventual)
		if err != nil {
			t.Fatal(err)
		}
		if row, ok := rows[spread(n)]; ok { // it may be missed, but not be another
			wantSame(t, row, queued(spread(n)))
		}
		h.wantRow(t, jobA, queued(spread(n)))
	}
	var all []crawl.UnitID
	for n := range 120 {
		all = append(all, spread(n))
	}
	if rows := h.get(t, jobA, all...); len(rows) != len(all) {
		t.Errorf("%d of %d rows found", len(rows), len(all))
	}
}

func testPut(t *testing.T, h Harness) {
	h.put(t, jobA) // nothing
	first := queued(spread(1))
	first.By = spread(9)
	h.mustPut(t, jobA, first)

	other := queued(spread(1))
	other.By, other.Req = spread(8), []byte("another")
	stands := h.put(t, jobA, queued(spread(2)), other, queued(spread(3)))
	if stands[0] != nil || stands[2] != nil {
		t.Errorf("new rows were not written: %v, %v", stands[0], stands[2])
	}
	if stands[1] == nil {
		t.Fatal("a row was put over the one that was there")
	}
	wantSame(t, *stands[1], first)
	h.wantRow(t, jobA, first)

	// A closed row stands as well.
	h.settle(t, jobA, frontier.Settlement{Unit: spread(2), State: frontier.Done})
	if row := h.put(t, jobA, queued(spread(2)))[0]; row == nil || row.State != frontier.Done {
		t.Errorf("put over a closed row answers %v, want the closed row", row)
	}
}

func testJobsApart(t *testing.T, h Harness) {
	h.mustPut(t, jobA, queued(spread(1)))
	if rows := h.get(t, jobB, spread(1)); len(rows) != 0 {
		t.Errorf("job B sees rows of job A: %v", rows)
	}
	h.mustPut(t, jobB, queued(spread(1)))
	h.settle(t, jobB, frontier.Settlement{Unit: spread(1), State: frontier.Done})
	if _, err := h.Store.Mark(t.Context(), jobB, spread(1)); err != nil {
		t.Fatal(err)
	}
	h.wantRow(t, jobA, queued(spread(1)))
	if n := len(h.scanShard(t, jobA, spread(1).Shard(frontier.Shards), 10)); n != 1 {
		t.Errorf("scan finds %d rows of job A, want 1", n)
	}
}

func testPutAtOnce(t *testing.T, h Harness) {
	const writers, units = 8, 20
	var mu sync.Mutex
	wins := map[crawl.UnitID][]crawl.UnitID{} // unit → those who wrote it
	losses := map[crawl.UnitID]map[crawl.UnitID]bool{}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			rows := make([]frontier.Row, units)
			for n := range rows {
				rows[n] = queued(spread(n))
				rows[n].By = spread(1000 + w)
			}
			stands, err := h.Store.Put(t.Context(), jobA, rows)
			if err != nil || len(stands) != units {
				t.Errorf("put: %d answers (%v)", len(stands), err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for n, row := range stands {
				u := rows[n].Unit
				if row == nil {
					wins[u] = append(wins[u], rows[n].By)
					continue
				}
				if losses[u] == nil {
					losses[u] = map[crawl.UnitID]bool{}
				}
				losses[u][row.By] = true
			}
		})
	}
	wg.Wait()

	for n := range units {
		u := spread(n)
		if len(wins[u]) != 1 {
			t.Fatalf("unit %d was written by %d of %d writers, want 1", n, len(wins[u]), writers)
		}
		if by := wins[u][0]; len(losses[u]) != 1 || !losses[u][by] {
			t.Errorf("unit %d was written by %s, others were told %s", n, by, fmt.Sprint(losses[u]))
		}
		if row := h.get(t, jobA, u)[u]; row.By != wins[u][0] {
			t.Errorf("unit %d stands as put by %s, want the winner %s", n, row.By, wins[u][0])
		}
	}
}
