package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/feeds"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// parseFlags are the options of parse.
type parseFlags struct {
	spider, callback  string
	args, settings    []string
	logLevel          string
	meta, cbKwargs    string
	depth             int
	output            string
	pipelines, rules  bool
	noItems, noLinks  bool
	verbose, jsonForm bool
}

func (a *app) parseCommand() *cobra.Command {
	var f parseFlags
	cmd := &cobra.Command{
		Use:   "parse URL",
		Short: "Print what a spider makes of a page",
		Long: `Fetches a page as a job would, hands it to the spider's callback and legs, and
prints the items and requests that come of it. Nothing is kept. Without --spider,
it is the spider whose allowed domains the page is in.`,
		Example: `  skitter parse http://127.0.0.1:8000/quotes/page/1/ --spider quotes
  skitter parse http://127.0.0.1:8000/quotes/page/1/ --spider quotes --depth 2 --json -s DOWNLOAD_DELAY=0
  skitter parse http://127.0.0.1:8000/author/Jun-Hallorand/ --spider quotes -c author`,
		Args:              exactly(1, "one URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.parse(cmd.Context(), f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.spider, "spider", "", "the spider that reads the page")
	flags.StringVarP(&f.callback, "callback", "c", "", "the callback that reads it (default: the spider's Parse)")
	flags.BoolVarP(&f.rules, "rules", "r", false, "the callback is that of the spider's rule for links to the page (crawl_rules)")
	flags.StringArrayVarP(&f.args, "arg", "a", nil, "spider argument NAME=VALUE; may be repeated")
	flags.StringVarP(&f.meta, "meta", "m", "", "the request's meta, a JSON object")
	flags.StringVar(&f.cbKwargs, "cbkwargs", "", "arguments of the callback, a JSON object")
	flags.IntVarP(&f.depth, "depth", "d", 1, "levels of pages: 2 also reads those that the page's requests lead to")
	flags.BoolVar(&f.pipelines, "pipelines", false, "pass the items through the pipelines")
	flags.BoolVar(&f.noItems, "noitems", false, "print no items")
	flags.BoolVar(&f.noLinks, "nolinks", false, "print no requests")
	flags.StringVarP(&f.output, "output", "o", "", "append the items to FILE (.jsonl .json .csv), too; - prints them alone, as JSON Lines")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print each level by itself")
	flags.BoolVar(&f.jsonForm, "json", false, "print JSON Lines: one item or request a line, with its level")
	a.settingFlags(cmd, &f.settings, &f.logLevel)
	complete(cmd, "spider", a.completeSpiders)
	complete(cmd, "callback", a.completeCallbacks)
	return cmd
}

// parse checks everything that can be wrong before anything is fetched.
func (a *app) parse(ctx context.Context, f parseFlags, raw string) error {
	req, spec, feed, err := a.readParse(f, raw)
	if err != nil {
		return asUsage(err)
	}
	all, _, err := a.singles(spec.Spider)
	if err != nil {
		return err
	}
	if spec.Spider == "" {
		if spec.Spider, err = all.SpiderFor(req.URL); err != nil {
			return &failure{exitUsage, fmt.Errorf("%w; name one with --spider", err)}
		}
	}
	single, err := all.Single(spec)
	if err != nil {
		return &failure{exitUsage, err}
	}
	if err := knownCallback(single.Spider(), f.callback); err != nil {
		return &failure{exitUsage, err}
	}
	if f.rules {
		routed, err := single.Route(req.URL)
		if err != nil {
			return &failure{exitUsage, fmt.Errorf("--rules: %w; name the callback with --callback", err)}
		}
		req = withOwn(routed, req)
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	return a.walk(ctx, single, req, f, feed)
}

// withOwn gives a rule's request the values of the command line, which win.
func withOwn(routed, own *crawl.Request) *crawl.Request {
	for name, value := range own.Meta {
		routed.Meta[name] = value
	}
	if own.CBKwargs != nil {
		routed.CBKwargs = own.CBKwargs
	}
	return routed
}

// readParse reads the options into what is fetched, by what job, and the file
// that the items are added to, if any.
func (a *app) readParse(f parseFlags, raw string) (*crawl.Request, crawl.JobSpec, *crawl.Feed, error) {
	req := &crawl.Request{Callback: f.callback}
	spec := crawl.JobSpec{Spider: f.spider}
	var errs []error
	keep := func(err error) { errs = append(errs, err) }
	var err error
	req.URL, err = assembly.AnyURL(raw)
	keep(err)
	spec.StartURLs = []string{req.URL}
	req.Meta, err = jsonObject("--meta", f.meta)
	keep(err)
	req.CBKwargs, err = jsonObject("--cbkwargs", f.cbKwargs)
	keep(err)
	spec.Args, err = pairs("-a", f.args)
	keep(err)
	spec.Settings, err = jobSettings(f.settings, f.logLevel)
	keep(err)
	if f.depth < 1 {
		keep(fmt.Errorf("--depth %d: it counts levels of pages, the first included; give 1 or more", f.depth))
	}
	if f.rules && f.callback != "" {
		keep(errors.New("--rules finds the callback, and --callback names one: give one of them"))
	}
	if f.jsonForm && f.verbose {
		keep(errors.New("--json names the level in each line: leave out -v"))
	}
	out, err := outputs(crawlFlags{output: f.output})
	keep(err)
	if err := errors.Join(errs...); err != nil || len(out) == 0 {
		return req, spec, nil, err
	}
	return req, spec, &out[0], nil
}

// jsonObject reads an option that is a JSON object; an empty one is none.
func jsonObject(flag, text string) (crawl.Values, error) {
	if text == "" {
		return nil, nil
	}
	var v crawl.Values
	if err := json.Unmarshal([]byte(text), &v); err != nil || v == nil {
		return nil, fmt.Errorf(`%s %s: want a JSON object, such as {"page": 2}`, flag, text)
	}
	return v, nil
}

// knownCallback refuses a callback that the spider does not have.
func knownCallback(s *spider.Spider, name string) error {
	if s.HasCallback(name) {
		return nil
	}
	there := strings.Join(s.CallbackNames(), ", ")
	if name == "" {
		return fmt.Errorf("spider %s has no callback of its own for pages: name one with --callback; there are %s", s.Name, there)
	}
	return fmt.Errorf("--callback %s: spider %s has none of that name; there are %s", name, s.Name, there)
}

// walk visits the pages and prints what came of them.
func (a *app) walk(ctx context.Context, single *assembly.Single, req *crawl.Request, f parseFlags, feed *crawl.Feed) error {
	p := &parsed{w: a.stdout, flags: f}
	var errs []error
	closing := func() error { return nil }
	if f.pipelines {
		var err error
		if closing, err = single.OpenPipeline(ctx); err != nil {
			return &failure{exitFailed, err}
		}
	}
	for v := range single.Walk(ctx, req, f.depth) {
		if f.pipelines {
			var err error
			if v.Items, err = a.keepItems(ctx, single, v.Items); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", weburl.Shown(v.Request.URL), err))
			}
		}
		var closes *crawl.CloseSpider
		switch {
		case errors.As(v.Err, &closes):
			fmt.Fprintf(a.stderr, "%s: the spider closes the job: %s\n", weburl.Shown(v.Request.URL), closes.Reason)
		case v.Err != nil:
			errs = append(errs, a.visitError(v))
		case v.Ignored:
			fmt.Fprintf(a.stderr, "%s: the spider does not see this answer: status %d\n", weburl.Shown(v.Response.URL), v.Response.Status)
		}
		if err := p.add(v); err != nil {
			return &failure{exitFailed, errors.Join(err, closing())}
		}
		if closes != nil {
			break
		}
	}
	errs = append(errs, closing())
	if ctx.Err() != nil {
		return &failure{exitInterrupted, ctx.Err()}
	}
	errs = append(errs, p.close())
	if feed != nil {
		if _, err := feeds.Deliver(ctx, *feed, crawl.NewJobUID(), feeds.Options{}, p.allItems()); err != nil {
			errs = append(errs, fmt.Errorf("items not written: %w", err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &failure{exitFailed, err}
	}
	return nil
}

// keepItems passes items through the pipelines, and returns those that are kept.
func (a *app) keepItems(ctx context.Context, single *assembly.Single, items []crawl.Item) ([]crawl.Item, error) {
	var kept []crawl.Item
	var errs []error
	for k, item := range items {
		stored, err := single.Keep(ctx, k, item)
		var drop *crawl.Drop
		switch {
		case err == nil:
			kept = append(kept, stored)
		case errors.As(err, &drop):
			fmt.Fprintf(a.stderr, "item dropped: %v\n", err)
		default:
			errs = append(errs, err)
		}
	}
	return kept, errors.Join(errs...)
}

// visitError names the page of a visit's error, and shows where a panic arose.
func (a *app) visitError(v assembly.Visit) error {
	var broke *crawl.PanicError
	if errors.As(v.Err, &broke) {
		fmt.Fprintf(a.stderr, "%s\n", bytes.TrimSpace(broke.Stack))
	}
	if v.Response == nil {
		return v.Err // it names its URL
	}
	name := v.Request.Callback
	if name == "" {
		name = spider.DefaultCallback
	}
	return fmt.Errorf("%s, callback %s: %w", weburl.Shown(v.Response.URL), name, v.Err)
}
