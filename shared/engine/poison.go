package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
)

// maxMarks is at how many marks a message is failed unworked. It was worked
// once without a mark then, and once for each mark but the last.
const maxMarks = 3

// A batch may hold a message that kills this process. So what was delivered
// before is worked apart: first what is fresh, which is then deleted here, so
// that it does not come back with the others; then those, one at a time, those
// with the fewest marks first, each marked in its row before it is worked.
func (e *Engine) apart(ctx context.Context, from queue.Name, batch []queue.Delivery, work func([]queue.Delivery) []string) []string {
	var fresh, again []queue.Delivery
	for _, d := range batch {
		if d.Receives > 1 {
			again = append(again, d)
		} else {
			fresh = append(fresh, d)
		}
	}
	if len(again) == 0 {
		return work(fresh)
	}
	failed := work(fresh)
	e.delete(ctx, from, fresh, failed)
	for _, s := range e.suspects(ctx, again) {
		one := []queue.Delivery{s.delivery}
		if e.condemned(ctx, from, s) {
			e.delete(ctx, from, one, nil)
			continue
		}
		bad := work(one)
		e.delete(ctx, from, one, bad)
		failed = append(failed, bad...)
	}
	return failed
}

// delete removes what is done. If it cannot, it comes again, which is harmless.
func (e *Engine) delete(ctx context.Context, from queue.Name, batch []queue.Delivery, failed []string) {
	var receipts []string
	for _, d := range batch {
		if !slices.Contains(failed, d.ID) {
			receipts = append(receipts, d.Receipt)
		}
	}
	if len(receipts) == 0 {
		return
	}
	if err := e.Queue.Delete(context.WithoutCancel(ctx), from, receipts); err != nil {
		e.Log.Warn("messages not deleted", "queue", from, "messages", len(receipts), "err", err)
	}
}

// A suspect is a message that was delivered before.
type suspect struct {
	delivery queue.Delivery
	header   message.Header
	marked   bool // it stands for a unit whose row can be marked
	marks    int
}

// suspects sorts messages by their marks. The payload is not read.
func (e *Engine) suspects(ctx context.Context, batch []queue.Delivery) []suspect {
	list := make([]suspect, 0, len(batch))
	for _, d := range batch {
		s := suspect{delivery: d}
		h, _, err := message.ReadHeader(d.Body)
		if err == nil && (h.Kind == message.KindRequest || h.Kind == message.KindPage) && !h.Unit.IsZero() {
			s.header, s.marked = h, true
			rows, err := e.Scheduler.Rows.Get(ctx, h.Job, []crawl.UnitID{h.Unit}, frontier.Strong)
			if err == nil {
				s.marks = rows[h.Unit].Marks
			}
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b suspect) int { return cmp.Compare(a.marks, b.marks) })
	return list
}

// condemned marks a message before it is worked, and fails it unworked when it
// has been marked too often. A mark that cannot be made lets it pass, since the
// store that is down will fail its work too.
func (e *Engine) condemned(ctx context.Context, from queue.Name, s suspect) bool {
	if !s.marked {
		return false
	}
	marks, err := e.Scheduler.Rows.Mark(ctx, s.header.Job, s.header.Unit)
	if err != nil || marks < maxMarks {
		return false
	}
	if err := e.Bury(ctx, from, s.delivery, "poison"); err != nil {
		e.Log.Error("poison message not accounted for", "queue", from, "id", s.delivery.ID, "err", err)
		return false
	}
	return true
}
