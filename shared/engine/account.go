package engine

import (
	"context"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
)

// The counters by which a look is found worth while. They may drift and decide
// nothing: the look does, over the rows.
const (
	countAdmitted = "frontier/admitted"
	countSettled  = "frontier/settled"
	countSent     = "frontier/items_sent"
	countKept     = "frontier/items_kept"
)

// account adds what an invocation counted to the job's counters, and acts on
// the totals: it asks for a look when all that was admitted seems settled, and
// tells the extensions, which may stop the job at a limit. Its errors are logged
// only: the work is done, and a counter that was not added to is put right by the
// sweep.
func (e *Engine) account(ctx context.Context, v *view, stage jobs.Stage) {
	counts := v.Stats.Take()
	if len(counts) == 0 {
		return
	}
	if stage == jobs.Fetch && counts[countSettled] == 0 && !v.Extensions.EveryCount() {
		// What it counted decides nothing.
		if err := e.Jobs.Note(ctx, v.job.UID, stage, jobs.Counts(counts)); err != nil {
			e.Log.Warn("counters not added to", "job", v.job.UID, "err", err)
		}
		return
	}
	totals, err := e.Jobs.Add(ctx, v.job.UID, stage, jobs.Counts(counts))
	if err != nil {
		e.Log.Warn("counters not added to", "job", v.job.UID, "err", err)
		return
	}
	if totals[countSettled] >= totals[countAdmitted] && totals[countKept] >= totals[countSent] {
		e.askLook(ctx, v)
	}
	if !v.job.Open() {
		return
	}
	if closes := v.Extensions.Counted(ctx, v.job, totals); closes != nil {
		e.ask(ctx, v.job, message.Control{Do: message.DoStop, Reason: stopReason(closes)})
	}
}

// looks remembers for when a process has asked to look at a job.
type looks struct {
	mu  sync.Mutex
	due time.Time
}

// next is the delay of the next look; false where one that is still to come
// serves as well, since it comes after all that is settled by now.
func (l *looks) next(now time.Time, spacing time.Duration) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.due.After(now) {
		return 0, false
	}
	delay := max(l.due.Add(spacing).Sub(now), 0)
	l.due = now.Add(delay)
	return delay, true
}

// askLook asks control to look whether the job is finished. Counters that have
// drifted would have it asked at every turn, so looks are spaced.
func (e *Engine) askLook(ctx context.Context, v *view) {
	delay, ok := v.looks.next(e.Now(), e.Looks)
	if !ok {
		return
	}
	if err := e.Scheduler.SendControl(ctx, v.job.UID, message.Control{Do: message.DoLook}, delay); err != nil {
		v.looks.forget()
		e.Log.Warn("control message not sent", "job", v.job.UID, "do", message.DoLook, "err", err)
	}
}

// forget makes the next look due at once: the last one was not sent.
func (l *looks) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.due = time.Time{}
}

// ask sends a control message whose loss the sweep would make good.
func (e *Engine) ask(ctx context.Context, job crawl.Job, c message.Control) {
	if err := e.Scheduler.SendControl(ctx, job.UID, c, 0); err != nil {
		e.Log.Warn("control message not sent", "job", job.UID, "do", c.Do, "err", err)
	}
}
