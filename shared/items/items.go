// Package items is the port to the scraped items: one row an item of a run.
// DynamoDB serves it in the cloud, where many share one of the table's, SQLite
// on one machine.
//
// Which rows count is not said here: an item belongs to a run, and only the
// run that the unit's row names (package frontier) counts; the rows of a run
// that lost are void.
package items

import (
	"bytes"
	"cmp"
	"context"
	"iter"

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

// Compare orders keys by unit, run and ordinal: it is negative where k comes
// before other, 0 where they are equal.
func (k Key) Compare(other Key) int {
	return cmp.Or(bytes.Compare(k.Unit[:], other.Unit[:]), cmp.Compare(k.Run, other.Run), cmp.Compare(k.Ordinal, other.Ordinal))
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

	// Scan reads the rows of one shard strongly, in the order of their keys,
	// in bounded memory however many there are. The shard of a row is its
	// unit's, of frontier.Shards. A row that was put before the first one is
	// asked for is among them; one that is put meanwhile may be, and of one
	// that is overwritten meanwhile either may come. An error comes last, with
	// no row. Whoever has enough may stop anywhere, and each time the sequence
	// is ranged over the shard is read anew.
	Scan(ctx context.Context, job crawl.JobUID, shard int) iter.Seq2[Row, error]
}
