// Package frontier is the port to the rows of a job's work: one row a unit.
// Everything that a job must still do stands here, and from the rows alone
// every message can be made again. DynamoDB serves it in the cloud, SQLite on
// one machine.
//
// It holds no logic: package scheduler is its only writer, and decides what is
// admitted, settled and sent again.
package frontier

import (
	"context"

	"github.com/skitterhq/skitter/shared/crawl"
)

// Shards is into how many parts a job's rows fall, by crawl.UnitID.Shard.
const Shards = 16

// A State says where a unit is in its life. Queued is the only one that is
// left, and it is left once; the others are final.
type State string

// The states of a unit.
const (
	Queued  State = "queued"
	Done    State = "done"
	Failed  State = "failed"
	Dropped State = "dropped"
)

// Closed reports whether a state is final.
func (s State) Closed() bool { return s == Done || s == Failed || s == Dropped }

// A Row is one unit. It is to stay under 1 KB, one write unit of DynamoDB.
type Row struct {
	Unit crawl.UnitID
	// By is the parent that admitted it; zero for the start.
	By       crawl.UnitID
	State    State
	Priority int
	Depth    int
	// Req is the request, packed by package scheduler; empty for the start.
	Req []byte
	// Marks counts the deliveries that began to work on it after the first.
	Marks int
	// Rounds counts the watchdog's rounds without effect.
	Rounds int

	Outcome
}

// An Outcome is what the settling write says of a unit.
type Outcome struct {
	// Run is the run that counts, Items how many items it sent.
	Run   crawl.RunID
	Items int
	// Why is a short, stable reason: of a drop or failure, or "redirected".
	Why string
}

// A Settlement closes one row.
type Settlement struct {
	Unit  crawl.UnitID
	State State // Done, Failed or Dropped
	Outcome
}

// Consistency says how fresh a read must be.
type Consistency bool

// Eventual reads may miss a write that was just acknowledged; Strong ones do
// not.
const (
	Eventual Consistency = false
	Strong   Consistency = true
)

// A Store keeps the rows. Rows are never deleted while their job lives. It is
// safe for concurrent use, and each method may be repeated after an error.
type Store interface {
	// Get reads the rows of units. What is not found is not in the result.
	Get(ctx context.Context, job crawl.JobUID, units []crawl.UnitID, c Consistency) (map[crawl.UnitID]Row, error)

	// Put writes each row for which there is none yet; the units must
	// differ. The result has, at the place of each row, nil if it was
	// written, else the row that stands there. On an error any of them may
	// have been written.
	Put(ctx context.Context, job crawl.JobUID, rows []Row) ([]*Row, error)

	// Settle closes each row that is queued; the units must differ. The
	// result says for each whether this call closed it: false if it was
	// closed already or is not there. On an error any may have been closed.
	Settle(ctx context.Context, job crawl.JobUID, s []Settlement) ([]bool, error)

	// Mark adds one to the marks of a row that is queued and returns the
	// sum; 0 if there is no such row.
	Mark(ctx context.Context, job crawl.JobUID, unit crawl.UnitID) (int, error)

	// Round sets the watchdog's rounds of rows that are queued; others are
	// passed over.
	Round(ctx context.Context, job crawl.JobUID, rounds map[crawl.UnitID]int) error

	// Scan reads rows of one shard strongly, in the order of their units,
	// at most limit (1 or more) of those after a unit; nil starts at the
	// first. Fewer than limit means that the shard ends there. A shard that
	// is not one of 0 to Shards-1 is an error.
	Scan(ctx context.Context, job crawl.JobUID, shard int, after *crawl.UnitID, limit int) ([]Row, error)
}
