package aws_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/slotrows"
)

const jobA = crawl.JobUID("aaaaaaaaaaaaaaaaaaaaaaaa")

func unitN(n int) crawl.UnitID { return crawl.RepeatUnit(crawl.StartUnit, [20]byte{}, n) }

// someJob is a job that ends within a fortnight of the clock's start.
func someJob(uid crawl.JobUID, name string) crawl.Job {
	start := newClock().now
	return crawl.Job{
		UID: uid, Project: "shop", Name: name, Spider: "books", State: crawl.JobRunning,
		Created: start, Latest: start.Add(14 * 24 * time.Hour),
	}
}

// losing carries out the n-th call of an operation from now on, and loses its
// answer.
func losing(b *awstest.Backend, op string, n int64) {
	var calls atomic.Int64
	b.SetHook(func(c *awstest.Call) awstest.Fault {
		return awstest.Fault{Lost: c.Op == op && calls.Add(1) == n}
	})
}

// A step is one call of a store, and whether it did what it was to.
type step struct {
	name string
	op   string
	lose int64 // which call of op loses its answer; 0 is the first
	do   func(t *testing.T, s *aws.Store) (bool, error)
	want bool
}

// did drops the first of three results.
func did[T any](_ T, did bool, err error) (bool, error) { return did, err }

func putUnit(t *testing.T, s *aws.Store) (bool, error) {
	stands, err := s.Frontier().Put(t.Context(), jobA, []frontier.Row{{Unit: unitN(1), State: frontier.Queued}})
	return err == nil && stands[0] == nil, err
}

func settleUnit(t *testing.T, s *aws.Store) (bool, error) {
	closed, err := s.Frontier().Settle(t.Context(), jobA, []frontier.Settlement{{Unit: unitN(1), State: frontier.Done, Outcome: frontier.Outcome{Run: "r"}}})
	return err == nil && closed[0], err
}

func markUnit(want int) func(t *testing.T, s *aws.Store) (bool, error) {
	return func(t *testing.T, s *aws.Store) (bool, error) {
		marks, err := s.Frontier().Mark(t.Context(), jobA, unitN(1))
		return marks == want, err
	}
}

func swapSlot(version int64) func(t *testing.T, s *aws.Store) (bool, error) {
	return func(t *testing.T, s *aws.Store) (bool, error) {
		return s.SlotRows().Swap(t.Context(), "example.com", slotrows.Row{Version: version})
	}
}

func createJob(uid crawl.JobUID) func(t *testing.T, s *aws.Store) (bool, error) {
	return func(t *testing.T, s *aws.Store) (bool, error) {
		return did(s.Jobs().Create(t.Context(), someJob(uid, "nightly")))
	}
}

func updateJob(t *testing.T, s *aws.Store) (bool, error) {
	return did(s.Jobs().Update(t.Context(), someJob(jobA, "nightly")))
}

func count(want int64) func(t *testing.T, s *aws.Store) (bool, error) {
	return func(t *testing.T, s *aws.Store) (bool, error) {
		totals, err := s.Jobs().Add(t.Context(), jobA, jobs.Fetch, jobs.Counts{"pages": 1})
		return totals["pages"] == want, err
	}
}

func leaseSweep(t *testing.T, s *aws.Store) (bool, error) {
	return s.Jobs().Lease(t.Context(), "sweep", 60)
}

func leaseOrigin(t *testing.T, s *aws.Store) (bool, error) {
	return s.Origins().Lease(t.Context(), "https://example.com:443", newClock().now.Add(time.Minute))
}

// A write whose answer is lost is sent again by the SDK and fails its
// condition; what it says is nevertheless what came of it, and the next one is
// told the truth, too.
func TestALostAnswerIsNoLostWrite(t *testing.T) {
	const put, update = "dynamodb.PutItem", "dynamodb.UpdateItem"
	s, _, inside := openFaulty(t)
	for _, step := range []step{
		{"put a unit", put, 1, putUnit, true},
		{"put it again", put, 1, putUnit, false},
		{"mark it", update, 1, markUnit(1), true},
		{"mark it again", update, 1, markUnit(2), true},
		{"settle it", update, 1, settleUnit, true},
		{"settle it again", update, 1, settleUnit, false},
		{"mark it when it is closed", update, 1, markUnit(0), true},
		{"write a slot", put, 1, swapSlot(0), true},
		{"write it once more", put, 1, swapSlot(0), false},
		{"write its next version", put, 1, swapSlot(1), true},
		{"write that once more", put, 1, swapSlot(1), false},
		{"create a job, its name's answer lost", put, 1, createJob(jobA), true},
		{"create another of the name", put, 1, createJob("b"), false},
		{"update the job", put, 1, updateJob, true},
		{"update the old rev", put, 1, updateJob, false},
		{"add to the counters", update, 1, count(1), true},
		{"add to them again", update, 1, count(2), true},
		{"lease", put, 1, leaseSweep, true},
		{"lease what is leased", put, 1, leaseSweep, false},
		{"lease an origin", update, 1, leaseOrigin, true},
		{"lease an origin that is leased", update, 1, leaseOrigin, false},
	} {
		losing(inside, step.op, step.lose)
		if got, err := step.do(t, s); err != nil || got != step.want {
			t.Errorf("%s: %t (%v), want %t", step.name, got, err, step.want)
		}
	}
}

func TestALostAnswerToAJobsOwnRowIsNoLostJob(t *testing.T) {
	s, _, inside := openFaulty(t)
	losing(inside, "dynamodb.PutItem", 2)
	if wrote, err := createJob(jobA)(t, s); err != nil || !wrote {
		t.Errorf("create: %t (%v), want true", wrote, err)
	}
}
