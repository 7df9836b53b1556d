package aws

import (
	"context"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/skitterhq/skitter/shared/crawl"
)

// knownEnds is of how many jobs a process remembers when their rows expire.
const knownEnds = 256

// An expiry knows when the rows of jobs expire: [topology.Times].Retention
// after the job must have ended, so that nothing of a living job can.
type expiry struct {
	s    *Store
	ends *lru.Cache[crawl.JobUID, time.Time]
}

func newExpiry(s *Store) *expiry {
	ends, err := lru.New[crawl.JobUID, time.Time](knownEnds)
	if err != nil {
		panic(err) // a size that is not positive
	}
	return &expiry{s, ends}
}

// note remembers a job that was read or written.
func (e *expiry) note(job crawl.Job) {
	if !job.Latest.IsZero() {
		e.ends.Add(job.UID, job.Latest)
	}
}

// after is when the rows of a job expire that ends at latest, in seconds since
// 1970. A job without a latest end has the longest that there is from now on.
func (e *expiry) after(latest time.Time) int64 {
	times := e.s.stack.Times
	if latest.IsZero() {
		latest = e.s.now().Add(times.LongestJob)
	}
	return latest.Add(times.Retention).Unix()
}

// of is when the rows of a job expire. The first rows of a job are written
// before the job's: they are kept as long as for the longest job.
func (e *expiry) of(ctx context.Context, uid crawl.JobUID) (int64, error) {
	if latest, ok := e.ends.Get(uid); ok {
		return e.after(latest), nil
	}
	job, found, err := e.s.jobs.read(ctx, uid)
	if err != nil {
		return 0, fmt.Errorf("when rows of job %s expire: %w", uid, err)
	}
	if !found {
		return e.after(time.Time{}), nil
	}
	return e.after(job.Latest), nil
}
