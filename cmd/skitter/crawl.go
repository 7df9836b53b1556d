package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/assembly/machine"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/local"
	"github.com/skitterhq/skitter/shared/settings"
)

// defaultData is the folder where state lives unless --data says otherwise.
const defaultData = assembly.StateDir

// crawlFlags are the options of crawl.
type crawlFlags struct {
	args, settings    []string
	logLevel          string
	output, overwrite string
	job, resume       string
	stats, profile    string
	stackFlags
	quiet bool
}

// toStdout reports whether the items are printed. That is a view of the job
// and no part of it, so that it can be had when the job is resumed, too.
func (f crawlFlags) toStdout() bool { return f.output == "-" || f.overwrite == "-" }

func (a *app) crawlCommand() *cobra.Command {
	var f crawlFlags
	cmd := &cobra.Command{
		Use:   "crawl SPIDER [URL ...]",
		Short: "Run a job of a spider to its end",
		Long: `Runs a job of a spider on this machine to its end: one that is built in, or that of
the YAML file spiders/SPIDER.yaml. URLs replace its start URLs. An interrupted job goes on with --resume.`,
		Example: `  skitter crawl shop -O shop.jsonl
  skitter crawl quotes http://127.0.0.1:8000/quotes/page/1/ -o - -s DOWNLOAD_DELAY=0
  skitter crawl --resume JOB`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.crawl(cmd.Context(), f, finder{"crawl", "the name of a spider", "skitter list shows the spiders", a.named}, args)
		},
		ValidArgsFunction: firstOf(a.completeSpiders),
	}
	a.crawlFlags(cmd, &f)
	return cmd
}

// crawlFlags adds the flags of a command that runs a job.
func (a *app) crawlFlags(cmd *cobra.Command, f *crawlFlags) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.args, "arg", "a", nil, "spider argument NAME=VALUE; may be repeated")
	flags.StringVarP(&f.output, "output", "o", "", "append items to FILE (.jsonl .json .csv); - prints JSON Lines")
	flags.StringVarP(&f.overwrite, "overwrite-output", "O", "", "write items to FILE in place of what is there")
	flags.StringVar(&f.job, "job", "", "the job's ID; starting an ID twice is the same job")
	flags.StringVar(&f.resume, "resume", "", "go on with a job that was interrupted; needs no spider")
	flags.StringVar(&f.profile, "profile", "", "write a CPU profile to FILE, for go tool pprof")
	flags.StringVar(&f.stats, "stats", "", "write the final stats to FILE as one JSON object")
	f.placeFlags.add(flags)
	f.stackFlags.add(flags)
	flags.BoolVar(&f.quiet, "quiet", false, "print no progress and no stats")
	a.settingFlags(cmd, &f.settings, &f.logLevel)
	complete(cmd, "resume", a.completeJobs(crawl.JobRunning, crawl.JobPaused, crawl.JobClosing))
}

// crawl checks everything that can be wrong before anything is written.
func (a *app) crawl(ctx context.Context, f crawlFlags, find finder, args []string) error {
	layers, err := a.layers() // it names the project, too
	if err != nil {
		return err
	}
	order, err := a.order(f, find, args)
	if err != nil {
		return err
	}
	show := newDisplay(a.stderr, f.quiet)
	if !f.onAWS() && (f.exec != "" || f.terminate || f.scale != 1) {
		return wrongUse("--exec, --time-scale, --terminate-loops say how a stack is run, and go with --endpoint URL")
	}
	if f.onAWS() {
		return a.crawlStack(ctx, f, layers, order, show)
	}
	if f.resume == "" {
		if err := assembly.Check(a.project, layers, order.Spec, show.log); err != nil {
			return &failure{exitUsage, err}
		}
	} else if err := stateIn(f.data); err != nil {
		return err
	}
	tail := newTail(a.stdout)
	if !f.toStdout() {
		tail = nil
	}
	l, err := machine.Open(machine.Options{
		Dir: f.data, Project: a.project, Layers: layers, Log: show.log, Observer: tail.observer(),
		ShowsProgress: true,
	})
	if err != nil {
		return &failure{exitUsage, err}
	}
	defer func() { _ = l.Close() }()
	job, err := a.begin(ctx, l, f, order)
	if err != nil {
		return err
	}
	if job.State.Ended() {
		return a.again(ctx, l, job, f, show)
	}
	stop, err := profile(f.profile)
	if err != nil {
		return err
	}
	defer stop()
	return a.drive(ctx, l, job, f, show, tail)
}

