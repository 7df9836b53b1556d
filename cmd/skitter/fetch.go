package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
)

func (a *app) fetchCommand() *cobra.Command {
	var set []string
	var spiderName, logLevel string
	var headers, noRedirect bool
	cmd := &cobra.Command{
		Use:   "fetch URL",
		Short: "Print a page as the downloader fetches it",
		Long: `Fetches a page through the project's downloader middlewares (robots.txt, retries,
redirects, decompression) and prints its body.`,
		Example:           "  skitter fetch http://127.0.0.1:8000/p/0\n  skitter fetch --headers http://127.0.0.1:8000/p/0",
		Args:              exactly(1, "one URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := assembly.PageURL(args[0])
			if err != nil {
				return &failure{exitUsage, err}
			}
			spec := crawl.JobSpec{Spider: spiderName}
			if spec.Settings, err = jobSettings(set, logLevel); err != nil {
				return &failure{exitUsage, err}
			}
			resp, err := a.fetch(cmd.Context(), spec, &crawl.Request{URL: u, Options: crawl.Options{DontRedirect: noRedirect}})
			if err != nil {
				return err
			}
			if headers {
				printHeaders(a.stdout, resp)
				return nil
			}
			_, err = a.stdout.Write(resp.Body)
			return err
		},
	}
	cmd.Flags().StringVar(&spiderName, "spider", "", "fetch with this spider's settings and domains")
	cmd.Flags().BoolVar(&headers, "headers", false, "print status and headers (> sent, < received) in place of the body")
	cmd.Flags().BoolVar(&noRedirect, "no-redirect", false, "do not follow redirects")
	a.settingFlags(cmd, &set, &logLevel)
	complete(cmd, "spider", a.completeSpiders)
	return cmd
}

// fetch fetches one page as a job of that specification would.
func (a *app) fetch(ctx context.Context, spec crawl.JobSpec, req *crawl.Request) (*crawl.Response, error) {
	layers, err := a.layers()
	if err != nil {
		return nil, err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	p := a.project
	if spec.Spider != "" {
		if _, _, err := a.file(spec.Spider); err != nil {
			return nil, asUsage(err)
		}
		if p, _, err = a.here(); err != nil {
			return nil, asUsage(err)
		}
	}
	single, err := assembly.NewSingle(p, layers, spec, newDisplay(a.stderr, false).log)
	if err != nil {
		return nil, &failure{exitUsage, err}
	}
	resp, err := single.Fetch(ctx, req)
	switch {
	case ctx.Err() != nil:
		return nil, &failure{exitInterrupted, ctx.Err()}
	case err != nil:
		return nil, &failure{exitFailed, err}
	}
	return resp, nil
}

// printHeaders prints what was sent and what came back, as Scrapy does.
func printHeaders(w io.Writer, resp *crawl.Response) {
	fmt.Fprintf(w, "> %s %s\n", resp.Request.HTTPMethod(), resp.URL)
	printEach(w, ">", resp.Request.Headers)
	fmt.Fprintf(w, "< %s %d %s\n", resp.Protocol, resp.Status, http.StatusText(resp.Status))
	printEach(w, "<", resp.Headers)
}

func printEach(w io.Writer, mark string, h http.Header) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			fmt.Fprintf(w, "%s %s: %s\n", mark, name, value)
		}
	}
}
