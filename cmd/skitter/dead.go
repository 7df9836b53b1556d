package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/frontier"
)

func (a *app) deadCommand() *cobra.Command {
	cmd := a.group(&cobra.Command{
		Use:   "dead",
		Short: "Show what a job could not do, or do it again",
		Long: `Shows the failed units of a job with their reasons, and does them
again: as part of a job that still runs, or as a new job.`,
		Example: "  skitter dead list JOB\n  skitter dead show JOB UNIT\n  skitter dead redrive JOB",
	})
	var at placeFlags
	at.add(cmd.PersistentFlags())
	cmd.AddCommand(a.deadList(&at), a.deadShow(&at), a.deadRedrive(&at))
	return cmd
}

// A deadUnit is a failed unit as it is shown.
type deadUnit struct {
	Unit    crawl.UnitID   `json:"unit"`
	Reason  string         `json:"reason"`
	URL     string         `json:"url,omitempty"`
	Request *crawl.Request `json:"request,omitempty"`
	// Messages are the dead letters that are kept of it.
	Messages []deadLetter `json:"messages,omitempty"`
}

type deadLetter struct {
	Queue  string `json:"queue"`
	Reason string `json:"reason"`
	Body   string `json:"body"`
}

func (a *app) deadList(at *placeFlags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "list JOB",
		Short:             "List a job's failed units: unit, reason, URL",
		Example:           "  skitter dead list JOB",
		Args:              exactly(1, "the ID of one job"),
		ValidArgsFunction: firstOf(a.completeJobs()),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, job, err := a.openLetters(cmd.Context(), *at, args[0])
			if err != nil {
				return err
			}
			defer l.close()
			enc := json.NewEncoder(a.stdout)
			shown := make(map[crawl.UnitID]bool)
			for row, err := range l.Scheduler.Failed(cmd.Context(), job.UID) {
				if err != nil {
					return &failure{exitFailed, err}
				}
				unit, err := describe(cmd, l.Engine, row)
				if err != nil {
					return &failure{exitFailed, err}
				}
				unit.Request, shown[row.Unit] = nil, true
				if asJSON {
					if err := enc.Encode(unit); err != nil {
						return err
					}
					continue
				}
				fmt.Fprintf(a.stdout, "%s\t%s\t%s\n", unit.Unit, unit.Reason, unit.URL)
			}
			return a.otherLetters(cmd.Context(), l.Engine, job.UID, shown, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object a line")
	return cmd
}

// otherLetters lists the dead letters of a job that are of no failed unit: what
// could not be understood, and items of pages that are done.
func (a *app) otherLetters(ctx context.Context, e *engine.Engine, job crawl.JobUID, shown map[crawl.UnitID]bool, asJSON bool) error {
	list, err := e.Dead.List(ctx, job, 0)
	if err != nil {
		return &failure{exitFailed, err}
	}
	for _, letter := range list {
		if shown[letter.Unit] {
			continue
		}
		if asJSON {
			err = printJSON(a.stdout, []map[string]string{{"letter": letter.ID, "queue": string(letter.From), "reason": letter.Reason}})
		} else {
			_, err = fmt.Fprintf(a.stdout, "letter %s\t%s\tof queue %s\n", letter.ID, letter.Reason, letter.From)
		}
		if err != nil {
			return &failure{exitFailed, err}
		}
	}
	return nil
}

func (a *app) deadShow(at *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use:               "show JOB UNIT",
		Short:             "Show one failed unit whole, as JSON",
		Example:           "  skitter dead show JOB 28fd680a",
		Args:              exactly(2, "the ID of one job, and a unit or the beginning of one"),
		ValidArgsFunction: firstOf(a.completeJobs()),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, job, err := a.openJob(cmd.Context(), *at, args[0])
			if err != nil {
				return err
			}
			defer l.close()
			for row, err := range l.Scheduler.Failed(cmd.Context(), job.UID) {
				if err != nil {
					return &failure{exitFailed, err}
				}
				if !strings.HasPrefix(row.Unit.String(), args[1]) {
					continue
				}
				unit, err := describe(cmd, l.Engine, row)
				if err == nil {
					unit.Messages, err = letters(cmd, l.Engine, job.UID, row.Unit)
				}
				if err != nil {
					return &failure{exitFailed, err}
				}
				enc := json.NewEncoder(a.stdout)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(unit)
			}
			return wrongUse("job %s has no failed unit %s; see: skitter dead list %s", args[0], args[1], args[0])
		},
	}
}

func describe(cmd *cobra.Command, e *engine.Engine, row frontier.Row) (deadUnit, error) {
	unit := deadUnit{Unit: row.Unit, Reason: row.Why}
	if row.Unit == crawl.StartUnit {
		unit.URL = "(the start)"
		return unit, nil
	}
	// Its cookies are not read: they are secret.
	req, err := e.Scheduler.UnpackWith(cmd.Context(), "", row.Req, new(string))
	if err != nil {
		return unit, err
	}
	unit.Request = req.Redacted()
	unit.URL = unit.Request.URL
	return unit, nil
}

func letters(cmd *cobra.Command, e *engine.Engine, job crawl.JobUID, unit crawl.UnitID) ([]deadLetter, error) {
	list, err := e.Dead.List(cmd.Context(), job, 0)
	if err != nil {
		return nil, err
	}
	var found []deadLetter
	for _, letter := range list {
		if letter.Unit != unit {
			continue
		}
		whole, _, err := e.Dead.Get(cmd.Context(), job, letter.ID)
		if err != nil {
			return nil, err
		}
		header, _, _ := strings.Cut(string(whole.Body), "\n")
		found = append(found, deadLetter{string(letter.From), letter.Reason, header})
	}
	return found, nil
}

func (a *app) deadRedrive(at *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "redrive JOB",
		Short: "Do a job's failed units again",
		Long: `Does a job's failed units again: of a job that has ended as a new job, whose ID is
printed and which crawl --resume runs; of another as part of it.`,
		Example:           "  skitter dead redrive JOB\n  skitter crawl --resume NEW",
		Args:              exactly(1, "the ID of one job"),
		ValidArgsFunction: firstOf(a.completeJobs()),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, job, err := a.openJob(cmd.Context(), *at, args[0])
			if err != nil {
				return err
			}
			defer l.close()
			next, n, err := l.Redrive(cmd.Context(), job)
			if err != nil {
				return &failure{exitFailed, err}
			}
			if n == 0 {
				return wrongUse("job %s has nothing left to do again", args[0])
			}
			fmt.Fprintln(a.stdout, next.Name)
			fmt.Fprintf(a.stderr, "%d units; %s\n", n, at.runIt(next.Name))
			return nil
		},
	}
}
