package aws_test

import (
	"errors"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/origins"
	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/topology"
)

const day = 24 * time.Hour

var retention = topology.Default("x").Times.Retention

// seen counts the rows of jobA that are seen, in each way that there is.
func seen(t *testing.T, s *aws.Store, unit crawl.UnitID) (n int) {
	t.Helper()
	shard := unit.Shard(frontier.Shards)
	found, err := s.Frontier().Get(t.Context(), jobA, []crawl.UnitID{unit}, frontier.Strong)
	scanned, err2 := s.Frontier().Scan(t.Context(), jobA, shard, nil, 9)
	letters, err3 := s.Dead().List(t.Context(), jobA, 0)
	_, letter, err4 := s.Dead().Get(t.Context(), jobA, "x")
	totals, err5 := s.Jobs().Totals(t.Context(), jobA)
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	if letter {
		n++
	}
	return n + len(found) + len(scanned) + len(allItems(t, s, shard)) + len(letters) + len(totals)
}

func TestRowsOfAJobExpireWithIt(t *testing.T) {
	s, c, inside := openFaulty(t)
	job := someJob(jobA, "nightly")
	if _, _, err := s.Jobs().Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	unit, row := unitN(1), frontier.Row{Unit: unitN(1), State: frontier.Queued, Depth: 7}
	key := items.Key{Unit: unit, Run: "r"}
	put := func() *frontier.Row {
		t.Helper()
		stands, err := s.Frontier().Put(t.Context(), jobA, []frontier.Row{row})
		if err != nil {
			t.Fatal(err)
		}
		return stands[0]
	}
	put()
	if err := s.Items().Put(t.Context(), jobA, []items.Row{{Key: key, State: items.Stored}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Dead().Put(t.Context(), dead.Letter{ID: "x", Job: jobA, Body: []byte("y")}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Jobs().Add(t.Context(), jobA, jobs.Fetch, jobs.Counts{"pages": 5}); err != nil {
		t.Fatal(err)
	}
	if n := inside.Calls()["dynamodb.GetItem"]; n != 0 {
		t.Errorf("the row of a job that this process wrote was read %d times for its end", n)
	}

	c.Advance(job.Latest.Add(retention).Sub(c.Now()) - time.Second)
	if n := seen(t, s, unit); n != 6 {
		t.Errorf("a second before their end, %d of 6 are seen", n)
	}
	c.Advance(time.Second)
	if n := seen(t, s, unit); n != 0 {
		t.Errorf("%d rows are seen past their end", n)
	}
	if closed, err := s.Frontier().Settle(t.Context(), jobA, []frontier.Settlement{{Unit: unit, State: frontier.Done}}); err != nil || closed[0] {
		t.Errorf("settled what has expired: %t (%v)", closed[0], err)
	}
	if marks, err := s.Frontier().Mark(t.Context(), jobA, unit); err != nil || marks != 0 {
		t.Errorf("marked what has expired: %d (%v)", marks, err)
	}
	if err := s.Frontier().Round(t.Context(), jobA, map[crawl.UnitID]int{unit: 1}); err != nil {
		t.Errorf("round of what has expired: %v", err)
	}
	if stands := put(); stands != nil {
		t.Errorf("%v stands there past its end", stands)
	}
	totals, err := s.Jobs().Add(t.Context(), jobA, jobs.Fetch, jobs.Counts{"items": 1})
	if err != nil || totals["items"] != 1 || totals["pages"] != 0 {
		t.Errorf("counters go on at %v (%v) past their end, want at items alone", totals, err)
	}
}

// The first row of a job is written before the job's own.
func TestRowsBeforeTheirJobLiveAsLongAsTheLongest(t *testing.T) {
	s, c, inside := openFaulty(t)
	row := []frontier.Row{{Unit: crawl.StartUnit, State: frontier.Queued}}
	if _, err := s.Frontier().Put(t.Context(), jobA, row); err != nil {
		t.Fatal(err)
	}
	c.Advance(topology.Default("x").Times.LongestJob + retention - time.Second)
	if found, err := s.Frontier().Get(t.Context(), jobA, []crawl.UnitID{crawl.StartUnit}, frontier.Strong); err != nil || len(found) != 1 {
		t.Errorf("%d rows (%v), want the start", len(found), err)
	}
	if n := inside.Calls()["dynamodb.GetItem"]; n != 1 {
		t.Errorf("the job's row was read %d times, want once", n)
	}
}

func TestSlotRowsLiveADayPastTheirLatestClock(t *testing.T) {
	s, c, _ := openFaulty(t)
	in := func(d time.Duration) time.Time { return c.Now().Add(d) }
	for slot, row := range map[string]slotrows.Row{
		"none":   {},
		"gate":   {Gate: in(time.Hour)},
		"tail":   {Gate: in(time.Minute), Tail: in(2 * time.Hour)},
		"block":  {Gate: in(time.Minute), BlockedUntil: in(3 * time.Hour)},
		"leased": {Leases: []slotrows.Lease{{ID: "a", Until: in(4 * time.Hour)}}},
	} {
		if did, err := s.SlotRows().Swap(t.Context(), slot, row); err != nil || !did {
			t.Fatalf("write %s: %t (%v)", slot, did, err)
		}
	}
	c.Advance(day - time.Second)
	for _, slot := range []string{"none", "gate", "tail", "block", "leased"} {
		if row, err := s.SlotRows().Get(t.Context(), slot); err != nil || row.Version != 1 {
			t.Errorf("slot %s is version %d (%v) within a day of its latest clock", slot, row.Version, err)
		}
		c.Advance(time.Second)
		if row, err := s.SlotRows().Get(t.Context(), slot); err != nil || row.Version != 0 {
			t.Errorf("slot %s is version %d (%v) a day after its latest clock", slot, row.Version, err)
		}
		if did, err := s.SlotRows().Swap(t.Context(), slot, slotrows.Row{Version: 1}); err != nil || did {
			t.Errorf("slot %s: swap of a version that has expired: %t (%v)", slot, did, err)
		}
		if did, err := s.SlotRows().Swap(t.Context(), slot, slotrows.Row{}); err != nil || !did {
			t.Errorf("slot %s: swap of none where one has expired: %t (%v)", slot, did, err)
		}
		c.Advance(time.Hour - time.Second)
	}
}

func TestAnOriginIsForgottenAMonthAfterItsAnswerExpired(t *testing.T) {
	const site = "https://example.com:443"
	s, c, _ := openFaulty(t)
	if err := s.Origins().Put(t.Context(), site, origins.Row{Status: 200, Body: []byte("x"), Expires: c.Now().Add(day)}); err != nil {
		t.Fatal(err)
	}
	answered := func(want bool) {
		t.Helper()
		if _, found, err := s.Origins().Get(t.Context(), site); err != nil || found != want {
			t.Errorf("answered %t (%v), want %t", found, err, want)
		}
	}
	c.Advance(31*day - time.Second)
	answered(true)
	c.Advance(time.Second)
	answered(false)
	for _, want := range []bool{true, false} {
		if got, err := s.Origins().Lease(t.Context(), site, c.Now().Add(time.Hour)); err != nil || got != want {
			t.Errorf("lease: %t (%v), want %t", got, err, want)
		}
	}
	answered(false) // the lease does not bring the old answer back
}
