package scheduler_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
)

const job = crawl.JobUID("job")

var errPort = errors.New("the port is down")

// A world is a scheduler over memory whose calls are noted, and fail where a
// test wants it.
type world struct {
	*scheduler.Scheduler
	t      *testing.T
	clock  time.Time
	ports  scheduler.Ports
	queue  *memory.Queue
	blobs  *memory.Blobs
	calls  []string
	fail   func(call string) error // nil: nothing fails
	before func(call string)       // nil: nothing happens
}

func newWorld(t *testing.T, opts ...memory.FrontierOption) *world {
	w := &world{t: t, clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), blobs: memory.NewBlobs()}
	now := func() time.Time { return w.clock }
	w.queue = memory.NewQueue(now)
	w.ports = scheduler.Ports{
		Rows:  &rowsPort{memory.NewFrontier(opts...), w},
		Items: &itemsPort{memory.NewItems(), w},
		Queue: &queuePort{w.queue, w},
		Blobs: w.blobs,
		Jars:  &jarsPort{memory.NewJars(), w},
		Now:   now,
	}
	w.Scheduler = scheduler.New(w.ports)
	return w
}

// again is another process over the same stores, which has no memory of its own.
func (w *world) again() { w.Scheduler = scheduler.New(w.ports) }

func (w *world) call(format string, args ...any) error {
	call := fmt.Sprintf(format, args...)
	w.calls = append(w.calls, call)
	if w.before != nil {
		w.before(call)
	}
	if w.fail != nil {
		return w.fail(call)
	}
	return nil
}

// count is how many calls there were with one of the names, and begins anew.
func (w *world) count(names ...string) int {
	n := 0
	for _, call := range w.calls {
		if slices.Contains(names, call) {
			n++
		}
	}
	w.calls = nil
	return n
}

type jarsPort struct {
	jars.Store
	w *world
}

func (p *jarsPort) Put(ctx context.Context, job crawl.JobUID, text string) error {
	if err := p.w.call("put jars"); err != nil {
		return err
	}
	return p.Store.Put(ctx, job, text)
}

func (p *jarsPort) Get(ctx context.Context, job crawl.JobUID, hash jars.Hash) (string, error) {
	if err := p.w.call("get jars"); err != nil {
		return "", err
	}
	return p.Store.Get(ctx, job, hash)
}

type rowsPort struct {
	frontier.Store
	w *world
}

func (p *rowsPort) Get(ctx context.Context, job crawl.JobUID, units []crawl.UnitID, c frontier.Consistency) (map[crawl.UnitID]frontier.Row, error) {
	if err := p.w.call("get %d %s", len(units), map[frontier.Consistency]string{frontier.Eventual: "eventually", frontier.Strong: "strongly"}[c]); err != nil {
		return nil, err
	}
	return p.Store.Get(ctx, job, units, c)
}

func (p *rowsPort) Put(ctx context.Context, job crawl.JobUID, rows []frontier.Row) ([]*frontier.Row, error) {
	if err := p.w.call("put %d", len(rows)); err != nil {
		return nil, err
	}
	return p.Store.Put(ctx, job, rows)
}

func (p *rowsPort) Settle(ctx context.Context, job crawl.JobUID, list []frontier.Settlement) ([]bool, error) {
	if err := p.w.call("settle %d", len(list)); err != nil {
		return nil, err
	}
	return p.Store.Settle(ctx, job, list)
}

func (p *rowsPort) Round(ctx context.Context, job crawl.JobUID, rounds map[crawl.UnitID]int) error {
	if err := p.w.call("round %d", len(rounds)); err != nil {
		return err
	}
	return p.Store.Round(ctx, job, rounds)
}

func (p *rowsPort) Scan(ctx context.Context, job crawl.JobUID, shard int, after *crawl.UnitID, limit int) ([]frontier.Row, error) {
	if err := p.w.call("scan rows"); err != nil {
		return nil, err
	}
	return p.Store.Scan(ctx, job, shard, after, limit)
}

type itemsPort struct {
	items.Store
	w *world
}

