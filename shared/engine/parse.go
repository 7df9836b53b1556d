package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Parse takes a batch of page messages: the spider's callback and legs read
// each page, its requests pass the spider middlewares and go back to the
// scheduler, and its items go to the pipelines. It returns the IDs of the
// messages that are to be delivered again.
func (e *Engine) Parse(ctx context.Context, from queue.Name, batch []queue.Delivery) []string {
	return e.runBatch(ctx, from, batch, message.KindPage, e.parse)
}

func (e *Engine) parse(ctx context.Context, v *view, msgs []incoming) error {
	defer e.account(ctx, v, jobs.Parse)
	rows, err := e.pageRows(ctx, v, msgs)
	if err != nil {
		return err
	}
	out := e.outlet(v)
	read := make(map[crawl.UnitID]bool, len(msgs))
	for k, m := range msgs {
		if e.outOfTime(ctx) {
			if err := e.sendBack(ctx, v, queue.Page, msgs[k:]); err != nil {
				return err
			}
			break
		}
		unit := m.header.Unit
		if rows[unit].State != frontier.Queued || read[unit] {
			continue // a duplicate, or settled already
		}
		read[unit] = true
		if err := e.readPage(ctx, v, out, m, rows[unit].Marks); err != nil {
			return err
		}
	}
	return out.flush(ctx)
}

// pageRows are the rows of pages. A page that is the only one of its unit finds
// the row as its request has: queued, with the marks that it names. To read that
// would cost more than to read the few pages twice that SQS delivers twice.
func (e *Engine) pageRows(ctx context.Context, v *view, msgs []incoming) (map[crawl.UnitID]frontier.Row, error) {
	rows := make(map[crawl.UnitID]frontier.Row, len(msgs))
	var units []crawl.UnitID
	for _, m := range msgs {
		if m.repeated() {
			units = append(units, m.header.Unit)
			continue
		}
		rows[m.header.Unit] = frontier.Row{State: frontier.Queued, Marks: m.header.Base}
	}
	if len(units) == 0 {
		return rows, nil
	}
	read, err := e.Scheduler.Read(ctx, v.job.UID, units)
	if err != nil {
		return nil, err
	}
	for _, u := range units {
		rows[u] = read[u]
	}
	return rows, nil
}

// haltAfter is how long a page of a job that is to end may go on giving.
const haltAfter = 10 * time.Second

// A reading is one page on its way through the spider.
type reading struct {
	unit     crawl.UnitID
	marks    int // of the unit; a slice that is done has survived them
	repeated bool
	msg      message.Page
	page     *spider.Page
	run      crawl.RunID
	given    int // outputs given so far, those of earlier slices included
	items    int // items among them
}

// readPage runs the spider on one page. Its error is a fault of the ports; what
// is wrong with the page fails its unit alone.
func (e *Engine) readPage(ctx context.Context, v *view, out *outlet, m incoming, marks int) error {
	rd := reading{unit: m.header.Unit, marks: marks, repeated: m.repeated()}
	if err := message.Decode(m.payload, &rd.msg); err != nil {
		v.refuse(m, err)
		return nil
	}
	if rd.run = rd.msg.Run; rd.run == "" {
		rd.run = crawl.NewRunID()
	}
	page, err := e.openPage(ctx, v, rd.msg)
	if err != nil {
		v.refuse(m, err)
		return nil
	}
	rd.page = page
	ident, begun := scheduler.NewIdentifier(rd.unit), e.Now()
results:
	for res, err := range v.Chain.Process(ctx, page) {
		if err != nil {
			return e.pageFailed(ctx, v, out, &rd, err)
		}
		err := e.take(ctx, out, ident, &rd, res)
		var bad *badOutput
		switch {
		case errors.As(err, &bad):
			return e.pageFailed(ctx, v, out, &rd, bad)
		case err != nil:
			return err
		case e.outOfTime(ctx):
			return e.continuePage(ctx, v, out, rd)
		case out.halted() && e.Now().Sub(begun) > haltAfter:
			break results // the job is to end, and this page could go on for ever
		}
	}
	if rd.given == 0 && page.HasFlag(crawl.FlagGaveUp) {
		out.settle(rd.settlement(frontier.Failed, fmt.Sprintf("status-%d", page.Status)))
		return nil
	}
	out.settle(rd.settlement(frontier.Done, ""))
	return nil
}

// take hands on one output, unless an earlier slice of the run did.
func (e *Engine) take(ctx context.Context, out *outlet, ident *scheduler.Identifier, rd *reading, res crawl.Result) error {
	if err := check(res); err != nil {
		return err
	}
	rd.given++
	handed := rd.given <= rd.msg.Handed
	if res.Item != nil {
		ordinal := rd.items
		rd.items++
		if handed {
			return nil
		}
		return out.item(ctx, rd.unit, rd.run, ordinal, *res.Item)
	}
	if handed {
		// The identifier counts repeats, so it must see this one too. A URL
		// that is wrong was counted by the slice that handed it on.
		_, _ = ident.Unit(res.Request)
		return nil
	}
	return out.request(ctx, ident, rd.unit, rd.page.Request, res.Request)
}

const (
	// maxSlices is in how many invocations a page may be read. Each goes over
	// what the ones before gave, so a page that needs so many is read for an
	// hour.
	maxSlices = 100
	// maxIdle is how many of them in a row may end before anything new comes:
	// a callback that takes an invocation to give what it gave before will
	// not give more in the next.
	maxIdle = 2
)

