package machine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/local"
	"github.com/skitterhq/skitter/shared/queue"
)

// A Polled is a family of queues that a process on one machine can poll.
type Polled interface {
	queue.Receiver
	queue.Bell
}

const (
	// pollEvery is how often a queue is asked on which nobody in this
	// process has sent: another process may have.
	pollEvery = 250 * time.Millisecond
	// maxReceives is how often a message is delivered before it is given up
	// on, whatever it says. It is many: a page that kills the process is
	// given up on by the engine far sooner, and each kill of the process
	// counts as a delivery of all that it held.
	maxReceives = 20
	// roomEvery is how often a stage without room looks again.
	roomEvery = 2 * time.Millisecond
	// returnDelay is how long a message waits that could not be worked, so
	// that a store which is down for a minute or two costs nobody a unit.
	returnDelay = 5 * time.Second
)

// A stage is a function and what it is fed from.
type stage struct {
	// from are its queues, best first.
	from []queue.Name
	// batch is how many messages it takes at most, workers how many batches
	// at one time.
	batch, workers int
	// room, if not nil, says how many more messages it makes sense to take.
	room func() int
	// finish lets batches that are begun end when all is being stopped:
	// somebody's code that was run half-way would be run again.
	finish bool
	// handle works a batch and returns the IDs of what is to be delivered
	// again.
	handle func(ctx context.Context, from queue.Name, batch []queue.Delivery) []string
	// bury accounts for a message that is given up on.
	bury func(ctx context.Context, from queue.Name, d queue.Delivery, reason string) error
}

// A driver feeds stages from queues, as Lambda's event source mapping does in
// the cloud.
type driver struct {
	queue Polled
	log   *slog.Logger
	// job is the one job whose messages are taken; empty takes all.
	job crawl.JobUID
	// fatal is told of an error after which there is no going on.
	fatal func(error)
}

// drive runs a stage until ctx is done and its batches have ended. One
// goroutine receives, when a worker is free.
func (d *driver) drive(ctx context.Context, s stage) {
	free := make(chan struct{}, s.workers)
	var working sync.WaitGroup
	defer working.Wait()
	for {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		from, batch := d.next(ctx, s)
		if batch == nil {
			return
		}
		working.Go(func() {
			defer func() { <-free }()
			d.work(ctx, s, from, batch)
		})
	}
}

// next waits for messages; nil when ctx is done.
func (d *driver) next(ctx context.Context, s stage) (queue.Name, []queue.Delivery) {
	for ctx.Err() == nil {
		most := s.batch
		if s.room != nil {
			most = min(most, s.room())
		}
		if most <= 0 {
			if assembly.Sleep(ctx, roomEvery) != nil {
				break
			}
			continue
		}
		bells := make([]<-chan struct{}, 0, len(s.from))
		for _, from := range s.from {
			bells = append(bells, d.queue.Wait(from))
		}
		for _, from := range s.from {
			batch, err := d.queue.Receive(ctx, from, d.job, most)
			if errors.Is(err, local.ErrUnusable) {
				d.fatal(err)
				return "", nil
			}
			if err != nil && ctx.Err() == nil {
				d.log.Error("messages not received", "queue", from, "err", err)
			}
			if len(batch) > 0 {
				return from, batch
			}
		}
		d.rest(ctx, s.from, bells)
	}
	return "", nil
}

// rest waits until a message may be due.
func (d *driver) rest(ctx context.Context, from []queue.Name, bells []<-chan struct{}) {
	wait := pollEvery
	for _, name := range from {
		due, err := d.queue.NextDue(ctx, name, d.job)
		if err == nil && !due.IsZero() {
			wait = min(wait, max(time.Until(due), time.Millisecond))
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	// A stage has one queue or three.
	var second, third <-chan struct{}
	if len(bells) > 1 {
		second = bells[1]
	}
	if len(bells) > 2 {
		third = bells[2]
	}
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-bells[0]:
	case <-second:
	case <-third:
	}
}

// work hands a batch to the stage, and deletes what is done.
func (d *driver) work(ctx context.Context, s stage, from queue.Name, batch []queue.Delivery) {
	batch = slices.DeleteFunc(batch, func(m queue.Delivery) bool {
		if m.Receives <= maxReceives {
			return false
		}
		d.giveUp(ctx, s, from, m)
		return true
	})
	if len(batch) == 0 {
		return
	}
	failed := make(map[string]bool)
	work := ctx
	if s.finish {
		work = context.WithoutCancel(ctx)
	}
	for _, id := range s.handle(work, from, batch) {
		failed[id] = true
	}
	done := make([]string, 0, len(batch))
	// Even when all is being stopped, what is done is done, and what is not
	// is given back.
	ctx = context.WithoutCancel(ctx)
	for _, m := range batch {
		if !failed[m.ID] {
			done = append(done, m.Receipt)
			continue
		}
		if err := d.queue.Return(ctx, from, []string{m.Receipt}, returnDelay); err != nil {
			d.log.Error("message not returned", "queue", from, "err", err)
		}
	}
	if err := d.queue.Delete(ctx, from, done); err != nil {
		d.log.Error("messages not deleted", "queue", from, "messages", len(done), "err", err)
	}
}

func (d *driver) giveUp(ctx context.Context, s stage, from queue.Name, m queue.Delivery) {
	ctx = context.WithoutCancel(ctx)
	if err := s.bury(ctx, from, m, "delivered too often"); err != nil {
		d.log.Error("dead letter not accounted for", "queue", from, "id", m.ID, "err", err)
		return // it is delivered again, and tried again
	}
	if err := d.queue.Delete(ctx, from, []string{m.Receipt}); err != nil {
		d.log.Error("dead letter not deleted", "queue", from, "id", m.ID, "err", err)
	}
}
