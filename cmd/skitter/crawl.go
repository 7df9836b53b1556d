package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/feeds"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/weburl"
)

// crawlFlags are the options of crawl.
type crawlFlags struct {
	args, settings    []string
	output, overwrite string
	job, resume       string
	stats             string
	data              string
	quiet             bool
}

func (a *app) crawlCommand() *cobra.Command {
	var f crawlFlags
	cmd := &cobra.Command{
		Use:   "crawl SPIDER [URL ...]",
		Short: "Run a job of a spider to its end",
		Long: `Runs a job of a registered spider on this machine to its end. URLs replace its
start URLs. An interrupted job goes on with --resume.`,
		Example: `  skitter crawl shop -O shop.jsonl
  skitter crawl quotes http://127.0.0.1:8000/quotes/page/1/ -o - -s DOWNLOAD_DELAY=0
  skitter crawl --resume JOB`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.crawl(cmd.Context(), f, args) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.args, "arg", "a", nil, "spider argument NAME=VALUE; may be repeated")
	flags.StringArrayVarP(&f.settings, "set", "s", nil, "setting NAME=VALUE; may be repeated")
	flags.StringVarP(&f.output, "output", "o", "", "append items to FILE (.jsonl .json .csv); - prints JSON Lines")
	flags.StringVarP(&f.overwrite, "overwrite-output", "O", "", "write items to FILE in place of what is there")
	flags.StringVar(&f.job, "job", "", "the job's ID; starting an ID twice is the same job")
	flags.StringVar(&f.resume, "resume", "", "go on with a job that was interrupted; needs no spider")
	flags.StringVar(&f.stats, "stats", "", "write the final stats to FILE as one JSON object")
	flags.StringVar(&f.data, "data", ".skitter", "folder where state lives")
	flags.BoolVar(&f.quiet, "quiet", false, "print no progress and no stats")
	return cmd
}

// crawl checks everything that can be wrong before anything is written.
func (a *app) crawl(ctx context.Context, f crawlFlags, args []string) error {
	order, err := a.order(f, args)
	if err != nil {
		return err
	}
	layers, err := a.layers()
	if err != nil {
		return err
	}
	show := newDisplay(a.stderr, f.quiet)
	if f.resume == "" {
		if err := assembly.Check(a.project, layers, order.Spec, show.log); err != nil {
			return &failure{exitUsage, err}
		}
	} else if err := stateIn(f.data); err != nil {
		return err
	}
	tail := newTail(a.stdout)
	if f.output != "-" {
		tail = nil
	}
	l, err := assembly.OpenLocal(assembly.LocalOptions{
		Dir: f.data, Project: a.project, Layers: layers, Log: show.log, Observer: tail.observer(),
	})
	if err != nil {
		return &failure{exitUsage, err}
	}
	defer l.Close()
	job, err := a.begin(ctx, l, f, order)
	if err != nil {
		return err
	}
	return a.drive(ctx, l, job, f, show, tail)
}

// order reads what job is asked for.
func (a *app) order(f crawlFlags, args []string) (engine.Order, error) {
	o := engine.Order{Project: a.project.Name, Name: f.job}
	if f.resume != "" {
		if len(args) > 0 || f.job != "" || len(f.args)+len(f.settings) > 0 || f.overwrite != "" || f.output != "" {
			return o, wrongUse("--resume goes on with a job as it was started: give no spider, URL, -a, -s, -o, -O or --job with it")
		}
		return o, nil
	}
	if len(args) == 0 {
		return o, wrongUse("crawl wants the name of a spider, or --resume JOB; skitter list shows the spiders")
	}
	o.Spec.Spider = args[0]
	var errs []error
	var err error
	if o.Spec.Args, err = pairs("-a", f.args); err != nil {
		errs = append(errs, err)
	}
	if o.Spec.Settings, err = pairs("-s", f.settings); err != nil {
		errs = append(errs, err)
	}
	for _, raw := range args[1:] {
		u, err := weburl.Parse(raw)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		o.Spec.StartURLs = append(o.Spec.StartURLs, u.String())
	}
	if o.Spec.Feeds, err = outputs(f); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return o, &failure{exitUsage, err}
	}
	return o, nil
}

