package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/feeds"
)

// order reads what job is asked for. Nothing is written yet, so all that is
// wrong is told at once.
func (a *app) order(f crawlFlags, find finder, args []string) (engine.Order, error) {
	o := engine.Order{Project: a.project.Name, Name: f.job}
	if f.resume != "" {
		// A job on a stack knows of no file of this machine.
		toFile := (f.output != "" || f.overwrite != "") && !f.toStdout() && !f.onAWS()
		if len(args) > 0 || f.job != "" || len(f.args)+len(f.settings) > 0 || f.logLevel != "" || toFile {
			return o, wrongUse("--resume goes on with a job as it was started: give no spider, URL, -a, -s, -L, -O or --job with it, and no -o but -o -")
		}
		var err error
		o.Spec.Feeds, err = outputs(f)
		return o, asUsage(errors.Join(err, checkStats(f)))
	}
	if len(args) == 0 {
		return o, wrongUse("%s wants %s, or --resume JOB; %s", find.command, find.what, find.hint)
	}
	errs := []error{checkStats(f)}
	keep := func(err error) { errs = append(errs, err) }
	var err error
	o.Spec.Spider, o.Spec.Definition, err = find.spider(args[0])
	keep(err)
	o.Spec.Args, err = pairs("-a", f.args)
	keep(err)
	o.Spec.Settings, err = jobSettings(f.settings, f.logLevel)
	keep(err)
	for _, raw := range args[1:] {
		u, err := assembly.AnyURL(raw)
		keep(err)
		o.Spec.StartURLs = append(o.Spec.StartURLs, u)
	}
	o.Spec.Feeds, err = outputs(f)
	keep(err)
	return o, asUsage(errors.Join(errs...))
}

// settingFlags adds the flags of settings, and completes them.
func (a *app) settingFlags(cmd *cobra.Command, set *[]string, level *string) {
	cmd.Flags().StringArrayVarP(set, "set", "s", nil, "setting NAME=VALUE; may be repeated")
	cmd.Flags().StringVarP(level, "loglevel", "L", "", "least level that is logged, as -s LOG_LEVEL=LEVEL")
	complete(cmd, "set", completeSettings)
	complete(cmd, "loglevel", cobra.FixedCompletions([]string{"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}, cobra.ShellCompDirectiveNoFileComp))
}

// jobSettings reads -s and -L. As in Scrapy, -L wins.
func jobSettings(list []string, level string) (map[string]string, error) {
	set, err := pairs("-s", list)
	if err == nil && level != "" {
		set["LOG_LEVEL"] = level
	}
	return set, err
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
	if feed.URI == "" || f.toStdout() {
		return nil, nil
	}
	var err error
	if feed.Format, err = feeds.FormatOf(feed.URI); err != nil {
		return nil, err
	}
	if err := feeds.Check(feed); err != nil {
		return nil, err
	}
	// The job may be gone on with from another folder.
	if feed.URI, err = filepath.Abs(feed.URI); err != nil {
		return nil, err
	}
	return []crawl.Feed{feed}, nil
}

func checkStats(f crawlFlags) error {
	if f.stats == "" {
		return nil
	}
	if err := feeds.CheckFile(f.stats); err != nil {
		return fmt.Errorf("--stats: %w", err)
	}
	return nil
}
