package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/topology"
)

// serviceAddr is where the job service listens, as scrapyd does.
const serviceAddr = "127.0.0.1:6800"

func (a *app) upCommand() *cobra.Command {
	var f stackFlags
	var addr string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run the AWS stack at an emulator",
		Long: `Creates at an endpoint what is missing of the stack (queues, tables, bucket), then
does what Lambda does: polls the queues and runs the four functions, until it is
stopped. It serves the job service, scrapyd's JSON API.`,
		Example: `  skitter up --endpoint http://127.0.0.1:4566
  skitter up --endpoint http://127.0.0.1:5000 --exec dist`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.up(cmd.Context(), f, addr, quiet) },
	}
	flags := cmd.Flags()
	f.placeFlags.addStack(flags)
	f.add(flags)
	flags.StringVar(&addr, "addr", serviceAddr, "address of the job service")
	flags.BoolVar(&quiet, "quiet", false, "print nothing but warnings")
	return cmd
}

func (a *app) up(ctx context.Context, f stackFlags, addr string, quiet bool) error {
	if f.endpoint == "" {
		f.endpoint = os.Getenv("AWS_ENDPOINT_URL")
	}
	if f.endpoint == "" {
		return wrongUse("up wants --endpoint URL, or AWS_ENDPOINT_URL in the environment: at AWS itself, Lambda runs the stack that was deployed")
	}
	layers, err := a.layers()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return &failure{exitFailed, fmt.Errorf("--addr: %w", err)}
	}
	defer func() { _ = listener.Close() }()
	show := newDisplay(a.stderr, quiet)
	run, err := a.runStack(ctx, f, layers, show)
	if err != nil {
		return err
	}
	defer run.close()
	server := &http.Server{Handler: lambdahost.URLHandler(run.invoke[topology.Control]), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(a.stdout, "http://%s/\n", listener.Addr())
	fmt.Fprintf(a.stderr, "stack %s is up at %s; the job service listens at the address above\n", run.cloud.Stack.Name, f.endpoint)
	select {
	case <-ctx.Done():
		err = nil
	case err = <-run.failed:
	case err = <-served:
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = errors.Join(err, server.Shutdown(ending))
	if err != nil {
		return &failure{exitFailed, err}
	}
	return nil
}
