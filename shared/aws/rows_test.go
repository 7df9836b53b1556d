package aws_test

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/dead/deadtest"
	"github.com/skitterhq/skitter/shared/frontier/frontiertest"
	"github.com/skitterhq/skitter/shared/items/itemstest"
	"github.com/skitterhq/skitter/shared/jars/jarstest"
	"github.com/skitterhq/skitter/shared/jobs/jobstest"
	"github.com/skitterhq/skitter/shared/origins/originstest"
	"github.com/skitterhq/skitter/shared/slotrows/slotrowstest"
)

func TestFrontier(t *testing.T) {
	overEach(t, func(t *testing.T, b backend) {
		frontiertest.Run(t, func(t *testing.T) frontiertest.Harness {
			s, _ := b.open(t)
			return frontiertest.Harness{Store: s.Frontier()}
		})
	})
}

func TestItems(t *testing.T) {
	overEach(t, func(t *testing.T, b backend) {
		itemstest.Run(t, func(t *testing.T) itemstest.Harness {
			s, _ := b.open(t)
			return itemstest.Harness{Store: s.Items()}
		})
	})
}

func TestJars(t *testing.T) {
	overEach(t, func(t *testing.T, b backend) {
		jarstest.Run(t, func(t *testing.T) jarstest.Harness {
			s, _ := b.open(t)
			return jarstest.Harness{Store: s.Jars()}
		})
	})
}

func TestJobs(t *testing.T) {
	overEach(t, func(t *testing.T, b backend) {
		jobstest.Run(t, func(t *testing.T) jobstest.Harness {
			if b.name == "stale reads" && strings.Contains(t.Name(), "/list_") {
				t.Skip("an index has no strong reads")
			}
			s, c := b.open(t)
			return jobstest.Harness{Store: s.Jobs(), Advance: c.Advance}
		})
	})
}

func TestSlotRows(t *testing.T) {
	overEach(t, func(t *testing.T, b backend) {
		slotrowstest.Run(t, func(t *testing.T) slotrowstest.Harness {
			s, _ := b.open(t)
			return slotrowstest.Harness{Store: s.SlotRows()}
		})
	})
}

func TestOrigins(t *testing.T) {
	overEach(t, func(t *testing.T, b backend) {
		originstest.Run(t, func(t *testing.T) originstest.Harness {
			s, c := b.open(t)
			return originstest.Harness{Store: s.Origins(), Now: c.Now, Advance: c.Advance}
		})
	})
}

func TestDead(t *testing.T) {
	overEach(t, func(t *testing.T, b backend) {
		if b.rowsOnly {
			t.Skip("the messages of dead letters lie in S3, which " + b.name + " has not")
		}
		deadtest.Run(t, func(t *testing.T) deadtest.Harness {
			s, _ := b.open(t)
			return deadtest.Harness{Store: s.Dead()}
		})
	})
}

// overEach runs a suite over each backend.
func overEach(t *testing.T, run func(t *testing.T, b backend)) {
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			if b.slow && testing.Short() {
				t.Skip(b.name + " takes minutes")
			}
			run(t, b)
		})
	}
}