func (p *itemsPort) Scan(ctx context.Context, job crawl.JobUID, shard int) iter.Seq2[items.Row, error] {
	return func(yield func(items.Row, error) bool) {
		if err := p.w.call("scan items"); err != nil {
			yield(items.Row{}, err)
			return
		}
		p.Store.Scan(ctx, job, shard)(yield)
	}
}

type queuePort struct {
	queue.Sender
	w *world
}

func (p *queuePort) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	if err := p.w.call("send %d to %s", len(msgs), to); err != nil {
		return err
	}
	return p.Sender.Send(ctx, to, msgs)
}

// A sending is a message as it lies in a queue.
type sending struct {
	Unit    string
	Lane    queue.Name
	Request message.Request
	Control message.Control
}

// sent takes everything out of the queues, in the order of units.
func (w *world) sent() []sending {
	w.t.Helper()
	var all []sending
	for _, lane := range append(queue.Requests(), queue.Control) {
		got, err := w.queue.Receive(w.t.Context(), lane, job, 10_000)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, d := range got {
			h, payload, err := message.ReadHeader(d.Body)
			if err != nil {
				w.t.Fatal(err)
			}
			if h.Job != job || !h.Sent.Equal(w.clock) {
				w.t.Errorf("header %+v", h)
			}
			s := sending{Unit: name(h.Unit), Lane: lane}
			into := any(&s.Request)
			if lane == queue.Control {
				into = &s.Control
			}
			if err := message.Decode(payload, into); err != nil {
				w.t.Fatal(err)
			}
			all = append(all, s)
			if err := w.queue.Delete(w.t.Context(), lane, []string{d.Receipt}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b sending) int { return cmp.Compare(a.Unit, b.Unit) })
	return all
}

// units are the units that messages were sent for.
func (w *world) units() []string {
	w.t.Helper()
	var units []string
	for _, s := range w.sent() {
		units = append(units, s.Unit)
	}
	return units
}

// unit is a unit whose name can be read; the letter puts it into its order.
func unit(name string) crawl.UnitID {
	var u crawl.UnitID
	copy(u[:], name)
	return u
}

func name(u crawl.UnitID) string {
	if u == crawl.StartUnit {
		return "start"
	}
	return string(slices.DeleteFunc(u[:], func(b byte) bool { return b == 0 }))
}

// child is a request that a parent gave.
func child(parent, name string) scheduler.Child {
	return scheduler.Child{Parent: unit(parent), Unit: unit(name), Request: &crawl.Request{URL: "http://example.com/" + name}}
}

func (w *world) admit(children ...scheduler.Child) (scheduler.Admission, error) {
	return w.Admit(w.t.Context(), job, children)
}

// admitted admits children and empties the queues.
func (w *world) admitted(children ...scheduler.Child) {
	w.t.Helper()
	if _, err := w.admit(children...); err != nil {
		w.t.Fatal(err)
	}
	w.sent()
	w.calls = nil
}

func (w *world) settle(name string, state frontier.State, run crawl.RunID, n int) {
	w.t.Helper()
	won, err := w.Settle(w.t.Context(), job, []frontier.Settlement{{Unit: unit(name), State: state, Outcome: frontier.Outcome{Run: run, Items: n}}})
	if err != nil || len(won) != 1 || !won[0] {
		w.t.Fatalf("settle %s: %v, err %v", name, won, err)
	}
}

func (w *world) row(name string) frontier.Row {
	w.t.Helper()
	rows, err := w.ports.Rows.(*rowsPort).Store.Get(w.t.Context(), job, []crawl.UnitID{unit(name)}, frontier.Strong)
	if err != nil {
		w.t.Fatal(err)
	}
	return rows[unit(name)]
}

// put keeps items of a run, in their order.
func (w *world) put(name string, run crawl.RunID, states ...items.State) {
	w.t.Helper()
	rows := make([]items.Row, 0, len(states))
	for k, state := range states {
		rows = append(rows, items.Row{Key: items.Key{Unit: unit(name), Run: run, Ordinal: k}, State: state})
	}
	if err := w.ports.Items.Put(w.t.Context(), job, rows); err != nil {
		w.t.Fatal(err)
	}
}

// failAt fails the calls of a name.
func failAt(name string) func(string) error {
	return func(call string) error {
		if call == name {
			return errPort
		}
		return nil
	}
}
