package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/assembly/machine"
	"github.com/skitterhq/skitter/shared/crawl"
)

// again is for a job that is started once more after it has ended: nothing is
// fetched, and what it made is there afterwards as it was then.
func (a *app) again(ctx context.Context, l *machine.Machine, job crawl.Job, f crawlFlags, show *display) error {
	fmt.Fprintln(a.stderr, job.Name)
	fmt.Fprintf(a.stderr, "the job ended at %s with reason %s: nothing was fetched\n", job.Ended.Format(time.RFC3339), job.Reason)
	ctx, stop := interruptible(ctx)
	defer stop()
	done, err := l.Redeliver(ctx, job)
	for _, d := range done {
		fmt.Fprintf(a.stderr, "%s was written again: %d items\n", d.Feed.URI, d.Items)
	}
	if err != nil {
		return &failure{exitFailed, err}
	}
	if f.toStdout() {
		if err := printItems(ctx, a.stdout, l.Engine, job.UID); err != nil {
			return &failure{exitFailed, err}
		}
	}
	if len(done) > 0 && strings.HasPrefix(job.Problem, "feed ") && !failing(job.Reason) {
		job.State = crawl.JobFinished // what it had failed for is mended
	}
	return a.report(ctx, l.Engine, job, f, show)
}

// failing reports whether a job failed for its reason, whatever became of its
// feeds.
func failing(reason string) bool {
	return reason == crawl.ReasonStartError || reason == crawl.ReasonDeadline || reason == crawl.ReasonFailed
}
