package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
)

// Fetch takes a batch of request messages: each request goes down the
// downloader middlewares, takes its turn at its host and goes out, and the page
// or the failure is sent on. It returns the IDs of the messages that are to be
// delivered again.
func (e *Engine) Fetch(ctx context.Context, from queue.Name, batch []queue.Delivery) []string {
	return e.runBatch(ctx, from, batch, message.KindRequest, func(ctx context.Context, v *view, msgs []incoming) error {
		return e.fetch(ctx, v, from, msgs)
	})
}

func (e *Engine) fetch(ctx context.Context, v *view, from queue.Name, msgs []incoming) error {
	defer e.account(context.WithoutCancel(ctx), v, jobs.Fetch)
	if !v.job.Open() {
		return nil // no new turn; its rows stay, and closing or resuming sees to them
	}
	todo, err := e.fetchable(ctx, v, msgs)
	if err != nil || len(todo) == 0 {
		return err
	}
	outcomes := make(chan outcome, len(todo))
	var all sync.WaitGroup
	for _, a := range todo {
		all.Go(func() { outcomes <- e.attempt(ctx, v, a) })
	}
	go func() { all.Wait(); close(outcomes) }()
	// What is done is sent on even when the invocation is being stopped: the
	// page is here, and asking for it again would be impolite.
	return e.sendOn(context.WithoutCancel(ctx), v, from, outcomes, len(todo))
}

// An attempt is one request to be fetched now.
type attempt struct {
	delivery queue.Delivery

	unit     crawl.UnitID
	marks    int  // of the unit; once the attempt is over they are survived
	repeated bool // its message may not be the only one of the unit
	msg      message.Request
	req      *crawl.Request
}

// fetchable leaves out what needs no fetching: duplicates, and units that are
// closed or were never admitted.
func (e *Engine) fetchable(ctx context.Context, v *view, msgs []incoming) ([]attempt, error) {
	units := make([]crawl.UnitID, 0, len(msgs))
	for _, m := range msgs {
		units = append(units, m.header.Unit)
	}
	rows, err := e.Scheduler.Read(ctx, v.job.UID, units)
	if err != nil {
		return nil, err
	}
	todo := make([]attempt, 0, len(msgs))
	taken := make(map[crawl.UnitID]bool, len(msgs))
	for _, m := range msgs {
		unit := m.header.Unit
		if !unit.IsZero() && (rows[unit].State != frontier.Queued || taken[unit]) {
			continue
		}
		a := attempt{unit: unit, marks: rows[unit].Marks, repeated: m.repeated(), delivery: m.delivery}
		if err := message.Decode(m.payload, &a.msg); err != nil {
			v.refuse(m, err)
			continue
		}
		if a.msg.Probe != "" {
			e.ask(ctx, v.job, message.Control{Do: message.DoProbed, Lane: a.msg.Probe})
			continue
		}
		if a.req, err = e.Scheduler.UnpackWith(ctx, v.job.UID, a.msg.Req, a.msg.Jars); err != nil {
			v.refuse(m, err)
			continue
		}
		a.req.RetryTimes, a.req.Priority = a.msg.Attempt, a.msg.Priority
		taken[unit] = true
		todo = append(todo, a)
	}
	return todo, nil
}

// sendOn hands on outcomes as they come, those that come together in one go.
// What is handed on is deleted at once: a slow page must not bring its
// neighbours back. The last need no such thing, since the invocation ends.
func (e *Engine) sendOn(ctx context.Context, v *view, from queue.Name, outcomes <-chan outcome, left int) error {
	for first := range outcomes {
		some := append(make([]outcome, 0, 10), first)
		some = e.linger(some, outcomes)
		if err := e.dispatch(ctx, v, some); err != nil {
			for range outcomes { // let the others end
			}
			return err
		}
		if left -= len(some); left == 0 {
			break
		}
		done := make([]queue.Delivery, 0, len(some))
		for _, o := range some {
			done = append(done, o.delivery)
		}
		e.delete(ctx, from, done, nil)
		e.account(ctx, v, jobs.Fetch)
	}
	return nil
}

// linger takes along the outcomes that are there, and waits a little for more,
// since ten messages cost what one does.
func (e *Engine) linger(some []outcome, outcomes <-chan outcome) []outcome {
	var over <-chan time.Time
	if e.Linger > 0 {
		timer := time.NewTimer(e.Linger)
		defer timer.Stop()
		over = timer.C
	}
	for len(some) < cap(some) {
		o, more := next(outcomes, over)
		if !more {
			break
		}
		some = append(some, o)
	}
	return some
}

// next is the next outcome, if there is one before the time is over; a nil
// channel waits for none.
func next(outcomes <-chan outcome, over <-chan time.Time) (outcome, bool) {
	if over == nil {
		select {
		case o, more := <-outcomes:
			return o, more
		default:
			return outcome{}, false
		}
	}
	select {
	case o, more := <-outcomes:
		return o, more
	case <-over:
		return outcome{}, false
	}
}

// dispatch sends each outcome on its way: redirect targets are admitted, pages
// and failures go to be parsed, what is to be tried again goes back, and what
// is done with is settled last.
func (e *Engine) dispatch(ctx context.Context, v *view, some []outcome) error {
	out := e.outlet(v)
	var pages []queue.Message
	orders := ordersOf(some)
	stopped := false
	for _, o := range some {
		if o.instead != nil {
			if err := e.instead(ctx, out, o); err != nil {
				return err
			}
		}
		if o.page != nil {
			body, err := message.Encode(message.Header{
				Kind: message.KindPage, Job: v.job.UID, Unit: o.unit, Base: o.marks, Repeated: o.repeated, Sent: e.Now().UTC(),
			}, o.page)
			if err != nil {
				return err
			}
			pages = append(pages, queue.Message{Job: v.job.UID, Body: body})
		}
		if o.settled != nil {
			out.settle(*o.settled)
		}
		if o.stop != "" && !stopped {
			if err := e.Stop(ctx, v.job.UID, o.stop); err != nil {
				return err
			}
			stopped = true
		}
	}
	if len(pages) > 0 {
		if err := e.Queue.Send(ctx, queue.Page, pages); err != nil {
			return fmt.Errorf("send %d pages: %w", len(pages), err)
		}
	}
	if err := e.Scheduler.SendRequests(ctx, v.job.UID, orders); err != nil {
		return err
	}
	return out.flush(ctx)
}
