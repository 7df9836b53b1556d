package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/assembly/cloud"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/feeds"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/settings"
)

// awaitEvery is how often a job on a stack is looked at.
const awaitEvery = 300 * time.Millisecond

// crawlStack runs one job on a stack at an endpoint: it creates what is missing
// there, drives the four functions until the job has ended, and writes the
// items to a file of this machine.
func (a *app) crawlStack(ctx context.Context, f crawlFlags, layers []settings.Layer, order engine.Order, show *display) error {
	if f.endpoint == "" {
		return wrongUse("--stack %s: crawl runs a stack at an emulator, so it wants --endpoint URL, too; ask a deployed stack's job service for jobs", f.stack)
	}
	// A function cannot write a file of this machine: the items are fetched
	// from the stack in the end.
	files := order.Spec.Feeds
	order.Spec.Feeds = nil
	if f.resume == "" {
		if err := assembly.Check(a.project, append([]settings.Layer{settings.Cloud()}, layers...), order.Spec, show.log); err != nil {
			return &failure{exitUsage, err}
		}
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	run, err := a.runStack(ctx, f.stackFlags, layers, show)
	if err != nil {
		return err
	}
	defer run.close()
	job, err := a.beginOnStack(ctx, run.cloud, f, order)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stderr, job.Name)
	rt, err := run.cloud.Runtime(ctx, job)
	if err != nil {
		return &failure{exitFailed, err}
	}
	stopShow := show.progress(ctx, run.cloud.Engine, job, rt.Settings.LogStatsInterval)
	job, err = awaitEnd(ctx, run, job)
	stopShow()
	run.close()
	switch {
	case ctx.Err() != nil:
		return &failure{exitInterrupted, fmt.Errorf("interrupted; go on with: %s", f.goOn(job.Name, files))}
	case err != nil:
		return &failure{exitFailed, err}
	}
	if err := a.fetchItems(ctx, run.cloud, job, rt, files, f.toStdout()); err != nil {
		return &failure{exitFailed, err}
	}
	return a.report(ctx, run.cloud.Engine, job, f, show)
}

// beginOnStack starts the job, or finds the one to go on with.
func (a *app) beginOnStack(ctx context.Context, c *cloud.Cloud, f crawlFlags, order engine.Order) (crawl.Job, error) {
	if f.resume == "" {
		if err := c.Check(order.Spec); err != nil {
			return crawl.Job{}, asUsage(err)
		}
		job, _, err := c.Create(ctx, order)
		if errors.Is(err, engine.ErrOtherArguments) {
			return job, asUsage(err)
		}
		if err != nil {
			return job, &failure{exitFailed, err}
		}
		return job, nil
	}
	job, err := c.Jobs.Find(ctx, a.project.Name, f.resume)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return job, wrongUse("--resume %s: there is no such job in %s", f.resume, f.placeFlags)
	case err != nil:
		return job, &failure{exitFailed, err}
	case job.State.Ended():
		return job, wrongUse("--resume %s: the job has ended already (%s); its items: %s", f.resume, job.Reason, f.command("items", job.Name))
	}
	return job, nil
}

// goOn is the command that goes on with a job as it was run.
func (f crawlFlags) goOn(job string, files []crawl.Feed) string {
	words := f.command("crawl", "--resume", job)
	for _, file := range files {
		flag := " -o "
		if file.Overwrite {
			flag = " -O "
		}
		words += flag + file.URI
	}
	if f.toStdout() {
		words += " -o -"
	}
	if f.exec != "" {
		words += " --exec " + f.exec
	}
	if f.scale != 1 {
		words += fmt.Sprint(" --time-scale ", f.scale)
	}
	return words
}

// awaitEnd waits until a job has ended, or what drives it has failed.
func awaitEnd(ctx context.Context, run *running, job crawl.Job) (crawl.Job, error) {
	ticker := time.NewTicker(awaitEvery)
	defer ticker.Stop()
	for {
		now, err := run.cloud.Jobs.Get(ctx, job.UID)
		if err == nil && now.State.Ended() {
			return now, nil
		}
		if errors.Is(err, jobs.ErrNotFound) {
			return job, fmt.Errorf("job %s is gone", job.Name)
		}
		select {
		case <-ctx.Done():
			return job, ctx.Err()
		case err := <-run.failed:
			return job, err
		case <-ticker.C:
		}
	}
}

// fetchItems writes a job's items to files of this machine, and prints them if
// they are to be printed.
func (a *app) fetchItems(ctx context.Context, c *cloud.Cloud, job crawl.Job, rt *engine.Runtime, files []crawl.Feed, print bool) error {
	ctx = context.WithoutCancel(ctx)
	for _, file := range files {
		n, err := feeds.Deliver(ctx, file, job.UID, feeds.Options{
			Fields: rt.Settings.FeedExportFields, Indent: rt.Settings.FeedExportIndent, Log: rt.Log,
		}, c.Output(ctx, job.UID))
		if err != nil {
			return fmt.Errorf("feed %s not written: %w", file.URI, err)
		}
		rt.Log.Info("feed written", "feed", file.URI, "items", n)
	}
	if print {
		return printItems(ctx, a.stdout, c.Engine, job.UID)
	}
	return nil
}
