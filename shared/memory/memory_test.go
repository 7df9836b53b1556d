package memory_test

import (
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/blob/blobtest"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead/deadtest"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/frontier/frontiertest"
	"github.com/skitterhq/skitter/shared/items/itemstest"
	"github.com/skitterhq/skitter/shared/jars/jarstest"
	"github.com/skitterhq/skitter/shared/jobs/jobstest"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/origins/originstest"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/queue/queuetest"
	"github.com/skitterhq/skitter/shared/slotrows/slotrowstest"
)

// A clock stands until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var (
	_ queue.Census = (*memory.Queue)(nil)
	_ queue.Bell   = (*memory.Queue)(nil)
)

func TestQueue(t *testing.T) {
	queuetest.Run(t, func(*testing.T) queuetest.Harness {
		c := newClock()
		q := memory.NewQueue(c.Now, memory.Visibility(time.Minute))
		return queuetest.Harness{Queue: q, Advance: c.Advance, Visibility: time.Minute, Exact: true}
	})
}

func TestBlobs(t *testing.T) {
	blobtest.Run(t, func(*testing.T) blobtest.Harness { return blobtest.Harness{Store: memory.NewBlobs()} })
}

func TestFrontier(t *testing.T) {
	frontiertest.Run(t, func(*testing.T) frontiertest.Harness {
		return frontiertest.Harness{Store: memory.NewFrontier()}
	})
}

func TestStaleFrontier(t *testing.T) {
	frontiertest.Run(t, func(*testing.T) frontiertest.Harness {
		return frontiertest.Harness{Store: memory.NewFrontier(memory.Stale())}
	})
}

func TestItems(t *testing.T) {
	itemstest.Run(t, func(*testing.T) itemstest.Harness { return itemstest.Harness{Store: memory.NewItems()} })
}

func TestJars(t *testing.T) {
	jarstest.Run(t, func(*testing.T) jarstest.Harness { return jarstest.Harness{Store: memory.NewJars()} })
}

func TestJobs(t *testing.T) {
	jobstest.Run(t, func(*testing.T) jobstest.Harness {
		c := newClock()
		return jobstest.Harness{Store: memory.NewJobs(c.Now), Advance: c.Advance}
	})
}

func TestSlotRows(t *testing.T) {
	slotrowstest.Run(t, func(*testing.T) slotrowstest.Harness {
		return slotrowstest.Harness{Store: memory.NewSlotRows()}
	})
}

func TestOrigins(t *testing.T) {
	originstest.Run(t, func(*testing.T) originstest.Harness {
		c := newClock()
		return originstest.Harness{Store: memory.NewOrigins(c.Now), Now: c.Now, Advance: c.Advance}
	})
}

func TestDead(t *testing.T) {
	deadtest.Run(t, func(*testing.T) deadtest.Harness { return deadtest.Harness{Store: memory.NewDead()} })
}

// TestInterleavingO has a row just written missed by an eventual read, as a
// test of another package wants it.
func TestInterleavingO(t *testing.T) {
	const job = crawl.JobUID("job")
	f := memory.NewFrontier(memory.Stale())
	row := frontier.Row{Unit: crawl.StartUnit, State: frontier.Queued}
	if _, err := f.Put(t.Context(), job, []frontier.Row{row}); err != nil {
		t.Fatal(err)
	}
	state := func(c frontier.Consistency) frontier.State {
		rows, err := f.Get(t.Context(), job, []crawl.UnitID{row.Unit}, c)
		if err != nil {
			t.Fatal(err)
		}
		return rows[row.Unit].State
	}
	if got := state(frontier.Eventual); got != "" {
		t.Errorf("an eventual read finds the row %s, want none", got)
	}
	if _, err := f.Settle(t.Context(), job, []frontier.Settlement{{Unit: row.Unit, State: frontier.Done}}); err != nil {
		t.Fatal(err)
	}
	if got := state(frontier.Eventual); got != frontier.Queued {
		t.Errorf("an eventual read finds the row %q, want it queued, as before the last write", got)
	}
	if got := state(frontier.Strong); got != frontier.Done {
		t.Errorf("a strong read finds the row %q, want it done", got)
	}
}
