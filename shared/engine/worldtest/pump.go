package worldtest

import (
	"context"
	"slices"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/queue"
)

// stages are the queues and who works them.
func (w *World) stages() []struct {
	from   queue.Name
	handle func(context.Context, queue.Name, []queue.Delivery) []string
} {
	type s = struct {
		from   queue.Name
		handle func(context.Context, queue.Name, []queue.Delivery) []string
	}
	list := []s{
		{queue.Control, w.Control},
		{queue.RequestHigh, w.fetcher.Fetch}, {queue.Request, w.fetcher.Fetch}, {queue.RequestLow, w.fetcher.Fetch},
		{queue.Page, w.parser.Parse}, {queue.Item, w.keeper.Pipeline},
	}
	if w.opts.Redrives {
		list = append(list, s{queue.Dead, w.dead})
	}
	return list
}

// dead accounts for what the queues gave up on.
func (w *World) dead(ctx context.Context, _ queue.Name, batch []queue.Delivery) []string {
	letters := make([]engine.DeadDelivery, len(batch))
	for i, d := range batch {
		letters[i].Delivery = d
	}
	return w.DeadLetters(ctx, letters)
}

// maxReceives is how often a message is delivered before it is dead.
const maxReceives = 50

// Pump works off one batch of each queue, side by side, and sweeps and moves the
// clock when nothing is due. It returns when nobody can go on without the clock.
func (w *World) Pump() {
	w.t.Helper()
	worked := false
	for _, s := range w.stages() {
		if w.opts.Due != nil && !w.isDue(s.from) {
			continue
		}
		batch, err := w.base.Queue.Receive(w.t.Context(), s.from, "", 10)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(batch) > 0 {
			worked = true
			w.busy.Add(1)
			w.running.Go(func() {
				defer w.busy.Add(-1)
				w.Work(s.from, s.handle, batch)
			})
			synctest.Wait()
		}
	}
	if worked {
		return
	}
	w.rest()
	if time.Since(w.swept) < w.opts.Sweep {
		return
	}
	w.swept = time.Now()
	ctx := context.WithValue(w.t.Context(), invocationKey{}, new(invocation))
	if err := w.Sweep(ctx, ""); err != nil {
		w.t.Logf("sweep: %v", err)
	}
}

// rest moves the clock to where something is to be done. What is running may
// send something at any time, and may be all that the job waits for.
func (w *World) rest() {
	if w.opts.Due == nil {
		time.Sleep(time.Second)
		return
	}
	sweep := w.swept.Add(max(w.opts.Sweep, time.Second))
	for busy := w.busy.Load(); w.busy.Load() == busy && time.Now().Before(sweep); {
		next := sweep
		if busy > 0 {
			next = time.Now().Add(time.Second)
		}
		for _, s := range w.stages() {
			if w.isDue(s.from) {
				return
			}
			if at := w.opts.Due(s.from); !at.IsZero() && at.Before(next) {
				next = at
			}
		}
		time.Sleep(time.Until(next))
	}
}

// isDue reports whether a queue has a message to be received.
func (w *World) isDue(from queue.Name) bool {
	at := w.opts.Due(from)
	return !at.IsZero() && !at.After(time.Now())
}

// Work hands a batch to a stage in an invocation of its own, and deletes what is
// done, as Lambda's event source mapping does.
func (w *World) Work(from queue.Name, handle func(context.Context, queue.Name, []queue.Delivery) []string, batch []queue.Delivery) {
	ctx := context.WithValue(w.t.Context(), invocationKey{}, &invocation{from: from})
	var alive []queue.Delivery
	for _, d := range batch {
		if d.Receives > maxReceives && !w.opts.Redrives {
			if err := w.Bury(ctx, from, d, "delivered too often"); err == nil {
				_ = w.Queue.Delete(ctx, from, []string{d.Receipt}) // else it comes again
			}
			continue
		}
		alive = append(alive, d)
	}
	if w.Duplicate != nil {
		for _, d := range slices.Clone(alive) {
			if w.Duplicate(d) {
				alive = append(alive, d)
			}
		}
	}
	if w.opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.opts.Timeout)
		defer cancel()
	}
	failed := handle(ctx, from, alive)
	if Crashed(ctx) {
		return
	}
	var done []string
	for _, d := range alive {
		if !slices.Contains(failed, d.ID) {
			done = append(done, d.Receipt)
		}
	}
	_ = w.Queue.Delete(ctx, from, done) // else it comes again
}
