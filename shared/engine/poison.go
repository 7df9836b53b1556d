package engine

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
)

// markDelay is how long a message waits for each mark that it has. It keeps
// those that may be poison behind what is certainly none, and a process that is
// killed for other reasons, again and again, from marking the same ones.
const markDelay = 500 * time.Millisecond

// apart works what was delivered before apart from the rest, since it may kill
// this process: first what is fresh, which is then deleted here, so that it
// does not come back with the others; then those that can be marked, one at a
// time, those with the fewest marks first, each marked in its row before it is
// worked; beside them the others, each by itself. One that has marks already is
// put off first. A page, whose reader is somebody's
// code, and what has marks is worked when no other such is in this process; so
// few others are marked for what one of them does.
func (e *Engine) apart(ctx context.Context, from queue.Name, batch []queue.Delivery, work func([]queue.Delivery) []string) []string {
	var fresh, again []queue.Delivery
	for _, d := range batch {
		if d.Receives > 1 {
			again = append(again, d)
		} else {
			fresh = append(fresh, d)
		}
	}
	suspects := e.suspects(ctx, again)
	for _, d := range fresh {
		// A message that was put off is fresh, and no less suspect.
		if s, ok := e.waited(ctx, d); ok {
			suspects = append(suspects, s)
		}
	}
	if len(suspects) == 0 {
		return work(fresh)
	}
	fresh = slices.DeleteFunc(fresh, func(d queue.Delivery) bool {
		return slices.ContainsFunc(suspects, func(s suspect) bool { return s.delivery.ID == d.ID })
	})
	slices.SortStableFunc(suspects, func(a, b suspect) int { return cmp.Compare(a.marks, b.marks) })
	failed := work(fresh)
	e.delete(ctx, from, fresh, failed)
	var mu sync.Mutex
	var others sync.WaitGroup
	alone := func(s suspect, try func(one []queue.Delivery) []string) {
		one := []queue.Delivery{s.delivery}
		bad := try(one)
		e.delete(ctx, from, one, bad)
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, bad...)
	}
	for _, s := range suspects {
		if !s.markable {
			others.Go(func() { alone(s, work) })
		}
	}
	for _, s := range suspects {
		if s.markable {
			alone(s, func(one []queue.Delivery) []string {
				return e.try(ctx, from, s, func() []string { return work(one) })
			})
		}
	}
	others.Wait()
	return failed
}

// try works one suspect that can be marked, unless it is to wait first or has
// too many marks.
func (e *Engine) try(ctx context.Context, from queue.Name, s suspect, work func() []string) []string {
	if s.marks > s.header.Waited {
		if err := e.putOff(ctx, from, s); err != nil {
			e.Log.Warn("message not put off", "queue", from, "id", s.delivery.ID, "err", err)
			return []string{s.delivery.ID}
		}
		return nil
	}
	if s.marks > 0 || s.header.Kind == message.KindPage {
		e.alone <- struct{}{}
		defer func() { <-e.alone }()
	}
	if e.condemned(ctx, from, s) {
		return nil
	}
	return work()
}

// putOff sends a message again with a delay.
func (e *Engine) putOff(ctx context.Context, to queue.Name, s suspect) error {
	s.header.Waited = s.marks
	body, err := message.WithHeader(s.header, s.payload)
	if err != nil {
		return err
	}
	return e.Queue.Send(ctx, to, []queue.Message{{Job: s.header.Job, Body: body, Delay: markDelay * time.Duration(s.marks)}})
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
	payload  []byte
	markable bool // it stands for a unit whose row is to be marked
	marks    int  // that count against it
}

// suspects reads the headers and marks of messages that were delivered before.
func (e *Engine) suspects(ctx context.Context, batch []queue.Delivery) []suspect {
	list := make([]suspect, 0, len(batch))
	for _, d := range batch {
		list = append(list, e.suspect(ctx, d))
	}
	return list
}

func (e *Engine) suspect(ctx context.Context, d queue.Delivery) suspect {
	s := suspect{delivery: d}
	h, payload, err := message.ReadHeader(d.Body)
	if err != nil || e.MaxMarks[h.Kind] == 0 || h.Unit.IsZero() {
		return s
	}
	s.header, s.payload, s.markable = h, payload, true
	if marks, err := e.Scheduler.Marks(ctx, h.Job, h.Unit); err == nil {
		s.marks = max(marks-h.Base, 0)
	}
	return s
}

var waitedMark = []byte(`"waited":`)

// waited returns the suspect that a fresh message is if it was put off.
func (e *Engine) waited(ctx context.Context, d queue.Delivery) (suspect, bool) {
	if header, _, _ := bytes.Cut(d.Body, []byte("\n")); !bytes.Contains(header, waitedMark) {
		return suspect{}, false
	}
	return e.suspect(ctx, d), true
}

// condemned marks a message before it is worked, and fails it unworked when it
// has been marked too often. A mark that cannot be made lets it pass, since the
// store that is down will fail its work too.
func (e *Engine) condemned(ctx context.Context, from queue.Name, s suspect) bool {
	marks, err := e.Scheduler.Mark(ctx, s.header.Job, s.header.Unit)
	if err != nil || marks-s.header.Base < e.MaxMarks[s.header.Kind] {
		return false
	}
	if err := e.Bury(ctx, from, s.delivery, "poison"); err != nil {
		e.Log.Error("poison message not accounted for", "queue", from, "id", s.delivery.ID, "err", err)
		return false
	}
	return true
}
