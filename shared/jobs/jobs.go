// Package jobs is the port to the rows of jobs and to their counters.
// DynamoDB serves it in the cloud, SQLite on one machine.
//
// It holds no logic: when a job starts, closes and ends is decided in packages
// scheduler and engine.
package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

// ErrNotFound is returned for a job that is not there.
var ErrNotFound = errors.New("job not found")

// A Stage is one of the four functions; each has counters of its own, so that
// no two of them contend for one row.
type Stage string

// The stages.
const (
	Control  Stage = "control"
	Fetch    Stage = "fetch"
	Parse    Stage = "parse"
	Pipeline Stage = "pipeline"
)

// Counts are sums by key. A key that is absent is 0.
type Counts map[string]int64

// A Store keeps jobs. It is safe for concurrent use.
type Store interface {
	// Create writes a job's row if its project has no job of that name. It
	// returns the row that stands there afterwards, and whether this call
	// wrote it. The UID must be new in all projects.
	Create(ctx context.Context, job crawl.Job) (crawl.Job, bool, error)

	// Get reads a job strongly; [ErrNotFound] if there is none.
	Get(ctx context.Context, uid crawl.JobUID) (crawl.Job, error)

	// Peek is Get that may miss a write of a moment ago, even the job's
	// creation, and costs less where that counts.
	Peek(ctx context.Context, uid crawl.JobUID) (crawl.Job, error)

	// Find reads a job by its name in a project; [ErrNotFound] if there is
	// none.
	Find(ctx context.Context, project, name string) (crawl.Job, error)

	// Update replaces a job's row if its Rev is still job.Rev, and raises
	// Rev by one. It returns the row that stands there afterwards, and
	// whether this call wrote it; [ErrNotFound] if there is none. Name,
	// Project, UID and Created must not change.
	Update(ctx context.Context, job crawl.Job) (crawl.Job, bool, error)

	// List reads the jobs of a project ("" for all), newest first, at most
	// limit of them (0: all). Where states are given, only those in one of
	// them.
	List(ctx context.Context, project string, limit int, states ...crawl.JobState) ([]crawl.Job, error)

	// Add adds to the counters of a job's stage, and returns the totals of
	// all stages, with whatever was added before Add was called: of two that
	// add at once, one sees both. After an error, or a crash before the
	// answer, the counts may or may not have been added: counters may drift,
	// and nothing believes them.
	Add(ctx context.Context, uid crawl.JobUID, stage Stage, delta Counts) (Counts, error)

	// Note is Add for who does not want the totals, which costs less.
	Note(ctx context.Context, uid crawl.JobUID, stage Stage, delta Counts) error

	// Totals returns the counters of a job, summed over the stages.
	Totals(ctx context.Context, uid crawl.JobUID) (Counts, error)

	// Moved returns when Add last added to a counter of a job: a delta that
	// is empty moves nothing. It is zero if it never did.
	Moved(ctx context.Context, uid crawl.JobUID) (time.Time, error)

	// Lease takes a lease by name for a while, if nobody has it, not even
	// the caller, and reports whether it did. A lease ends by itself, and at once with the holding
	// process where the family can tell.
	Lease(ctx context.Context, name string, seconds int) (bool, error)
}
