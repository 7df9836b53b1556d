package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
)

// complete sets what completes a flag's value.
func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // a flag that is not there: a mistake in this program
	}
}

// firstOf completes the first argument only.
func firstOf(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, toComplete)
	}
}

func (a *app) completeSpiders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	registry, _, err := a.registry()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return registry.Names(), cobra.ShellCompDirectiveNoFileComp
}

// completeCallbacks offers the callbacks of the spider in --spider.
func (a *app) completeCallbacks(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	registry, _, err := a.registry()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	s, err := registry.Get(cmd.Flag("spider").Value.String())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.CallbackNames(), cobra.ShellCompDirectiveNoFileComp
}

// mostJobs is how many jobs are offered, the newest.
const mostJobs = 50

// completeJobs offers the jobs in the folder of --data, those in one of the
// states if any are given.
func (a *app) completeJobs(states ...crawl.JobState) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		l, err := a.open(cmd.Context(), placeFlags{data: cmd.Flag("data").Value.String()})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp // no state, no jobs
		}
		defer l.close()
		list, err := l.Jobs.List(cmd.Context(), a.project.Name, mostJobs, states...)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var found []cobra.Completion
		for _, job := range list {
			found = append(found, cobra.CompletionWithDesc(job.Name, fmt.Sprintf("%s, %s", job.Spider, job.State)))
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

func completeSettings(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	for _, d := range settings.Definitions() {
		found = append(found, cobra.CompletionWithDesc(d.Name+"=", d.Doc))
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
