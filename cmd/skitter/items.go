package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
)

func (a *app) itemsCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "items JOB",
		Short: "Print the items of a job as JSON Lines",
		Long: `Prints the items of a job of this machine, once each: of a job that is not finished,
those of the pages that are done.`,
		Example:           "  skitter items JOB > items.jsonl",
		Args:              exactly(1, "the ID of one job"),
		ValidArgsFunction: firstOf(a.completeJobs()),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, job, err := a.openJob(cmd.Context(), data, args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			if err := printItems(cmd.Context(), a.stdout, l, job.UID); err != nil {
				return &failure{exitFailed, err}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", defaultData, "folder where state lives")
	return cmd
}

// stateIn reports whether a folder is there that a crawl could have kept its
// state in, so that looking for one makes none.
func stateIn(data string) error {
	if _, err := os.Stat(data); err != nil {
		return wrongUse("--data %s: no crawl has kept its state there", data)
	}
	return nil
}

// openState opens the state in a folder that must be there.
func (a *app) openState(data string) (*assembly.Local, error) {
	if err := stateIn(data); err != nil {
		return nil, err
	}
	layers, err := a.layers()
	if err != nil {
		return nil, err
	}
	l, err := assembly.OpenLocal(assembly.LocalOptions{
		Dir: data, Project: a.project, Layers: layers, Log: newDisplay(a.stderr, true).log,
	})
	return l, asUsage(err)
}

// openJob opens the state in a folder, and finds a job in it.
func (a *app) openJob(ctx context.Context, data, name string) (*assembly.Local, crawl.Job, error) {
	l, err := a.openState(data)
	if err != nil {
		return nil, crawl.Job{}, err
	}
	job, err := l.Jobs.Find(ctx, a.project.Name, name)
	if err != nil {
		l.Close()
		if errors.Is(err, jobs.ErrNotFound) {
			return nil, job, wrongUse("there is no job %s in %s", name, data)
		}
		return nil, job, &failure{exitFailed, err}
	}
	return l, job, nil
}

func printItems(ctx context.Context, w io.Writer, l *assembly.Local, uid crawl.JobUID) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for row, err := range l.Scheduler.Output(ctx, uid) {
		if err != nil {
			return err
		}
		if err := enc.Encode(row.Item); err != nil {
			return err
		}
	}
	return out.Flush()
}
