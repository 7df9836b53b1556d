// Package engine is the flow of a crawl: the four functions, each told in the
// order of docs/architecture.md, section 1. They talk only through queues: a
// stage takes a batch of messages, works on the ports, and sends messages on.
//
// It runs chains that it is given and knows none of their parts, and it knows
// neither SQS nor SQLite: package assembly builds it, on either.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
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

	// InlineBody is the longest packed body in bytes that travels in its
	// message; a longer one lies in a blob.
	InlineBody int
	// Linger is how long a finished download may wait for others to be sent
	// on with it.
	Linger time.Duration
	// MaxMarks is at how many marks a message is failed unworked. It was worked
	// once without a mark then, and once for each mark but the last.
	MaxMarks int
	// Quiet is the longest time that a message can hide without moving a
	// counter: the watchdog's rounds lie that far apart. It is of no account
	// where the family counts exactly.
	Quiet time.Duration
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
	alone    sync.Mutex // held while a message with marks is worked
}

// New returns an engine.
func New(c Config) *Engine {
	return &Engine{Config: c, packer: message.NewPacker(), runtimes: newRuntimes()}
}

// incoming is a message that was read.
type incoming struct {
	delivery queue.Delivery
	header   message.Header
	payload  []byte
}

// sort reads the headers of a batch and sorts it by job. A message that cannot
// be read is a fault: its ID is among the failed, so that the queue gives up on
// it in the end and the dead letter is accounted for.
func (e *Engine) sort(batch []queue.Delivery, want message.Kind) (map[crawl.JobUID][]incoming, []string) {
	byJob := make(map[crawl.JobUID][]incoming, 1)
	var failed []string
	for _, d := range batch {
		h, payload, err := message.ReadHeader(d.Body)
		if err == nil && h.Kind != want {
			err = errors.New("a " + string(h.Kind) + " message on the " + string(want) + " queue")
		}
		if err != nil {
			e.Log.Error("message not understood", "id", d.ID, "err", err)
			failed = append(failed, d.ID)
			continue
		}
		byJob[h.Job] = append(byJob[h.Job], incoming{d, h, payload})
	}
	return byJob, failed
}

// perJob sorts a batch and hands each job's part to work. What work reports as
// a fault is delivered again.
func (e *Engine) perJob(ctx context.Context, from queue.Name, batch []queue.Delivery, want message.Kind, work partWork) []string {
	return e.apart(ctx, from, batch, func(some []queue.Delivery) []string {
		return e.parts(ctx, some, want, work)
	})
}

// A partWork works off one job's part of a batch.
type partWork func(ctx context.Context, r *run, msgs []incoming) error

func (e *Engine) parts(ctx context.Context, batch []queue.Delivery, want message.Kind, work partWork) []string {
	byJob, failed := e.sort(batch, want)
	var mu sync.Mutex
	var all sync.WaitGroup
	for uid, msgs := range byJob {
		all.Go(func() {
			err := e.part(ctx, uid, msgs, want, work)
			if err == nil {
				return
			}
			e.Log.Error("batch not done, to be delivered again", "job", uid, "messages", len(msgs), "err", err)
			mu.Lock()
			defer mu.Unlock()
			for _, m := range msgs {
				failed = append(failed, m.delivery.ID)
			}
		})
	}
	all.Wait()
	return failed
}

func (e *Engine) part(ctx context.Context, uid crawl.JobUID, msgs []incoming, want message.Kind, work partWork) error {
	job, err := e.Jobs.Get(ctx, uid)
	if errors.Is(err, jobs.ErrNotFound) || err == nil && job.State.Ended() {
		return nil // nothing is worked for a job that is gone or has ended
	}
	if err != nil {
		return err
	}
	if job.State == crawl.JobClosing && want != message.KindControl {
		return nil // its rows are counted; what comes now is a duplicate
	}
	rt, err := e.Runtime(ctx, job)
	if err != nil {
		return err
	}
	return work(ctx, &run{Runtime: rt, job: job}, msgs)
}

// sendBack sends messages again that there is no time for, which costs them
// nothing: what goes back by the visibility time-out comes late and counts.
func (e *Engine) sendBack(ctx context.Context, r *run, to queue.Name, msgs []incoming) error {
	again := make([]queue.Message, 0, len(msgs))
	for _, m := range msgs {
		again = append(again, queue.Message{Job: r.job.UID, Body: m.delivery.Body})
	}
	if err := e.Queue.Send(ctx, to, again); err != nil {
		return fmt.Errorf("send %d messages back: %w", len(again), err)
	}
	return nil
}

// outOfTime reports whether an invocation has too little time left to go on.
func (e *Engine) outOfTime(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(e.Now()) < e.Margin
}

// A run is one job as one invocation sees it.
type run struct {
	*Runtime
	job crawl.Job
}
