package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/skitterhq/skitter/shared/assembly/machine"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/jobs"
)

// placeFlags say where the state of jobs lies: in a folder of this machine, or
// in a stack on AWS.
type placeFlags struct {
	data     string
	endpoint string
	stack    string
}

func (f *placeFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.data, "data", defaultData, "folder where state lives")
	f.addStack(flags)
}

func (f *placeFlags) addStack(flags *pflag.FlagSet) {
	flags.StringVar(&f.endpoint, "endpoint", "", "the AWS stack at this URL, such as http://127.0.0.1:4566")
	flags.StringVar(&f.stack, "stack", "", "name of the stack (default "+defaultStack+"); without --endpoint, on AWS itself")
}

// onAWS reports whether the state is a stack's.
func (f placeFlags) onAWS() bool { return f.endpoint != "" || f.stack != "" }

func (f placeFlags) String() string {
	switch {
	case f.endpoint != "":
		return "the stack at " + f.endpoint
	case f.onAWS():
		return "stack " + f.stack
	}
	return f.data
}

// command is a command line for a job's state, to be typed as it stands.
func (f placeFlags) command(words ...string) string {
	words = append([]string{"skitter"}, words...)
	if f.data != "" && f.data != defaultData {
		words = append(words, "--data", f.data)
	}
	if f.endpoint != "" {
		words = append(words, "--endpoint", f.endpoint)
	}
	if f.stack != "" {
		words = append(words, "--stack", f.stack)
	}
	return strings.Join(words, " ")
}

// runIt tells how a job that was started is run.
func (f placeFlags) runIt(job string) string {
	run := "run them with: " + f.command("crawl", "--resume", job)
	switch {
	case f.endpoint != "":
		return run + ", where no skitter up does it already"
	case f.onAWS():
		return "the stack does them now"
	}
	return run
}

// A place is an engine over the state of jobs.
type place struct {
	*engine.Engine
	close func()
}

// open opens state that must be there.
func (a *app) open(ctx context.Context, f placeFlags) (place, error) {
	layers, err := a.layers()
	if err != nil {
		return place{}, err
	}
	log := newDisplay(a.stderr, true).log
	if f.onAWS() {
		c, err := a.openStack(ctx, f, layers, log)
		if err != nil {
			return place{}, err
		}
		return place{c.Engine, c.Close}, nil
	}
	if err := stateIn(f.data); err != nil {
		return place{}, err
	}
	m, err := machine.Open(machine.Options{Dir: f.data, Project: a.project, Layers: layers, Log: log})
	if err != nil {
		return place{}, asUsage(err)
	}
	return place{m.Engine, func() { _ = m.Close() }}, nil
}

// openJob opens the state of jobs, and finds a job in it.
func (a *app) openJob(ctx context.Context, f placeFlags, name string) (place, crawl.Job, error) {
	p, err := a.open(ctx, f)
	if err != nil {
		return place{}, crawl.Job{}, err
	}
	job, err := a.find(ctx, p, f, name)
	if err != nil {
		p.close()
		return place{}, job, err
	}
	return p, job, nil
}

func (a *app) find(ctx context.Context, p place, f placeFlags, name string) (crawl.Job, error) {
	job, err := p.Jobs.Find(ctx, a.project.Name, name)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return job, wrongUse("there is no job %s in %s", name, f)
	case err != nil:
		return job, &failure{exitFailed, fmt.Errorf("job %s: %w", name, err)}
	}
	return job, nil
}

// openLetters is openJob that finds a job which is gone, too, by the UID that
// its dead letters are kept under.
func (a *app) openLetters(ctx context.Context, f placeFlags, name string) (place, crawl.Job, error) {
	p, err := a.open(ctx, f)
	if err != nil {
		return place{}, crawl.Job{}, err
	}
	job, missing := a.find(ctx, p, f, name)
	if missing == nil {
		return p, job, nil
	}
	list, err := p.Dead.List(ctx, crawl.JobUID(name), 1)
	if err != nil || len(list) == 0 {
		p.close()
		return place{}, job, missing
	}
	return p, crawl.Job{UID: crawl.JobUID(name), Name: name}, nil
}

// stateIn reports whether a folder is there that a crawl could have kept its
// state in, so that looking for one makes none.
func stateIn(data string) error {
	if _, err := os.Stat(data); err != nil {
		return wrongUse("--data %s: no crawl has kept its state there", data)
	}
	return nil
}
