package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/slots"
	"github.com/skitterhq/skitter/shared/weburl"
)

// storeDelay is how long a request waits whose store does not answer.
const storeDelay = 5 * time.Second

// An outcome is what became of one attempt; the fields that are set say what
// is to be done.
type outcome struct {
	attempt
	page    *message.Page // to be parsed
	resend  *message.Request
	delay   time.Duration // of resend
	instead *crawl.Request
	settled *frontier.Settlement
	stop    string // reason to stop the job
}

// attempt fetches one request.
func (e *Engine) attempt(ctx context.Context, v *view, a attempt) outcome {
	if !v.takePlace(ctx) {
		return a.sameAgain(0)
	}
	defer v.leavePlace()
	ctx = slots.WithTold(ctx, a.msg.Turn)
	var resp *crawl.Response
	sent := a.req.Clone()
	err := crawl.Guard(func() (err error) { resp, err = v.Download.Fetch(ctx, sent); return err })
	if err != nil {
		o := e.verdict(ctx, v, a, err)
		o.carry(sent.Jars)
		return o
	}
	if resp.Request == nil {
		resp.Request = sent // a middleware made it
	}
	page, err := e.page(ctx, v, a, resp)
	if err != nil {
		v.Log.Warn("page not kept, to be fetched again", "url", weburl.Shown(a.req.URL), "err", err)
		return a.sameAgain(storeDelay)
	}
	v.Stats.Inc("response_received_count")
	o := outcome{attempt: a, page: page}
	o.carry(resp.Request.Jars)
	o.heed(v.Extensions.ResponseReceived(ctx, resp))
	return o
}

// carry puts the cookies that a request has after its answer, or its failure,
// into what is sent on of it. What comes back without having been tried has
// those it came with.
func (o *outcome) carry(text string) {
	switch {
	case text == o.req.Jars: // those that it came with
	case o.page != nil:
		o.page.Jars = &text
	case o.resend != nil && o.resend.Attempt > o.msg.Attempt:
		o.resend.Jars = &text
	}
}

// takePlace waits for a place among the requests under way, and reports whether
// there was one before the invocation's end.
func (r *Runtime) takePlace(ctx context.Context) bool {
	if r.places == nil {
		return true
	}
	r.waiting.Add(1)
	defer r.waiting.Add(-1)
	select {
	case r.places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *Runtime) leavePlace() {
	if r.places != nil {
		<-r.places
	}
}

// verdict decides what becomes of a request that brought no response.
func (e *Engine) verdict(ctx context.Context, v *view, a attempt, err error) outcome {
	var (
		drop    *crawl.Drop
		retry   *crawl.Retry
		later   *crawl.Later
		instead *crawl.Instead
		closes  *crawl.CloseSpider
		failure *crawl.Failure
		broke   *crawl.PanicError
	)
	o := outcome{attempt: a}
	switch {
	case errors.As(err, &broke):
		e.logError(v.Log, "a downloader middleware panicked", err, "url", weburl.Shown(a.req.URL))
		o.page = failurePage(a, &crawl.Failure{Reason: "panic", Message: err.Error()})
	case errors.As(err, &later):
		o = a.sameAgain(later.At.Sub(e.Now()))
		if later.Queued {
			o.resend.Turn = later.At
		}
	case errors.As(err, &retry):
		o = a.sameAgain(retry.After)
		o.resend.Attempt++
		o.resend.Priority += retry.Priority
		o.resend.Turn = time.Time{}
	case errors.As(err, &instead):
		o.instead = instead.Target(a.req)
		o.settled = &frontier.Settlement{Unit: a.unit, State: frontier.Done, Outcome: frontier.Outcome{Why: "redirected"}}
	case errors.As(err, &drop):
		o.settled = &frontier.Settlement{Unit: a.unit, State: frontier.Dropped, Outcome: frontier.Outcome{Why: drop.Reason}}
		o.heed(v.Extensions.RequestDropped(ctx, a.req, drop.Reason))
	case errors.As(err, &closes):
		o.settled = &frontier.Settlement{Unit: a.unit, State: frontier.Done, Outcome: frontier.Outcome{Why: "close-spider"}}
		o.stop = stopReason(closes)
	case ctx.Err() != nil:
		o = a.sameAgain(0) // the invocation ends; the request is not to blame
	case errors.As(err, &failure):
		o.page = failurePage(a, failure)
	default:
		v.Log.Error("downloading failed", "url", weburl.Shown(a.req.URL), "err", err)
		o.page = failurePage(a, &crawl.Failure{Reason: "exception", Message: err.Error()})
	}
	return o
}

// heed notes that an extension stops the job.
func (o *outcome) heed(closes *crawl.CloseSpider) {
	if closes != nil && o.stop == "" {
		o.stop = stopReason(closes)
	}
}

func failurePage(a attempt, f *crawl.Failure) *message.Page {
	return &message.Page{Req: a.msg.Req, Attempt: a.msg.Attempt, Priority: a.msg.Priority, Jars: a.msg.Jars, Failure: f}
}

func stopReason(c *crawl.CloseSpider) string {
	if c.Reason == "" {
		return crawl.ReasonCancelled
	}
	return c.Reason
}

// sameAgain sends a request back as it came; it costs no attempt.
func (a attempt) sameAgain(delay time.Duration) outcome {
	again := a.msg
	return outcome{attempt: a, resend: &again, delay: delay}
}

// ordersOf returns the requests among outcomes that go back to their queue.
func ordersOf(some []outcome) []scheduler.Order {
	var orders []scheduler.Order
	for _, o := range some {
		if o.resend != nil {
			orders = append(orders, scheduler.Order{
				Unit: o.unit, Request: *o.resend, Delay: o.delay, Marks: o.marks, Repeated: o.repeated,
			})
		}
	}
	return orders
}

// instead admits a redirect's target as a child of the unit that was redirected.
func (e *Engine) instead(ctx context.Context, out *outlet, o outcome) error {
	return out.request(ctx, scheduler.NewIdentifier(o.unit), o.unit, o.req, o.instead)
}

// page packs a response for its message; a body that is too long for it goes
// into a blob.
func (e *Engine) page(ctx context.Context, v *view, a attempt, resp *crawl.Response) (*message.Page, error) {
	p := &message.Page{Req: a.msg.Req, Attempt: a.msg.Attempt, Priority: a.msg.Priority, Jars: a.msg.Jars, Response: resp, Body: e.packer.Pack(resp.Body)}
	if len(p.Body.Data) <= e.InlineBody {
		return p, nil
	}
	key := fmt.Sprintf("%s%s-%s", pagesPrefix(v.job.UID), a.unit, crawl.NewRunID())
	if err := e.Blobs.Put(ctx, key, p.Body.Data); err != nil {
		return nil, fmt.Errorf("keep the body of %s: %w", weburl.Shown(resp.URL), err)
	}
	p.Body.Key, p.Body.Length, p.Body.Data = key, int64(len(p.Body.Data)), nil
	return p, nil
}
