package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
)

// A view is one job as one invocation sees it.
type view struct {
	*Runtime
	job  crawl.Job
	read time.Time // when the job was read
	// bad are the messages that cannot be worked for what is in them. They
	// are delivered again, and given up on in the end, without their
	// neighbours.
	bad []string
}

// refuse notes that a message cannot be worked.
func (v *view) refuse(m incoming, err error) {
	v.Log.Error("message cannot be worked", "id", m.delivery.ID, "unit", m.header.Unit, "err", err)
	v.bad = append(v.bad, m.delivery.ID)
}

// incoming is a message that was read.
type incoming struct {
	delivery queue.Delivery
	header   message.Header
	payload  []byte
}

// repeated reports whether there may be another message of the same unit.
func (m incoming) repeated() bool { return m.header.Repeated || m.delivery.Receives > 1 }

// A partWork works off one job's part of a batch. Its error is a fault of the
// ports: all of the part is delivered again. What is wrong with one message is
// its own: see view.refuse.
type partWork func(ctx context.Context, v *view, msgs []incoming) error

// runBatch hands each job's part of a batch to work, what may be poison apart
// from the rest, and returns the IDs of the messages that are to be delivered
// again.
func (e *Engine) runBatch(ctx context.Context, from queue.Name, batch []queue.Delivery, want message.Kind, work partWork) []string {
	return e.apart(ctx, from, batch, func(some []queue.Delivery) []string {
		return e.perJob(ctx, from, some, want, work)
	})
}

// perJob works the jobs of a batch side by side, so that none waits for another.
func (e *Engine) perJob(ctx context.Context, from queue.Name, batch []queue.Delivery, want message.Kind, work partWork) []string {
	byJob, failed := e.sort(batch, want)
	var mu sync.Mutex
	var all sync.WaitGroup
	for uid, msgs := range byJob {
		all.Go(func() {
			bad, err := e.oneJob(ctx, from, uid, msgs, want, work)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				failed = append(failed, bad...)
				return
			}
			if ctx.Err() == nil {
				e.logError(e.Log, "batch not done, to be delivered again", err, "job", uid, "messages", len(msgs))
			}
			for _, m := range msgs {
				failed = append(failed, m.delivery.ID)
			}
		})
	}
	all.Wait()
	return failed
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

// oneJob works one job's messages, unless the job is past them, and returns the
// IDs of those that cannot be worked. A panic in it is a fault like any other:
// it must not end what other invocations do in this process.
func (e *Engine) oneJob(ctx context.Context, from queue.Name, uid crawl.JobUID, msgs []incoming, want message.Kind, work partWork) ([]string, error) {
	job, err := e.peek(ctx, uid)
	if errors.Is(err, jobs.ErrNotFound) {
		return nil, e.keepGone(ctx, from, msgs)
	}
	if err != nil {
		return nil, err
	}
	if job.State.Ended() {
		return nil, nil // what comes for it is a duplicate
	}
	if job.State == crawl.JobClosing && want != message.KindControl {
		return nil, nil // its rows are counted; what comes now is a duplicate
	}
	rt, err := e.Runtime(ctx, job)
	var cannot *buildError
	if want == message.KindControl && errors.As(err, &cannot) {
		// Control is what has started the job, so no other build is to come
		// that can run it.
		return nil, e.fail(ctx, uid, cannot.Error())
	}
	if err != nil {
		return nil, err
	}
	v := &view{Runtime: rt, job: job, read: e.Now()}
	err = crawl.Guard(func() error { return work(ctx, v, msgs) })
	return v.bad, err
}

// peek reads a job as it was a moment ago at least, which does for deciding
// whether to begin: whatever ends a job is decided on its row again.
func (e *Engine) peek(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	job, err := e.Jobs.Peek(ctx, uid)
	if errors.Is(err, jobs.ErrNotFound) {
		return e.Jobs.Get(ctx, uid) // its first message may be faster than its row
	}
	return job, err
}

// sendBack sends messages again that there is no time for, which costs them
// nothing: what goes back by the visibility time-out comes late and counts.
func (e *Engine) sendBack(ctx context.Context, v *view, to queue.Name, msgs []incoming) error {
	again := make([]queue.Message, 0, len(msgs))
	for _, m := range msgs {
		again = append(again, queue.Message{Job: v.job.UID, Body: m.delivery.Body})
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

// refresh reads the job again where it was read a while ago, so that a long
// invocation hears of a stop. A job that cannot be read is taken to be as it
// was.
func (e *Engine) refresh(ctx context.Context, v *view) {
	if e.Now().Sub(v.read) < flushEvery {
		return
	}
	if job, err := e.Jobs.Peek(ctx, v.job.UID); err == nil {
		v.job, v.read = job, e.Now()
	}
}

// flushEvery is how long what was given may wait to be handed on.
const flushEvery = time.Second
