package local_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/blob/blobtest"
	"github.com/skitterhq/skitter/shared/dead/deadtest"
	"github.com/skitterhq/skitter/shared/frontier/frontiertest"
	"github.com/skitterhq/skitter/shared/items/itemstest"
	"github.com/skitterhq/skitter/shared/jars/jarstest"
	"github.com/skitterhq/skitter/shared/jobs/jobstest"
	"github.com/skitterhq/skitter/shared/local"
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

// open opens a data folder until the end of the test.
func open(t testing.TB, dir string, opts local.Options) *local.Store {
	t.Helper()
	s, err := local.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// fresh opens an empty data folder whose clock stands until it is moved.
func fresh(t testing.TB) (*local.Store, *clock) {
	t.Helper()
	c := newClock()
	return open(t, t.TempDir(), local.Options{Clock: c.Now, Visibility: time.Minute}), c
}

var (
	_ queue.Census = (*local.Queue)(nil)
	_ queue.Bell   = (*local.Queue)(nil)
)

func TestQueue(t *testing.T) {
	queuetest.Run(t, func(t *testing.T) queuetest.Harness {
		s, c := fresh(t)
		return queuetest.Harness{Queue: s.Queue(), Advance: c.Advance, Visibility: time.Minute, Exact: true}
	})
}

func TestFrontier(t *testing.T) {
	frontiertest.Run(t, func(t *testing.T) frontiertest.Harness {
		s, _ := fresh(t)
		return frontiertest.Harness{Store: s.Frontier()}
	})
}

func TestItems(t *testing.T) {
	itemstest.Run(t, func(t *testing.T) itemstest.Harness {
		s, _ := fresh(t)
		return itemstest.Harness{Store: s.Items()}
	})
}

func TestJars(t *testing.T) {
	jarstest.Run(t, func(t *testing.T) jarstest.Harness {
		s, _ := fresh(t)
		return jarstest.Harness{Store: s.Jars()}
	})
}

func TestJobs(t *testing.T) {
	jobstest.Run(t, func(t *testing.T) jobstest.Harness {
		s, c := fresh(t)
		return jobstest.Harness{Store: s.Jobs(), Advance: c.Advance}
	})
}

func TestSlotRows(t *testing.T) {
	slotrowstest.Run(t, func(t *testing.T) slotrowstest.Harness {
		s, _ := fresh(t)
		return slotrowstest.Harness{Store: s.SlotRows()}
	})
}

func TestOrigins(t *testing.T) {
	originstest.Run(t, func(t *testing.T) originstest.Harness {
		s, c := fresh(t)
		return originstest.Harness{Store: s.Origins(), Now: c.Now, Advance: c.Advance}
	})
}

func TestDead(t *testing.T) {
	deadtest.Run(t, func(t *testing.T) deadtest.Harness {
		s, _ := fresh(t)
		return deadtest.Harness{Store: s.Dead()}
	})
}

func TestBlobs(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Harness {
		s, _ := fresh(t)
		return blobtest.Harness{Store: s.Blobs()}
	})
}

func TestMain(m *testing.M) {
	if what := os.Getenv(helperVariable); what != "" {
		help(what, os.Getenv(helperFolder)) // does not return
	}
	os.Exit(m.Run())
}