// pairs reads NAME=VALUE options.
func pairs(flag string, list []string) (map[string]string, error) {
	m := make(map[string]string, len(list))
	for _, p := range list {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s %s: want NAME=VALUE", flag, p)
		}
		m[name] = value
	}
	return m, nil
}

// outputs reads -o and -O.
func outputs(f crawlFlags) ([]crawl.Feed, error) {
	if f.output != "" && f.overwrite != "" {
		return nil, errors.New("-o appends and -O overwrites: give one of them")
	}
	feed := crawl.Feed{URI: f.output}
	if f.overwrite != "" {
		feed = crawl.Feed{URI: f.overwrite, Overwrite: true}
	}
	if feed.URI == "" || feed.URI == "-" {
		return nil, nil
	}
	var err error
	if feed.Format, err = feeds.FormatOf(feed.URI); err != nil {
		return nil, err
	}
	if err := feeds.Check(feed); err != nil {
		return nil, err
	}
	return []crawl.Feed{feed}, nil
}

// layers are the settings of the project file, if there is one.
func (a *app) layers() ([]settings.Layer, error) {
	layer, name, err := settings.ReadFile("skitter.yaml")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &failure{exitUsage, err}
	}
	if name != "" {
		a.project.Name = name
	}
	return []settings.Layer{layer}, nil
}

// begin starts the job, or finds the one to go on with.
func (a *app) begin(ctx context.Context, l *assembly.Local, f crawlFlags, o engine.Order) (crawl.Job, error) {
	if f.resume != "" {
		job, err := l.Jobs.Find(ctx, a.project.Name, f.resume)
		if errors.Is(err, jobs.ErrNotFound) {
			return job, wrongUse("--resume %s: there is no such job in %s", f.resume, f.data)
		}
		if err == nil && job.State.Ended() {
			return job, wrongUse("--resume %s: the job has ended already (%s)", f.resume, job.Reason)
		}
		return job, err
	}
	job, _, err := l.Create(ctx, o)
	if err != nil {
		// What can go wrong before anything is written is wrong use.
		return job, &failure{exitUsage, err}
	}
	return job, nil
}

// drive runs the job and reports how it ended.
func (a *app) drive(ctx context.Context, l *assembly.Local, job crawl.Job, f crawlFlags, show *display, tail *tail) error {
	fmt.Fprintln(a.stderr, job.Name)
	ctx, stop := interruptible(ctx)
	defer stop()
	rt, err := l.Runtime(ctx, job)
	if err != nil {
		return &failure{exitFailed, err}
	}
	stopShow := show.progress(ctx, l, job, rt.Settings.LogStatsInterval)
	tail.follow(l, job.UID)
	ended, err := l.Run(ctx, job.UID)
	stopShow()
	if terr := tail.close(); terr != nil && err == nil {
		err = terr
	}
	switch {
	case errors.Is(err, assembly.ErrInterrupted):
		return &failure{exitInterrupted, fmt.Errorf("interrupted; go on with: skitter crawl --resume %s", job.Name)}
	case err != nil:
		return &failure{exitFailed, err}
	}
	stats, err := l.ReadStats(context.WithoutCancel(ctx), job.UID)
	if err != nil {
		return &failure{exitFailed, err}
	}
	if err := show.stats(stats, rt.Settings.StatsDump, f.stats); err != nil {
		return &failure{exitFailed, err}
	}
	if ended.State == crawl.JobFailed {
		reason := ended.Problem
		if reason == "" {
			reason = "the job failed: " + ended.Reason
		}
		return &failure{exitFailed, errors.New(reason)}
	}
	return nil
}
