package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// checkFlags are the options of check.
type checkFlags struct {
	settings                []string
	logLevel                string
	list, verbose, jsonForm bool
}

func (a *app) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [SPIDER ...]",
		Short: "Check the contracts of spiders on the pages as they are now",
		Long: `Fetches the page of each contract of the spiders (all of them, if none is named) as
a job would, hands it to the spider, and prints what does not hold any more.`,
		Example: `  skitter check
  skitter check quotes -v
  skitter check --list`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.check(cmd.Context(), f, args) },
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
			names, directive := a.completeSpiders(cmd, args, toComplete)
			return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), directive
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.list, "list", "l", false, "list the contracts and fetch nothing")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print the contracts that hold, too")
	flags.BoolVar(&f.jsonForm, "json", false, "print a JSON object for each contract")
	a.settingFlags(cmd, &f.settings, &f.logLevel)
	return cmd
}

// A checked is what came of one contract.
type checked struct {
	Spider   string   `json:"spider"`
	Callback string   `json:"callback"`
	URL      string   `json:"url"`
	Holds    *bool    `json:"holds,omitempty"`
	Errors   []string `json:"errors,omitempty"`
}

// check checks the contracts one after the other: each host is asked as slowly
// as a job would.
func (a *app) check(ctx context.Context, f checkFlags, names []string) error {
	set, err := jobSettings(f.settings, f.logLevel)
	if err != nil {
		return asUsage(err)
	}
	all, wrong, err := a.singles(names...)
	if err != nil {
		return err
	}
	spiders, err := spidersNamed(all.Registry(), names)
	if err != nil {
		return asUsage(err)
	}
	if f.list {
		if err := a.listContracts(spiders, f.jsonForm); err != nil || wrong == nil {
			return err
		}
		return wrongUse("spiders whose files are wrong are not listed")
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	begun, n, failed := time.Now(), 0, 0
	for _, s := range spiders {
		for k := range s.Contracts {
			c := &s.Contracts[k]
			errs, err := checkOne(ctx, all, s, c, set)
			switch {
			case err != nil:
				return asUsage(err)
			case ctx.Err() != nil:
				return &failure{exitInterrupted, ctx.Err()}
			}
			n++
			if len(errs) > 0 {
				failed++
			}
			if err := a.printChecked(f, s.Name, c, errs); err != nil {
				return &failure{exitFailed, err}
			}
		}
	}
	switch {
	case wrong != nil:
		return wrongUse("%d of %d contracts failed, and spiders whose files are wrong were not checked", failed, n)
	case failed > 0:
		return &failure{exitFailed, fmt.Errorf("%d of %d contracts failed", failed, n)}
	case n == 0:
		fmt.Fprintln(a.stderr, "there are no contracts to check")
	case n == 1:
		fmt.Fprintf(a.stderr, "1 contract holds, checked in %.1fs\n", time.Since(begun).Seconds())
	default:
		fmt.Fprintf(a.stderr, "%d contracts hold, checked in %.1fs\n", n, time.Since(begun).Seconds())
	}
	return nil
}

// checkOne returns what does not hold of a contract. The error is one of the
// settings.
func checkOne(ctx context.Context, all *assembly.Singles, s *spider.Spider, c *spider.Contract, set map[string]string) ([]error, error) {
	single, err := all.Single(crawl.JobSpec{Spider: s.Name, Args: c.Args, Settings: set})
	if err != nil {
		return nil, err
	}
	return single.Check(ctx, c), nil
}

// spidersNamed are the spiders of the names, or all if there are none.
func spidersNamed(registry *spider.Registry, names []string) ([]*spider.Spider, error) {
	if len(names) == 0 {
		names = registry.Names()
	}
	var list []*spider.Spider
	for _, name := range names {
		s, err := registry.Get(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list, nil
}

func (a *app) listContracts(spiders []*spider.Spider, asJSON bool) error {
	for _, s := range spiders {
		for k := range s.Contracts {
			c := &s.Contracts[k]
			if asJSON {
				if err := printJSON(a.stdout, []checked{{Spider: s.Name, Callback: c.CallbackName(), URL: weburl.Redact(c.URL)}}); err != nil {
					return &failure{exitFailed, err}
				}
				continue
			}
			if k == 0 {
				fmt.Fprintln(a.stdout, s.Name)
			}
			fmt.Fprintf(a.stdout, "  * %s  %s\n", c.CallbackName(), weburl.Redact(c.URL))
		}
	}
	return nil
}

func (a *app) printChecked(f checkFlags, name string, c *spider.Contract, errs []error) error {
	holds := len(errs) == 0
	if f.jsonForm {
		row := checked{Spider: name, Callback: c.CallbackName(), URL: weburl.Redact(c.URL), Holds: &holds}
		for _, err := range errs {
			row.Errors = append(row.Errors, err.Error())
		}
		return printJSON(a.stdout, []checked{row})
	}
	verdict := "FAILED"
	if holds {
		verdict = "ok    "
	}
	if f.verbose || !holds {
		fmt.Fprintf(a.stdout, "%s  %s:%s  %s\n", verdict, name, c.CallbackName(), weburl.Redact(c.URL))
	}
	for _, err := range errs {
		fmt.Fprintf(a.stdout, "        %s\n", strings.ReplaceAll(err.Error(), "\n", "\n        "))
	}
	return nil
}
