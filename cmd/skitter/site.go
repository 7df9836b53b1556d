package main

import (
	"context"
	"fmt"
	"net"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/site"
)

func (a *app) siteCommand() *cobra.Command {
	var addr string
	var o site.Options
	cmd := &cobra.Command{
		Use:   "site",
		Short: "Serve the built-in shop to crawl",
		Long: `Serves a deterministic shop: product pages under /p/N, robots.txt, sitemap.xml,
feeds, products.csv, a login, redirects and errors. /stats tells what was asked for.`,
		Example: "  skitter site --addr 127.0.0.1:8000 --pages 1200",
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			shop, err := site.New(o)
			if err != nil {
				return &failure{exitUsage, err}
			}
			l, err := net.Listen("tcp", addr)
			if err != nil {
				return wrongUse("--addr %s: %v; give a free address such as 127.0.0.1:0", addr, err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			fmt.Fprintf(a.stdout, "http://%s/\n", l.Addr())
			if err := shop.Serve(ctx, l); err != nil && ctx.Err() == nil {
				return &failure{exitFailed, err}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8000", "address to listen on; port 0 takes a free one")
	cmd.Flags().IntVar(&o.Pages, "pages", 1200, "product pages")
	cmd.Flags().DurationVar(&o.Latency, "latency", 0, "time added to every answer, such as 50ms")
	cmd.Flags().Float64Var(&o.Fail, "fail", 0, "share of product pages that answer 503 at first, 0 to 1")
	return cmd
}

// interruptible returns a context that ends at the first SIGINT or SIGTERM. The
// second one ends the program at once, as the default does.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(parent, syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// since is how long ago a time was, in a form for people.
func since(t time.Time) string { return time.Since(t).Round(time.Second).String() }
