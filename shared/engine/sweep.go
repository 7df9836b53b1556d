package engine

import (
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
)

// Sweep looks after every job that has not ended: what was lost is sent again,
// a job past its time is stopped, and one that has nothing under way is closed.
// Where only is not empty it looks after that one alone. What is wrong with one
// job does not keep it from the others.
func (e *Engine) Sweep(ctx context.Context, only crawl.JobUID) error {
	open, err := e.Jobs.List(ctx, "", 0, crawl.JobRunning, crawl.JobClosing)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	var errs []error
	for _, job := range open {
		if only != "" && job.UID != only {
			continue
		}
		if err := e.sweep(ctx, job); err != nil {
			errs = append(errs, fmt.Errorf("sweep job %s: %w", job.Name, err))
		}
	}
	return errors.Join(errs...)
}

// SweepAlone is [Engine.Sweep] of all jobs, unless somebody else sweeps: one at
// a time, for a period at least.
func (e *Engine) SweepAlone(ctx context.Context, period time.Duration) error {
	seconds := max(int(period.Seconds()), 1)
	if won, err := e.Jobs.Lease(ctx, "sweep", seconds); err != nil || !won {
		return err
	}
	return e.Sweep(ctx, "")
}

func (e *Engine) sweep(ctx context.Context, job crawl.Job) error {
	if reason, err := e.overdue(ctx, job); err != nil {
		return err
	} else if reason != "" {
		return e.Stop(ctx, job.UID, reason)
	}
	stranded, exact, err := e.Scheduler.Stranded(ctx, job.UID)
	if err != nil {
		return err
	}
	still, err := e.stillFor(ctx, job)
	if err != nil {
		return err
	}
	switch {
	case job.State == crawl.JobClosing:
		if stranded || !exact && still > e.Quiet {
			return e.Scheduler.SendControl(ctx, job.UID, message.Control{Do: message.DoClose}, 0)
		}
	case job.Stop != "":
		if err := e.Scheduler.DiscardRequests(ctx, job.UID); err != nil {
			return err
		}
		if stranded || still > e.Still {
			return e.toClosing(ctx, job, job.Stop)
		}
	case stranded:
		return e.revive(ctx, job, false)
	case !exact && still > e.Quiet:
		return e.watch(ctx, job)
	case !exact && still > e.Still:
		// A count that was lost in a crash may keep all from asking. While
		// there is an open row, it is one read.
		return e.Scheduler.SendControl(ctx, job.UID, message.Control{Do: message.DoLook}, 0)
	}
	return nil
}

// stillFor is for how long the job's counters have not moved.
func (e *Engine) stillFor(ctx context.Context, job crawl.Job) (time.Duration, error) {
	moved, err := e.Jobs.Moved(ctx, job.UID)
	if err != nil {
		return 0, err
	}
	if moved.IsZero() {
		moved = job.Created
	}
	return e.Now().Sub(moved), nil
}

// watch is the watchdog's round over a quiet job: no more than one in the time
// in which a message can hide.
func (e *Engine) watch(ctx context.Context, job crawl.Job) error {
	if won, err := e.Jobs.Lease(ctx, "watchdog/"+string(job.UID), int(e.Quiet.Seconds())); err != nil || !won {
		return err
	}
	return e.revive(ctx, job, true)
}

// revive sends again what is queued; where nothing is, it asks for the look
// that must have got lost.
func (e *Engine) revive(ctx context.Context, job crawl.Job, probe bool) error {
	v, err := e.Scheduler.Revive(ctx, job.UID, probe)
	if err != nil {
		return err
	}
	if v != (scheduler.Revival{}) {
		e.Log.Warn("work without a message, sent again", "job", job.UID, "start", v.Start, "requests", v.Requests)
		if e.Observer.Revived != nil {
			e.Observer.Revived(job.UID, v)
		}
		return nil
	}
	return e.Scheduler.SendControl(ctx, job.UID, message.Control{Do: message.DoLook}, 0)
}

// probed is word that a lane delivers: units that are still queued after so
// many rounds are lost.
func (e *Engine) probed(ctx context.Context, v *view, lane queue.Name) error {
	lost, err := e.Scheduler.Probed(ctx, v.job.UID, lane)
	if err != nil || len(lost) == 0 {
		return err
	}
	defer e.account(ctx, v, jobs.Control)
	out := e.outlet(v)
	for _, unit := range lost {
		v.Log.Error("unit lost", "unit", unit)
		out.settle(frontier.Settlement{Unit: unit, State: frontier.Failed, Outcome: frontier.Outcome{Why: "lost"}})
	}
	return out.flush(ctx)
}

// overdue names the limit that a running job has passed, though nothing may have
// moved in it: the latest end, or one of an extension's.
func (e *Engine) overdue(ctx context.Context, job crawl.Job) (string, error) {
	if !job.Open() {
		return "", nil
	}
	if !job.Latest.IsZero() && !e.Now().Before(job.Latest) {
		return crawl.ReasonDeadline, nil
	}
	rt, err := e.Runtime(ctx, job)
	if err != nil || !rt.Extensions.EveryCount() {
		return "", err
	}
	totals, err := e.Jobs.Totals(ctx, job.UID)
	if err != nil {
		return "", fmt.Errorf("totals of job %s: %w", job.Name, err)
	}
	if closes := rt.Extensions.Counted(ctx, job, totals); closes != nil {
		return stopReason(closes), nil
	}
	return "", nil
}
