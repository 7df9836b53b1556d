package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
)

// Control takes a batch of control messages: it reads the start of a job, looks
// whether a job is finished, stops it, and closes it. It returns the IDs of the
// messages that are to be delivered again.
func (e *Engine) Control(ctx context.Context, from queue.Name, batch []queue.Delivery) []string {
	return e.runBatch(ctx, from, batch, message.KindControl, e.control)
}

func (e *Engine) control(ctx context.Context, v *view, msgs []incoming) error {
	done := make(map[message.Control]bool, 1)
	for _, m := range msgs {
		var c message.Control
		if err := message.Decode(m.payload, &c); err != nil {
			v.refuse(m, err)
			continue
		}
		if done[c] {
			continue // asked twice in one batch
		}
		done[c] = true
		var unknown *unknownDo
		if err := e.do(ctx, v, c); errors.As(err, &unknown) {
			v.refuse(m, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) do(ctx context.Context, v *view, c message.Control) error {
	switch c.Do {
	case message.DoStart:
		return e.start(ctx, v, c)
	case message.DoLook:
		return e.look(ctx, v)
	case message.DoStop:
		return e.Stop(ctx, v.job.UID, c.Reason)
	case message.DoClose:
		return e.close(ctx, v)
	case message.DoProbed:
		return e.probed(ctx, v, queue.Name(c.Lane))
	}
	return &unknownDo{c.Do}
}

// An unknownDo is what a control message asks for that this build cannot do.
type unknownDo struct{ do message.Do }

func (e *unknownDo) Error() string {
	return fmt.Sprintf("control message asks to %q; this build knows start, look, stop, close and probed", e.do)
}

// Stop asks a job to end early. The first reason wins; a job that is closing or
// closed is left alone. What the job has under way settles, and the sweep
// closes it.
func (e *Engine) Stop(ctx context.Context, uid crawl.JobUID, reason string) error {
	job, err := e.Jobs.Get(ctx, uid)
	for err == nil && (job.State == crawl.JobRunning || job.State == crawl.JobPaused) && job.Stop == "" {
		var won bool
		job.Stop = reason
		if job, won, err = e.Jobs.Update(ctx, job); won {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("stop job %s: %w", uid, err)
	}
	return nil
}

// look closes the job if nothing is left to do. The job's row is read before
// the rows of its work, and the closing write holds only if it has not changed
// since.
func (e *Engine) look(ctx context.Context, v *view) error {
	job, err := e.Jobs.Get(ctx, v.job.UID)
	if err != nil || job.State != crawl.JobRunning {
		return err
	}
	if alone, err := e.lookAlone(ctx, job); err != nil || !alone {
		return err
	}
	tally, done, err := e.Scheduler.Look(ctx, job.UID)
	if err != nil || !done {
		return err
	}
	if !tally.Started {
		// To call a job finished whose work was lost would be a lie.
		return e.failTold(ctx, v, "the rows of its work are gone")
	}
	return e.toClosing(ctx, job, finishReason(job, tally.StartFailed))
}

// lookAlone reports whether nobody else has begun to look at the job a moment
// ago. If somebody has, the look is put off: it may be the one that comes after
// the last unit was settled.
func (e *Engine) lookAlone(ctx context.Context, job crawl.Job) (bool, error) {
	if e.Looks == 0 {
		return true, nil
	}
	seconds := int((e.Looks + time.Second - 1) / time.Second)
	won, err := e.Jobs.Lease(ctx, "look/"+string(job.UID), seconds)
	if err != nil {
		return false, fmt.Errorf("look at job %s: %w", job.Name, err)
	}
	if !won {
		return false, e.Scheduler.SendControl(ctx, job.UID, message.Control{Do: message.DoLook}, e.Looks)
	}
	return true, nil
}

func finishReason(job crawl.Job, startFailed bool) string {
	switch {
	case job.Stop != "":
		return job.Stop
	case startFailed:
		return crawl.ReasonStartError
	}
	return crawl.ReasonFinished
}

// toClosing is the one write by which a job begins to close. Whoever loses it
// has nothing to do.
func (e *Engine) toClosing(ctx context.Context, job crawl.Job, reason string) error {
	job.State, job.Reason = crawl.JobClosing, reason
	if _, won, err := e.Jobs.Update(ctx, job); err != nil || !won {
		return err
	}
	return e.Scheduler.SendControl(ctx, job.UID, message.Control{Do: message.DoClose}, 0)
}
