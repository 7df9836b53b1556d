package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

func (a *app) fetchCommand() *cobra.Command {
	var set []string
	var spiderName string
	var headers, noRedirect bool
	cmd := &cobra.Command{
		Use:   "fetch URL",
		Short: "Print a page as the downloader fetches it",
		Long: `Fetches a page through the project's downloader middlewares (robots.txt, retries,
redirects, decompression) and prints its body.`,
		Example: "  skitter fetch http://127.0.0.1:8000/p/0\n  skitter fetch --headers http://127.0.0.1:8000/p/0",
		Args:    exactly(1, "one URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := weburl.Parse(args[0])
			if err != nil {
				return &failure{exitUsage, err}
			}
			spec := crawl.JobSpec{Spider: spiderName}
			if spec.Settings, err = pairs("-s", set); err != nil {
				return &failure{exitUsage, err}
			}
			layers, err := a.layers()
			if err != nil {
				return err
			}
			single, err := assembly.NewSingle(a.project, layers, spec, newDisplay(a.stderr, false).log)
			if err != nil {
				return &failure{exitUsage, err}
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			resp, err := single.Fetch(ctx, &crawl.Request{URL: u.String(), Options: crawl.Options{DontRedirect: noRedirect}})
			switch {
			case ctx.Err() != nil:
				return &failure{exitInterrupted, ctx.Err()}
			case err != nil:
				return &failure{exitFailed, err}
			}
			if headers {
				printHeaders(a.stdout, resp)
				return nil
			}
			_, err = a.stdout.Write(resp.Body)
			return err
		},
	}
	cmd.Flags().StringArrayVarP(&set, "set", "s", nil, "setting NAME=VALUE; may be repeated")
	cmd.Flags().StringVar(&spiderName, "spider", "", "fetch with this spider's settings and domains")
	cmd.Flags().BoolVar(&headers, "headers", false, "print status and headers (> sent, < received) in place of the body")
	cmd.Flags().BoolVar(&noRedirect, "no-redirect", false, "do not follow redirects")
	_ = cmd.RegisterFlagCompletionFunc("spider", a.completeSpiders)
	return cmd
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

func (a *app) completeSpiders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	registry, err := spider.NewRegistry(a.project.Spiders...)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return registry.Names(), cobra.ShellCompDirectiveNoFileComp
}
