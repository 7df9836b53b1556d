// Package items is the port to the scraped items: one row an item of a run.
// DynamoDB serves it in the cloud, SQLite on one machine.
//
// Which rows count is not said here: an item belongs to a run, and only the
// run that the unit's row names (package frontier) counts; the rows of a run
// that lost are void.
package items

import (
	"context"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A State says what became of an item.
type State string

// The states of an item.
const (
	// Stored items are the job's output.
	Stored State = "stored"
	// Dropped items were refused by a pipeline step.
	Dropped State = "dropped"
	// Dead items could not be processed; Why says what happened.
	Dead State = "dead"
)

// A Key names one item: the Ordinal-th (from 0) of one run of a unit.
type Key struct {
	Unit    crawl.UnitID
	Run     crawl.RunID
	Ordinal int
}

// A Row is one item.
type Row struct {
	Key
	State State
	// Why is the reason of a drop or death.
	Why string
	// Item is what the pipeline made of it; for a dropped or dead item, what
	// came in.
	Item crawl.Item
}

// A Store keeps the rows. It is safe for concurrent use.
type Store interface {
	// Put writes rows, without condition: the same key again overwrites. The
	// keys must differ. On an error any may have been written.
	Put(ctx context.Context, job crawl.JobUID, rows []Row) error

	// Scan reads rows of one shard strongly, in the order of (unit, run,
	// ordinal), at most limit (1 or more) of those after a key; nil starts
	// at the first. Fewer than limit means that the shard ends there. The
	// shard of a row is its unit's, of frontier.Shards.
	Scan(ctx context.Context, job crawl.JobUID, shard int, after *Key, limit int) ([]Row, error)

	// Of reads the rows of one run of a unit strongly, in their order.
	Of(ctx context.Context, job crawl.JobUID, unit crawl.UnitID, run crawl.RunID) ([]Row, error)
}
