package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/spider"
)

// Parse takes a batch of page messages: the spider's callback and legs read
// each page, its requests pass the spider middlewares and go back to the
// scheduler, and its items go to the pipelines. It returns the IDs of the
// messages that are to be delivered again.
func (e *Engine) Parse(ctx context.Context, from queue.Name, batch []queue.Delivery) []string {
	return e.perJob(ctx, from, batch, message.KindPage, e.parse)
}

func (e *Engine) parse(ctx context.Context, r *run, msgs []incoming) error {
	defer e.account(ctx, r, jobs.Parse)
	units := make([]crawl.UnitID, 0, len(msgs))
	for _, m := range msgs {
		units = append(units, m.header.Unit)
	}
	rows, err := e.Scheduler.Read(ctx, r.job.UID, units)
	if err != nil {
		return err
	}
	out := e.outlet(r)
	read := make(map[crawl.UnitID]bool, len(msgs))
	for k, m := range msgs {
		if e.outOfTime(ctx) {
			if err := e.sendBack(ctx, r, queue.Page, msgs[k:]); err != nil {
				return err
			}
			break
		}
		unit := m.header.Unit
		if rows[unit].State != frontier.Queued || read[unit] {
			continue // a duplicate, or settled already
		}
		read[unit] = true
		if err := e.readPage(ctx, r, out, m, rows[unit].Marks); err != nil {
			return err
		}
	}
	return out.flush(ctx)
}

// A reading is one page on its way through the spider.
type reading struct {
	unit  crawl.UnitID
	marks int // of the unit; a slice that is done has survived them
	msg   message.Page
	page  *spider.Page
	run   crawl.RunID
	given int // outputs given so far, those of earlier slices included
	items int // items among them
}

// readPage runs the spider on one page. Its error is a fault of the ports; what
// is wrong with the page fails its unit alone.
func (e *Engine) readPage(ctx context.Context, r *run, out *outlet, m incoming, marks int) error {
	rd := reading{unit: m.header.Unit, marks: marks}
	if err := message.Decode(m.payload, &rd.msg); err != nil {
		return err
	}
	if rd.run = rd.msg.Run; rd.run == "" {
		rd.run = crawl.NewRunID()
	}
	page, err := e.openPage(ctx, r, rd.msg)
	if err != nil {
		return err
	}
	rd.page = page
	ident := scheduler.NewIdentifier(rd.unit)
	for res, err := range r.Chain.Process(ctx, page) {
		if err != nil {
			e.pageFailed(ctx, r, out, &rd, err)
			return nil
		}
		if err := e.take(ctx, out, ident, &rd, res); err != nil {
			return err
		}
		if e.outOfTime(ctx) {
			return e.continuePage(ctx, r, out, rd)
		}
	}
	out.settle(rd.settlement(frontier.Done, ""))
	return nil
}

// take hands on one output, unless an earlier slice of the run did.
func (e *Engine) take(ctx context.Context, out *outlet, ident *scheduler.Identifier, rd *reading, res crawl.Result) error {
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
	return out.request(ctx, ident, rd.unit, res.Request)
}

// continuePage sends a page on that cannot be finished in this invocation. Only
// the last slice settles.
func (e *Engine) continuePage(ctx context.Context, r *run, out *outlet, rd reading) error {
	if err := out.handOn(ctx); err != nil {
		return err
	}
	rd.msg.Run, rd.msg.Handed = rd.run, rd.given
	body, err := message.Encode(message.Header{
		Kind: message.KindPage, Job: r.job.UID, Unit: rd.unit, Base: rd.marks, Sent: e.Now().UTC(),
	}, rd.msg)
	if err != nil {
		return err
	}
	return e.Queue.Send(ctx, queue.Page, []queue.Message{{Job: r.job.UID, Body: body}})
}

// openPage makes a page of its message.
func (e *Engine) openPage(ctx context.Context, r *run, msg message.Page) (*spider.Page, error) {
	req, err := e.Scheduler.Unpack(ctx, msg.Req)
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
				return nil, fmt.Errorf("read the body of %s: %w", resp.URL, err)
			}
		}
		if resp.Body, err = e.packer.Unpack(msg.Body, packed); err != nil {
			return nil, err
		}
	}
	page := spider.NewPage(resp, r.Spider, r.job, r.Spec.Args)
	if msg.Failure != nil {
		msg.Failure.Request = req
		page.Failure = msg.Failure
	}
	return page, nil
}

// pageFailed settles a page whose processing ended with an error. What it gave
// before still counts, as in Scrapy.
func (e *Engine) pageFailed(ctx context.Context, r *run, out *outlet, rd *reading, err error) {
	var closes *crawl.CloseSpider
	var failure *crawl.Failure
	url := rd.page.URL
	switch {
	case errors.As(err, &closes):
		e.ask(ctx, r.job, message.Control{Do: message.DoStop, Reason: stopReason(closes)})
		out.settle(rd.settlement(frontier.Done, "close-spider"))
	case errors.As(err, &failure):
		r.Log.Error("downloading failed", "url", url, "reason", failure.Reason, "err", failure.Message)
		out.settle(rd.settlement(frontier.Failed, failure.Reason))
	default:
		class := errorClass(err)
		r.Stats.Inc("spider_exceptions/count")
		r.Stats.Inc("spider_exceptions/" + class)
		r.Log.Error("spider error", "url", url, "callback", rd.page.Request.Callback, "err", err)
		out.settle(rd.settlement(frontier.Failed, "spider-error: "+class))
	}
}

func (rd *reading) settlement(state frontier.State, why string) frontier.Settlement {
	return frontier.Settlement{
		Unit: rd.unit, State: state,
		Outcome: frontier.Outcome{Run: rd.run, Items: rd.items, Why: why},
	}
}

// errorClass names the kind of an error for stats: the type of the innermost
// error that has a name of its own, such as "PanicError".
func errorClass(err error) string {
	class := "error"
	for err != nil {
		t := reflect.TypeOf(err)
		name := strings.TrimPrefix(t.String(), "*")
		if !strings.HasPrefix(name, "fmt.") && !strings.HasPrefix(name, "errors.") && t.String() != "*spider.unhandled" {
			class = name[strings.LastIndexByte(name, '.')+1:]
		}
		switch u := err.(type) { //nolint:errorlint // this walks the chain itself
		case interface{ Unwrap() error }:
			err = u.Unwrap()
		case interface{ Unwrap() []error }:
			list := u.Unwrap()
			if err = nil; len(list) > 0 {
				err = list[0]
			}
		default:
			err = nil
		}
	}
	return class
}
