package engine

import (
	"cmp"
	"context"

	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
)

// maxResent is how often a dead letter is sent again that seems never to have
// reached a function: deliveries that are throttled count as receives.
const maxResent = 3

const tooOften = "delivered too often"

// A DeadDelivery is a message as it came out of the dead-letter queue.
type DeadDelivery struct {
	queue.Delivery
	// From is the queue that gave up on it; empty if that is not known.
	From queue.Name
}

// DeadLetters takes messages that queues gave up on. Only their headers are
// read, since a payload may be what killed its reader. One that shows no sign of
// having reached a function is sent again (items and control messages never
// show any); any other is kept for people to look at, and what it stood for is
// failed. It returns the IDs of those that are to be delivered again.
func (e *Engine) DeadLetters(ctx context.Context, letters []DeadDelivery) []string {
	var failed []string
	for _, d := range letters {
		if err := e.deadLetter(ctx, d); err != nil {
			e.logError(e.Log, "dead letter not accounted for", err, "queue", d.From, "id", d.ID)
			failed = append(failed, d.ID)
		}
	}
	return failed
}

func (e *Engine) deadLetter(ctx context.Context, d DeadDelivery) error {
	h, payload, err := message.ReadHeader(d.Body)
	from := cmp.Or(d.From, queueOf(h.Kind))
	if err != nil || from == "" {
		return e.Bury(ctx, from, d.Delivery, "not understood")
	}
	if e.MaxMarks[h.Kind] > 0 && !h.Unit.IsZero() {
		row, found, err := e.Scheduler.Row(ctx, h.Job, h.Unit)
		switch {
		case err != nil:
			return err
		case found && row.State.Closed():
			return nil // somebody has done it
		case !found || row.Marks > h.Base:
			return e.Bury(ctx, from, d.Delivery, tooOften) // it has reached a function
		}
	}
	if h.Resent >= maxResent {
		return e.Bury(ctx, from, d.Delivery, tooOften)
	}
	h.Resent, h.Repeated = h.Resent+1, true
	body, err := message.WithHeader(h, payload)
	if err != nil {
		return err
	}
	e.Log.Warn("dead letter sent again", "queue", from, "id", d.ID, "job", h.Job, "unit", h.Unit, "times", h.Resent)
	return e.Queue.Send(ctx, from, []queue.Message{{Job: h.Job, Body: body}})
}

// queueOf is the queue that messages of a kind travel on; of requests, the
// normal lane. It is empty for a kind that this build does not know.
func queueOf(kind message.Kind) queue.Name {
	switch kind {
	case message.KindControl:
		return queue.Control
	case message.KindRequest:
		return queue.Request
	case message.KindPage:
		return queue.Page
	case message.KindItem:
		return queue.Item
	}
	return ""
}