// layers are the settings of the project file, if there is one.
func (a *app) layers() ([]settings.Layer, error) {
	layers, err := assembly.ProjectFile(&a.project, "")
	if err != nil {
		return nil, &failure{exitUsage, err}
	}
	return layers, nil
}

// begin starts the job, or finds the one to go on with.
func (a *app) begin(ctx context.Context, l *machine.Machine, f crawlFlags, o engine.Order) (crawl.Job, error) {
	if f.resume != "" {
		job, err := l.Jobs.Find(ctx, a.project.Name, f.resume)
		if errors.Is(err, jobs.ErrNotFound) {
			return job, wrongUse("--resume %s: there is no such job in %s", f.resume, f.data)
		}
		if err == nil && job.State.Ended() {
			return job, wrongUse("--resume %s: the job has ended already (%s); its items: %s", f.resume, job.Reason, f.command("items", job.Name))
		}
		return job, err
	}
	job, _, err := l.Create(ctx, o)
	// What can go wrong before anything is written is wrong use.
	return job, asUsage(err)
}

// drive runs the job and reports how it ended.
func (a *app) drive(ctx context.Context, l *machine.Machine, job crawl.Job, f crawlFlags, show *display, tail *tail) error {
	fmt.Fprintln(a.stderr, job.Name)
	ctx, stop := interruptible(ctx)
	defer stop()
	rt, err := l.Runtime(ctx, job)
	if err != nil {
		return &failure{exitFailed, err}
	}
	if f.resume != "" && len(rt.Spec.Feeds) == 0 && tail == nil {
		fmt.Fprintf(a.stderr, "the job writes no file; its items: %s\n", f.command("items", job.Name))
	}
	stopShow := show.progress(ctx, l.Engine, job, rt.Settings.LogStatsInterval)
	tail.follow(l.Engine, job.UID)
	ended, err := l.Run(ctx, job.UID)
	stopShow()
	if terr := tail.close(); terr != nil && err == nil {
		err = terr
	}
	switch {
	case errors.Is(err, machine.ErrInterrupted):
		goOn := f.command("crawl", "--resume", job.Name)
		if tail != nil {
			goOn += " -o -"
		}
		return &failure{exitInterrupted, fmt.Errorf("interrupted; go on with: %s", goOn)}
	case errors.Is(err, local.ErrJobLocked):
		return &failure{exitUsage, err}
	case err != nil:
		return &failure{exitFailed, err}
	}
	return a.report(ctx, l.Engine, ended, f, show)
}

// report shows the final stats of a job, and is an error if it has failed.
func (a *app) report(ctx context.Context, e *engine.Engine, job crawl.Job, f crawlFlags, show *display) error {
	ctx = context.WithoutCancel(ctx)
	rt, err := e.Runtime(ctx, job)
	if err != nil {
		return &failure{exitFailed, err}
	}
	stats, err := e.ReadStats(ctx, job.UID)
	if err != nil {
		return &failure{exitFailed, err}
	}
	if err := show.stats(stats, rt.Settings.StatsDump, f.stats); err != nil {
		return &failure{exitFailed, err}
	}
	if job.State == crawl.JobFailed {
		reason := job.Problem
		if reason == "" {
			reason = "the job failed: " + job.Reason
		}
		return &failure{exitFailed, errors.New(reason)}
	}
	return nil
}
