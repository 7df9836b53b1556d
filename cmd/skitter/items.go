package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
)

func (a *app) itemsCommand() *cobra.Command {
	var at placeFlags
	cmd := &cobra.Command{
		Use:   "items JOB",
		Short: "Print the items of a job as JSON Lines",
		Long: `Prints the items of a job, once each: of a job that is not finished,
those of the pages that are done.`,
		Example:           "  skitter items JOB > items.jsonl",
		Args:              exactly(1, "the ID of one job"),
		ValidArgsFunction: firstOf(a.completeJobs()),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, job, err := a.openJob(cmd.Context(), at, args[0])
			if err != nil {
				return err
			}
			defer l.close()
			if err := printItems(cmd.Context(), a.stdout, l.Engine, job.UID); err != nil {
				return &failure{exitFailed, err}
			}
			return nil
		},
	}
	at.add(cmd.Flags())
	return cmd
}

func printItems(ctx context.Context, w io.Writer, e *engine.Engine, uid crawl.JobUID) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for row, err := range e.Scheduler.Output(ctx, uid) {
		if err != nil {
			return err
		}
		if err := enc.Encode(row.Item); err != nil {
			return err
		}
	}
	return out.Flush()
}
