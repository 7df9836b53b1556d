package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
)

// Bury accounts for a message that its queue gave up on, by its header alone,
// since the payload may be what killed its reader: the message is kept for
// people to look at, and what it stood for is failed, so that the job ends.
func (e *Engine) Bury(ctx context.Context, from queue.Name, d queue.Delivery, reason string) error {
	h, _, err := message.ReadHeader(d.Body)
	if err != nil {
		reason = err.Error()
	}
	if err := e.keepLetter(ctx, from, d, h, reason); err != nil {
		return err
	}
	if h.Job == "" {
		return nil // it belongs to nothing that is waited for
	}
	return e.failBuried(ctx, h, reason)
}

// keepGone keeps the messages of a job that is not there as dead letters:
// nothing waits for them, and somebody may want to know.
func (e *Engine) keepGone(ctx context.Context, from queue.Name, msgs []incoming) error {
	for _, m := range msgs {
		if err := e.keepLetter(ctx, from, m.delivery, m.header, "the job is gone"); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) keepLetter(ctx context.Context, from queue.Name, d queue.Delivery, h message.Header, reason string) error {
	letter := dead.Letter{
		ID: d.ID, Job: h.Job, Unit: h.Unit, From: from, Reason: reason, Body: d.Body, Time: e.Now().UTC(),
	}
	if letter.Job == "" {
		letter.Job = d.Job
	}
	if err := e.Dead.Put(ctx, letter); err != nil {
		return fmt.Errorf("keep dead letter %s: %w", d.ID, err)
	}
	e.Log.Error("message given up on", "queue", from, "id", d.ID, "job", letter.Job, "unit", h.Unit, "reason", reason)
	return nil
}

// countLetters counts a job's dead letters, for its stats.
const countLetters = "dead_letter_count"

// failBuried fails what a message stood for. What belongs to a job that is not
// there, or has ended, stands for nothing.
func (e *Engine) failBuried(ctx context.Context, h message.Header, reason string) error {
	job, err := e.Jobs.Get(ctx, h.Job)
	if errors.Is(err, jobs.ErrNotFound) || err == nil && job.State.Ended() {
		return nil
	}
	if err != nil {
		return fmt.Errorf("account for a dead letter: %w", err)
	}
	counts := jobs.Counts{countLetters: 1}
	switch h.Kind {
	case message.KindControl:
		return e.fail(ctx, h.Job, reason)
	case message.KindItem:
		item, err := crawl.NewItem(map[string]any{})
		if err != nil {
			return err
		}
		if err := e.Items.Put(ctx, h.Job, []items.Row{{
			Key: items.Key{Unit: h.Unit, Run: h.Run, Ordinal: h.Ordinal}, State: items.Dead, Why: reason, Item: item,
		}}); err != nil {
			return fmt.Errorf("mark an item dead: %w", err)
		}
		counts[countKept] = 1
	default:
		won, err := e.Scheduler.Settle(ctx, h.Job, []frontier.Settlement{{
			Unit: h.Unit, State: frontier.Failed, Outcome: frontier.Outcome{Why: "dead: " + reason},
		}})
		if err != nil || !won[0] {
			return err
		}
		counts[countSettled], counts["frontier/failed"] = 1, 1
	}
	if _, err := e.Jobs.Add(ctx, h.Job, jobs.Control, counts); err != nil {
		e.Log.Warn("counters not added to", "job", h.Job, "err", err)
	}
	return e.Scheduler.SendControl(ctx, h.Job, message.Control{Do: message.DoLook}, 0)
}

// fail ends a job whose control message died: what it asked for cannot be done,
// so the job would wait for it for ever.
func (e *Engine) fail(ctx context.Context, uid crawl.JobUID, reason string) error {
	job, err := e.Jobs.Get(ctx, uid)
	if errors.Is(err, jobs.ErrNotFound) {
		return nil
	}
	for err == nil && !job.State.Ended() {
		job.State, job.Ended, job.Problem = crawl.JobFailed, e.Now().UTC(), reason
		if job.Reason == "" {
			job.Reason = crawl.ReasonFailed
		}
		var won bool
		if job, won, err = e.Jobs.Update(ctx, job); won {
			return nil
		}
	}
	return err
}
