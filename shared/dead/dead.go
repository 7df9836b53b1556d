// Package dead is the port to the dead letters: messages that a queue gave up
// on, kept for people to look at. S3 and DynamoDB serve it in the cloud,
// SQLite on one machine.
//
// A letter's payload is never read by the program, since it may be what
// killed its reader: only its header is.
package dead

import (
	"context"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/queue"
)

// A Letter is one message that was given up on.
type Letter struct {
	// ID names it, unique in its job.
	ID   string
	Job  crawl.JobUID
	Unit crawl.UnitID
	// From is the queue that it came from, Reason why it died.
	From   queue.Name
	Reason string
	// Body is the message as it was.
	Body []byte
	Time time.Time
}

// A Store keeps letters. It is safe for concurrent use.
type Store interface {
	// Put keeps a letter; the same ID again overwrites.
	Put(ctx context.Context, l Letter) error
	// List reads a job's letters in the order of their IDs, without their
	// bodies, at most limit (0: all).
	List(ctx context.Context, job crawl.JobUID, limit int) ([]Letter, error)
	// Get reads one letter, and whether there is one.
	Get(ctx context.Context, job crawl.JobUID, id string) (Letter, bool, error)
	// Delete forgets a letter; an unknown one is passed over.
	Delete(ctx context.Context, job crawl.JobUID, id string) error
}