// continuePage sends a page on that cannot be finished in this invocation. Only
// the last slice settles. A page that does not come along is given up on.
func (e *Engine) continuePage(ctx context.Context, v *view, out *outlet, rd reading) error {
	rd.msg.Idle++
	if rd.given > rd.msg.Handed {
		rd.msg.Handed, rd.msg.Items, rd.msg.Idle = rd.given, rd.items, 0
	}
	if rd.msg.Slices++; rd.msg.Slices >= maxSlices || rd.msg.Idle >= maxIdle {
		v.Log.Error("page takes too long", "url", weburl.Shown(rd.page.URL), "callback", rd.page.Request.Callback, "slices", rd.msg.Slices, "outputs", rd.msg.Handed)
		rd.items = rd.msg.Items // what earlier slices gave counts
		out.settle(rd.settlement(frontier.Failed, "too-slow"))
		// At once: the callback may go on, though nobody listens, until the
		// invocation is over.
		return out.flush(ctx)
	}
	if err := out.handOn(ctx); err != nil {
		return err
	}
	rd.msg.Run = rd.run
	body, err := message.Encode(message.Header{
		Kind: message.KindPage, Job: v.job.UID, Unit: rd.unit, Base: rd.marks, Repeated: rd.repeated, Sent: e.Now().UTC(),
	}, rd.msg)
	if err != nil {
		return err
	}
	return e.Queue.Send(ctx, queue.Page, []queue.Message{{Job: v.job.UID, Body: body}})
}

// openPage makes a page of its message.
func (e *Engine) openPage(ctx context.Context, v *view, msg message.Page) (*spider.Page, error) {
	req, err := e.Scheduler.UnpackWith(ctx, v.job.UID, msg.Req, msg.Jars)
	if err != nil {
		return nil, err
	}
	req.RetryTimes = msg.Attempt
	resp := msg.Response
	if resp == nil {
		resp = &crawl.Response{URL: req.URL}
	}
	resp.Request = req
	if msg.Failure == nil {
		packed := msg.Body.Data
		if msg.Body.Key != "" {
			if packed, err = e.Blobs.Get(ctx, msg.Body.Key, msg.Body.Offset, msg.Body.Length); err != nil {
				return nil, fmt.Errorf("read the body of %s: %w", weburl.Shown(resp.URL), err)
			}
		}
		if resp.Body, err = e.packer.Unpack(msg.Body, packed); err != nil {
			return nil, err
		}
	}
	page := v.Page(resp, v.job)
	if msg.Failure != nil {
		msg.Failure.Request = req
		page.Failure = msg.Failure
	}
	return page, nil
}

// pageFailed settles a page whose processing ended with an error. What it gave
// before still counts, as in Scrapy.
func (e *Engine) pageFailed(ctx context.Context, v *view, out *outlet, rd *reading, err error) error {
	var closes *crawl.CloseSpider
	var retry *crawl.Retry
	var drop *crawl.Drop
	var failure *crawl.Failure
	switch {
	case errors.As(err, &closes):
		// The reason stands before the unit is settled, after which the job
		// may be found finished.
		if err := e.Stop(ctx, v.job.UID, stopReason(closes)); err != nil {
			return err
		}
		out.settle(rd.settlement(frontier.Done, "close-spider"))
	case errors.As(err, &retry):
		v.tryAgain(out, rd, retry)
	case errors.As(err, &drop):
		v.Log.Debug("page dropped", "url", weburl.Shown(rd.page.URL), "reason", drop.Reason)
		out.settle(rd.settlement(frontier.Dropped, drop.Reason))
	case errors.As(err, &failure):
		v.Log.Error("downloading failed", "url", weburl.Shown(rd.page.URL), "reason", failure.Reason, "err", failure.Message)
		out.settle(rd.settlement(frontier.Failed, failure.Reason))
	default:
		class, fault := e.spiderError(ctx, v, rd.page, err)
		if fault != nil {
			return fault
		}
		out.settle(rd.settlement(frontier.Failed, "spider-error: "+class))
	}
	return nil
}

// tryAgain has a page fetched again as its spider wants, if an attempt is left.
// Its unit stays open, so items of this reading count for nothing.
func (v *view) tryAgain(out *outlet, rd *reading, want *crawl.Retry) {
	var verdict *crawl.Retry
	if v.Attempts != nil {
		verdict = v.Attempts.Again(rd.page.Request, want)
	}
	if verdict == nil {
		out.settle(rd.settlement(frontier.Failed, "gave-up: "+cmp.Or(want.Reason, crawl.Unspecified)))
		return
	}
	out.retry(scheduler.Order{
		Unit: rd.unit, Delay: verdict.After, Marks: rd.marks, Repeated: rd.repeated,
		Request: message.Request{
			Req: rd.msg.Req, Jars: rd.msg.Jars, Attempt: rd.msg.Attempt + 1, Priority: rd.msg.Priority + verdict.Priority,
		},
	})
}

func (rd *reading) settlement(state frontier.State, why string) frontier.Settlement {
	return frontier.Settlement{
		Unit: rd.unit, State: state,
		Outcome: frontier.Outcome{Run: rd.run, Items: rd.items, Why: why},
	}
}
