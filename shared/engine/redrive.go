package engine

import (
	"context"
	"fmt"
	"iter"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/spider"
)

// Redrive does the failed units of a job again: on a job that runs as new
// units of it, on one that has ended as a new job that starts with them and is
// otherwise the same. It returns the job that does them, and how many units
// they are.
func (e *Engine) Redrive(ctx context.Context, job crawl.Job) (crawl.Job, int, error) {
	if job.State == crawl.JobClosing {
		return job, 0, fmt.Errorf("job %s is closing; redrive it when it has ended", job.Name)
	}
	if job.State.Ended() {
		return e.redriveEnded(ctx, job)
	}
	// A look that has begun must not close the job over what is reopened.
	job, won, err := e.Jobs.Update(ctx, job)
	if err != nil {
		return job, 0, fmt.Errorf("redrive job %s: %w", job.Name, err)
	}
	if !won {
		return e.Redrive(ctx, job) // it changed at the same time, and may have ended
	}
	n := 0
	for row, err := range e.Scheduler.Failed(ctx, job.UID) {
		if err != nil {
			return job, n, err
		}
		if row.Unit == crawl.StartUnit {
			continue // a start that failed is not a request
		}
		fresh, err := e.Scheduler.Redrive(ctx, job.UID, row)
		if err != nil {
			return job, n, err
		}
		if fresh {
			n++
		}
	}
	if _, err := e.Jobs.Add(ctx, job.UID, jobs.Control, jobs.Counts{countAdmitted: int64(n)}); err != nil {
		return job, n, err
	}
	return job, n, nil
}

// redriveEnded starts the new job.
func (e *Engine) redriveEnded(ctx context.Context, job crawl.Job) (crawl.Job, int, error) {
	n := 0
	for row, err := range e.Scheduler.Failed(ctx, job.UID) {
		if err != nil {
			return job, 0, err
		}
		if row.Unit != crawl.StartUnit {
			n++
		}
	}
	if n == 0 {
		return job, 0, nil
	}
	spec, err := e.readSpec(ctx, job.UID)
	if err != nil {
		return job, 0, err
	}
	spec.FailedOf, spec.StartURLs = job.UID, nil
	if e.NoAppend {
		spec.Feeds = nil
	}
	for k := range spec.Feeds {
		spec.Feeds[k].Overwrite = false // the first job's items stay
	}
	next, _, err := e.Create(ctx, Order{Project: job.Project, Spec: spec})
	return next, n, err
}

// failedRequests are the requests of a job's failed units. An error of reading
// them is noted in unread, since it is not the spider's.
func (e *Engine) failedRequests(ctx context.Context, uid crawl.JobUID, unread *error) spider.Results {
	return func(yield func(crawl.Result, error) bool) {
		for req, err := range e.requestsOf(ctx, uid, e.Scheduler.Failed(ctx, uid)) {
			*unread = err
			if !yield(crawl.Result{Request: req}, err) || err != nil {
				return
			}
		}
	}
}

func (e *Engine) requestsOf(ctx context.Context, uid crawl.JobUID, rows iter.Seq2[frontier.Row, error]) iter.Seq2[*crawl.Request, error] {
	return func(yield func(*crawl.Request, error) bool) {
		for row, err := range rows {
			var req *crawl.Request
			if err == nil && row.Unit == crawl.StartUnit {
				continue
			}
			if err == nil {
				req, err = e.Scheduler.Unpack(ctx, uid, row.Req)
			}
			if !yield(req, err) || err != nil {
				return
			}
		}
	}
}
