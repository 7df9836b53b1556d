package aws

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/frontier/frontiertest"
	"github.com/skitterhq/skitter/shared/items/itemstest"
	"github.com/skitterhq/skitter/shared/jars/jarstest"
	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/origins/originstest"
	"github.com/skitterhq/skitter/shared/slotrows/slotrowstest"
	"github.com/skitterhq/skitter/shared/topology"
)

// meterClock is moved by hand.
type meterClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *meterClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *meterClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// openMetered returns a store whose meter must agree with its backend when the
// test ends.
func openMetered(t *testing.T) (*Store, *meterClock) {
	t.Helper()
	c := &meterClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	b, m, stack := awstest.New(c.Now), new(meter.Meter), topology.Default("t")
	if err := provision.Create(t.Context(), b.Config(), stack); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		got := m.Take()
		if len(got) == 0 {
			t.Error("nothing was counted")
		}
		if diff := cmp.Diff(consumed(b), got); diff != "" {
			t.Errorf("(-the backend, +the meter):\n%s", diff)
		}
	})
	return New(Config{AWS: b.Config(), Stack: stack, Now: c.Now, Meter: m}), c
}

// TestTheMeterAgreesAboutTheAdapters runs what the adapters are tested with
// anyway. The jobs are left out: of a row that moves within an index the meter
// may not see where it was.
func TestTheMeterAgreesAboutTheAdapters(t *testing.T) {
	frontiertest.Run(t, func(t *testing.T) frontiertest.Harness {
		s, _ := openMetered(t)
		return frontiertest.Harness{Store: s.Frontier()}
	})
	itemstest.Run(t, func(t *testing.T) itemstest.Harness {
		s, _ := openMetered(t)
		return itemstest.Harness{Store: s.Items()}
	})
	jarstest.Run(t, func(t *testing.T) jarstest.Harness {
		s, _ := openMetered(t)
		return jarstest.Harness{Store: s.Jars()}
	})
	slotrowstest.Run(t, func(t *testing.T) slotrowstest.Harness {
		s, _ := openMetered(t)
		return slotrowstest.Harness{Store: s.SlotRows()}
	})
	originstest.Run(t, func(t *testing.T) originstest.Harness {
		s, c := openMetered(t)
		return originstest.Harness{Store: s.Origins(), Now: c.Now, Advance: c.Advance}
	})
}
