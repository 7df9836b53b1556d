package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
)

// fetchFlags are the options of fetch.
type fetchFlags struct {
	spider, logLevel           string
	settings                   []string
	headers, verbose, jsonForm bool
	noRedirect                 bool
}

func (a *app) fetchCommand() *cobra.Command {
	var f fetchFlags
	cmd := &cobra.Command{
		Use:   "fetch URL",
		Short: "Print a page as the downloader fetches it",
		Long: `Fetches a page through the project's downloader middlewares (robots.txt, retries,
redirects, decompression) and prints its body. --headers prints in its place what
was sent and received, redirects and all, and where the time went; -v prints both,
the latter on stderr. Passwords and the values of cookies are hidden there.

Exits with 0 if a page came, whatever its status, 1 if none did, 2 if the command
is wrong.`,
		Example: `  skitter fetch http://127.0.0.1:8000/p/0
  skitter fetch --headers http://127.0.0.1:8000/redirect/302
  skitter fetch -v http://127.0.0.1:8000/p/0 > page.html`,
		Args:              exactly(1, "one URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.runFetch(cmd.Context(), f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.spider, "spider", "", "fetch with this spider's settings and domains")
	flags.BoolVar(&f.headers, "headers", false, "print what was sent (>) and received (<) in place of the body")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print that on stderr, besides the body")
	flags.BoolVar(&f.jsonForm, "json", false, "print it as JSON Lines, one exchange a line, in place of the body")
	flags.BoolVar(&f.noRedirect, "no-redirect", false, "do not follow redirects")
	a.settingFlags(cmd, &f.settings, &f.logLevel)
	complete(cmd, "spider", a.completeSpiders)
	return cmd
}

func (a *app) runFetch(ctx context.Context, f fetchFlags, raw string) error {
	u, err := assembly.AnyURL(raw)
	if err != nil {
		return asUsage(err)
	}
	if f.headers && f.jsonForm {
		return wrongUse("--headers is for people and --json for programs: give one of them")
	}
	spec := crawl.JobSpec{Spider: f.spider, StartURLs: []string{u}}
	if spec.Settings, err = jobSettings(f.settings, f.logLevel); err != nil {
		return asUsage(err)
	}
	resp, told, err := a.fetch(ctx, spec, &crawl.Request{URL: u, Options: crawl.Options{DontRedirect: f.noRedirect}})
	// What was sent is told also where nothing came back.
	switch {
	case f.jsonForm:
		err = errors.Join(err, printJSON(a.stdout, exchangeLines(told)))
	case f.headers:
		printExchanges(a.stdout, u, told, resp)
	case f.verbose:
		printExchanges(a.stderr, u, told, resp)
	}
	if err != nil || f.headers || f.jsonForm {
		return err
	}
	_, err = a.stdout.Write(resp.Body)
	return err
}

// fetch fetches one page as a job of that specification would, and tells what
// was sent and received for it.
func (a *app) fetch(ctx context.Context, spec crawl.JobSpec, req *crawl.Request) (*crawl.Response, []assembly.Exchange, error) {
	layers, err := a.layers()
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	p := a.project
	if spec.Spider != "" {
		if _, _, err := a.file(spec.Spider); err != nil {
			return nil, nil, asUsage(err)
		}
		if p, _, err = a.here(); err != nil {
			return nil, nil, asUsage(err)
		}
	}
	single, err := assembly.NewSingle(p, layers, spec, newDisplay(a.stderr, false).log)
	if err != nil {
		return nil, nil, &failure{exitUsage, err}
	}
	resp, told, err := single.Trace(ctx, req)
	switch {
	case ctx.Err() != nil:
		return nil, told, &failure{exitInterrupted, ctx.Err()}
	case err != nil:
		return nil, told, &failure{exitFailed, err}
	}
	return resp, told, nil
}
