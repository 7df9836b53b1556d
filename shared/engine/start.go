package engine

import (
	"context"
	"errors"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/spider"
)

// startSlice is how many elements of a start one message reads, so that a
// start of a million URLs is cut into short invocations.
const startSlice = 5000

// start reads a slice of the job's start: each request passes the spider
// middlewares and is admitted. Then the start sends itself on; its last slice
// settles its unit.
func (e *Engine) start(ctx context.Context, r *run, c message.Control) error {
	defer e.account(ctx, r, jobs.Control)
	rows, err := e.Scheduler.Read(ctx, r.job.UID, []crawl.UnitID{crawl.StartUnit})
	if err != nil {
		return err
	}
	if rows[crawl.StartUnit].State != frontier.Queued {
		return nil
	}
	if c.Run == "" {
		c.Run = crawl.NewRunID()
	}
	left := startSlice
	slice := &spider.Slice{From: c.From, More: func() bool {
		left--
		return left >= 0 && !e.outOfTime(ctx)
	}}
	out := e.outlet(r)
	err = e.readStart(ctx, r, out, slice, &c)
	var failed *startError
	switch {
	case errors.As(err, &failed):
		e.startFailed(ctx, r, out, c, failed.err)
	case err != nil:
		return err
	case slice.Done:
		out.settle(startSettled(frontier.Done, "", c))
	default:
		if err := out.handOn(ctx); err != nil {
			return err
		}
		c.From = slice.Next
		return e.Scheduler.SendControl(ctx, r.job.UID, c, 0)
	}
	return out.flush(ctx)
}

// A startError is what the spider's start itself said, not the ports.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }

// readStart hands on what a slice gives. It keeps count in c.
func (e *Engine) readStart(ctx context.Context, r *run, out *outlet, slice *spider.Slice, c *message.Control) error {
	var ident *scheduler.Identifier
	element := -1
	start := spider.Start{Job: r.job, Args: r.Spec.Args, URLs: r.Spec.StartURLs}
	var unread error
	if r.Spec.FailedOf != "" {
		start.Requests = e.failedRequests(ctx, r.Spec.FailedOf, &unread)
	}
	for res, err := range r.Chain.Start(ctx, start, slice) {
		if unread != nil {
			return unread
		}
		if err != nil {
			return &startError{err}
		}
		if element != slice.Next {
			element = slice.Next
			ident = scheduler.StartIdentifier(element)
		}
		if res.Item == nil {
			if err := out.request(ctx, ident, crawl.StartUnit, res.Request); err != nil {
				return err
			}
			continue
		}
		if err := out.item(ctx, crawl.StartUnit, c.Run, c.Items, *res.Item); err != nil {
			return err
		}
		c.Items++
	}
	return nil
}

func (e *Engine) startFailed(ctx context.Context, r *run, out *outlet, c message.Control, err error) {
	var closes *crawl.CloseSpider
	if errors.As(err, &closes) {
		e.ask(ctx, r.job, message.Control{Do: message.DoStop, Reason: stopReason(closes)})
		out.settle(startSettled(frontier.Done, "close-spider", c))
		return
	}
	class := errorClass(err)
	r.Stats.Inc("spider_exceptions/count")
	r.Stats.Inc("spider_exceptions/" + class)
	r.Log.Error("the spider's start failed", "err", err)
	out.settle(startSettled(frontier.Failed, "start-error: "+class, c))
}

func startSettled(state frontier.State, why string, c message.Control) frontier.Settlement {
	return frontier.Settlement{
		Unit: crawl.StartUnit, State: state,
		Outcome: frontier.Outcome{Run: c.Run, Items: c.Items, Why: why},
	}
}
