package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
)

// Config is what the engine is built of.
type Config struct {
	Scheduler *scheduler.Scheduler
	Jobs      jobs.Store
	Items     items.Store
	Blobs     blob.Store
	Dead      dead.Store
	Queue     Queue

	// Build makes what a process keeps for one job.
	Build Build
	// Deliver writes a job's feed when it closes. It may be called again for
	// the same job.
	Deliver Deliver
	// NoAppend says that a feed is written whole, so that a job which does
	// the failed units of another cannot add to that one's.
	NoAppend bool

	// InlineBody is the longest packed body in bytes that travels in its
	// message; a longer one lies in a blob.
	InlineBody int
	// Linger is how long a finished download may wait for others to be sent
	// on with it.
	Linger time.Duration
	// MaxMarks is at how many marks a message of a kind is failed unworked. It
	// was worked once without a mark then, and once for each mark but the
	// last. A kind that is not in it is not marked.
	MaxMarks map[message.Kind]int
	// Quiet is the longest time that a message can hide without moving a
	// counter: the watchdog's rounds lie that far apart. It is of no account
	// where the family counts exactly.
	Quiet time.Duration
	// Looks is how far apart a process asks for looks at a job, and for how
	// long one look keeps others from looking; 0 sets no limit. A look reads
	// all rows of the job.
	Looks time.Duration
	// Still is how long a job that is to end early must not have moved
	// before it is closed with what it has.
	Still time.Duration
	// Margin is how much time before its deadline an invocation stops taking
	// on more.
	Margin time.Duration

	Now func() time.Time
	Log *slog.Logger
	// Observer is told what happens in this process; each func may be nil.
	Observer Observer
}

// A Queue is what the stages need of queues beside being fed from them: to
// send, and to delete by themselves what is done.
type Queue interface {
	queue.Sender
	Delete(ctx context.Context, from queue.Name, receipts []string) error
}

// An Observer is told what happens in this process, for progress on a screen.
// Its funcs must be quick and safe for concurrent use.
type Observer struct {
	// Settled is told of a unit that this process closed.
	Settled func(job crawl.JobUID, unit crawl.UnitID, run crawl.RunID)
	// Kept is told of an item row that this process wrote.
	Kept func(job crawl.JobUID, row items.Row)
	// Revived is told of work whose messages were lost and sent again.
	Revived func(job crawl.JobUID, v scheduler.Revival)
}

// An Engine holds the four stages.
type Engine struct {
	Config
	packer   *message.Packer
	runtimes *runtimes
	// alone is taken while what may be poison is worked.
	alone chan struct{}
}

// New returns an engine.
func New(c Config) *Engine {
	return &Engine{Config: c, packer: message.NewPacker(), runtimes: newRuntimes(), alone: make(chan struct{}, 1)}
}
