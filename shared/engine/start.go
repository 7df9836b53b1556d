package engine

import (
	"context"
	"errors"
	"time"

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

// startTime is how long a slice of a start may take.
const startTime = 10 * time.Second

// start reads a slice of the job's start: each request passes the spider
// middlewares and is admitted. Then the start sends itself on; its last slice
// settles its unit.
func (e *Engine) start(ctx context.Context, v *view, c message.Control) error {
	defer e.account(ctx, v, jobs.Control)
	rows, err := e.Scheduler.Read(ctx, v.job.UID, []crawl.UnitID{crawl.StartUnit})
	if err != nil {
		return err
	}
	if rows[crawl.StartUnit].State != frontier.Queued {
		return nil
	}
	first := c.Run == ""
	if first {
		c.Run = crawl.NewRunID()
	}
	left, begun := startSlice, e.Now()
	out := e.outlet(v)
	if first {
		if err := e.heed(ctx, v, v.Extensions.SpiderOpened(ctx, v.job)); err != nil {
			return err
		}
	}
	slice := &spider.Slice{From: c.From, More: func() bool {
		left--
		return left >= 0 && e.Now().Sub(begun) < startTime && !e.outOfTime(ctx) && !out.halted()
	}}
	given, err := e.readStart(ctx, v, out, slice, &c)
	var failed *startError
	var bad *badOutput
	switch {
	case errors.As(err, &failed), errors.As(err, &bad):
		if err := e.startFailed(ctx, v, out, c, err); err != nil {
			return err
		}
	case err != nil:
		return err
	case slice.Done, out.halted():
		if first && given == 0 && slice.Done && v.Spec.FailedOf == "" {
			v.Log.Warn("the start gives no request, so there is no page: name URLs in the spider's start, or with the job")
		}
		out.settle(startSettled(frontier.Done, "", c))
	default:
		if err := out.handOn(ctx); err != nil {
			return err
		}
		c.From = slice.Next
		return e.Scheduler.SendControl(ctx, v.job.UID, c, 0)
	}
	return out.flush(ctx)
}

// A startError is what the spider's start itself said, not the ports.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// readStart hands on what a slice gives, and returns how many results that were.
// It keeps count of items in c.
func (e *Engine) readStart(ctx context.Context, v *view, out *outlet, slice *spider.Slice, c *message.Control) (given int, err error) {
	var ident *scheduler.Identifier
	element := -1
	start := spider.Start{Job: v.job, Args: v.Spec.Args, URLs: v.Spec.StartURLs}
	var unread error
	if v.Spec.FailedOf != "" {
		start.Requests = e.failedRequests(ctx, v.Spec.FailedOf, &unread)
	}
	for res, err := range v.Chain.Start(ctx, start, slice) {
		if unread != nil {
			return given, unread
		}
		if err != nil {
			return given, &startError{err}
		}
		if err := check(res); err != nil {
			return given, err
		}
		given++
		if element != slice.Next {
			element = slice.Next
			ident = scheduler.StartIdentifier(element)
		}
		if res.Item == nil {
			if err := out.request(ctx, ident, crawl.StartUnit, nil, res.Request); err != nil {
				return given, err
			}
			continue
		}
		if err := out.item(ctx, crawl.StartUnit, c.Run, c.Items, *res.Item); err != nil {
			return given, err
		}
		c.Items++
	}
	return given, nil
}

func (e *Engine) startFailed(ctx context.Context, v *view, out *outlet, c message.Control, err error) error {
	var closes *crawl.CloseSpider
	if errors.As(err, &closes) {
		out.settle(startSettled(frontier.Done, "close-spider", c))
		return e.Stop(ctx, v.job.UID, stopReason(closes))
	}
	class, fault := e.spiderError(ctx, v, nil, err)
	if fault != nil {
		return fault
	}
	out.settle(startSettled(frontier.Failed, "start-error: "+class, c))
	return nil
}

func startSettled(state frontier.State, why string, c message.Control) frontier.Settlement {
	return frontier.Settlement{
		Unit: crawl.StartUnit, State: state,
		Outcome: frontier.Outcome{Run: c.Run, Items: c.Items, Why: why},
	}
}
