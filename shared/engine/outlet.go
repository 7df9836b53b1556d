package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/weburl"
)

const (
	// flushChildren is how many children are admitted in one go: those of a
	// batch of ten pages with a hundred links each, which are about a
	// megabyte. What is handed on in two goes is sent in two batches.
	flushChildren = 1000
	// flushItems is how many bytes of items are sent in one go: SQS takes
	// 1 MiB a batch. Source: SQS Developer Guide, "Quotas, messages".
	flushItems = 1 << 20
)

// An outlet takes what units give, and hands it on in large batches. A unit is
// settled only after all of its children are admitted and sent and all of its
// items are sent, so settlements wait here until the next flush.
type outlet struct {
	e *Engine
	v *view

	children  []scheduler.Child
	items     []queue.Message
	itemBytes int
	orders    []scheduler.Order
	settled   []frontier.Settlement
	handed    time.Time // when something was handed on last
}

func (e *Engine) outlet(v *view) *outlet { return &outlet{e: e, v: v, handed: e.Now()} }

// A badOutput is what a spider gave that cannot be worked: the fault of its
// page, and not of the ports.
type badOutput struct{ err error }

func (e *badOutput) Error() string { return e.err.Error() }
func (e *badOutput) Unwrap() error { return e.err }

// check reports what is wrong with an output, so that it fails its page before
// it gets among others.
func check(res crawl.Result) error {
	var err error
	switch {
	case (res.Request == nil) == (res.Item == nil):
		err = errors.New("the spider gave a result that is not one request or one item")
	case res.Item != nil:
		_, err = res.Item.MarshalJSON()
	case len(res.Request.Meta)+len(res.Request.CBKwargs) > 0: // nothing else can fail to encode
		_, err = json.Marshal([]crawl.Values{res.Request.Meta, res.Request.CBKwargs})
	}
	if err != nil {
		return &badOutput{err}
	}
	return nil
}

// halted reports whether the job is to end, as far as the outlet has heard.
func (o *outlet) halted() bool { return !o.v.job.Open() }

// request takes a child of the unit that from was the request of; the start has
// none. What scope refuses, what has no proper URL, and what comes of a job that
// is to stop gets no row.
func (o *outlet) request(ctx context.Context, ident *scheduler.Identifier, parent crawl.UnitID, from, req *crawl.Request) error {
	unit, err := ident.Unit(req)
	if err != nil {
		o.v.Stats.Inc("scheduler/bad_url_count")
		o.v.Log.Warn("request dropped", "err", err)
		return o.e.heed(ctx, o.v, o.v.Extensions.RequestDropped(ctx, req, extension.BadURL))
	}
	if o.halted() {
		return nil
	}
	if err := o.v.scope(from, req); err != nil {
		var drop *crawl.Drop
		if errors.As(err, &drop) {
			// Counted where it was refused.
			return o.e.heed(ctx, o.v, o.v.Extensions.RequestDropped(ctx, req, drop.Reason))
		}
		return fmt.Errorf("scope of %s: %w", weburl.Shown(req.URL), err)
	}
	dropped, closes := o.v.Extensions.RequestScheduled(ctx, req)
	if err := o.e.heed(ctx, o.v, closes); err != nil || dropped || o.halted() {
		return err
	}
	o.children = append(o.children, scheduler.Child{Parent: parent, Unit: unit, Request: req})
	return o.full(ctx)
}

// scope asks both that may refuse a request.
func (r *Runtime) scope(from, req *crawl.Request) error {
	if r.Reach != nil {
		if err := r.Reach(from, req); err != nil {
			return err
		}
	}
	return r.Scope(req)
}

// item takes the ordinal-th item of a run.
func (o *outlet) item(ctx context.Context, unit crawl.UnitID, run crawl.RunID, ordinal int, item crawl.Item) error {
	body, err := message.Encode(message.Header{
		Kind: message.KindItem, Job: o.v.job.UID, Unit: unit, Run: run, Ordinal: ordinal, Sent: o.e.Now().UTC(),
	}, message.Item{Item: item})
	if err != nil {
		return err
	}
	o.items = append(o.items, queue.Message{Job: o.v.job.UID, Body: body})
	o.itemBytes += len(body)
	return o.full(ctx)
}

// settle closes a unit once all that it gave is handed on.
func (o *outlet) settle(s frontier.Settlement) { o.settled = append(o.settled, s) }

// retry sends the request of a unit again once all that its page gave is handed
// on: the next reading may settle the unit at once, and what is not handed on by
// then is lost.
func (o *outlet) retry(again scheduler.Order) { o.orders = append(o.orders, again) }

// full hands on what has come together when it is much, or has waited long.
func (o *outlet) full(ctx context.Context) error {
	if len(o.children) < flushChildren && o.itemBytes < flushItems && o.e.Now().Sub(o.handed) < flushEvery {
		return nil
	}
	o.e.refresh(ctx, o.v)
	return o.handOn(ctx)
}

// handOn admits and sends.
func (o *outlet) handOn(ctx context.Context) error {
	defer func() { o.handed = o.e.Now() }()
	if len(o.children) > 0 {
		a, err := o.admit(ctx)
		if err != nil {
			return err
		}
		o.v.Stats.Add(countAdmitted, int64(a.New))
		o.v.Stats.Add("scheduler/enqueued", int64(a.New))
		o.v.Stats.Add("dupefilter/filtered", int64(a.Seen))
		clear(o.children)
		o.children = o.children[:0]
	}
	if len(o.items) > 0 {
		if err := o.e.Queue.Send(ctx, queue.Item, o.items); err != nil {
			return fmt.Errorf("send %d items: %w", len(o.items), err)
		}
		clear(o.items)
		o.items, o.itemBytes = o.items[:0], 0
	}
	return nil
}

// admit admits the children, and tells of those whose like was admitted before
// if anyone listens.
func (o *outlet) admit(ctx context.Context) (scheduler.Admission, error) {
	if !o.v.Extensions.HearsOfDrops() {
		return o.e.Scheduler.Admit(ctx, o.v.job.UID, o.children)
	}
	var fault error
	a, err := o.e.Scheduler.AdmitTelling(ctx, o.v.job.UID, o.children, func(c scheduler.Child) {
		closes := o.v.Extensions.RequestDropped(ctx, c.Request, extension.Duplicate)
		fault = errors.Join(fault, o.e.heed(ctx, o.v, closes))
	})
	return a, errors.Join(err, fault)
}

// flush hands everything on, then sends what is to be tried again, and settles.
func (o *outlet) flush(ctx context.Context) error {
	if err := o.handOn(ctx); err != nil {
		return err
	}
	if err := o.e.Scheduler.SendRequests(ctx, o.v.job.UID, o.orders); err != nil {
		return err
	}
	o.orders = o.orders[:0]
	won, err := o.e.Scheduler.Settle(ctx, o.v.job.UID, o.settled)
	if err != nil {
		return err
	}
	for k, s := range o.settled {
		if !won[k] {
			continue // another run closed it; this one counts for nothing
		}
		o.v.Stats.Inc(countSettled)
		o.v.Stats.Add(countSent, int64(s.Items))
		if s.State == frontier.Failed {
			o.v.Stats.Inc("frontier/failed")
		}
		if o.e.Observer.Settled != nil {
			o.e.Observer.Settled(o.v.job.UID, s.Unit, s.Run)
		}
	}
	o.settled = o.settled[:0]
	return nil
}
