package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/spiders"
)

// The exit codes, as docs/cli.md promises them.
const (
	exitFinished    = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// A failure is an error that ends the program with an exit code of its own.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// wrongUse is a failure of whoever called: exit code 2.
func wrongUse(format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, args...)}
}

// An app is what the commands share.
type app struct {
	stdout, stderr io.Writer
	project        project.Project
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr, project: spiders.Project()}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitFinished
	}
	// One line a mistake, and it is the last thing on stderr.
	fmt.Fprintln(stderr, "skitter: "+strings.ReplaceAll(err.Error(), "\n", "\nskitter: "))
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	// What cobra itself says is about flags and arguments.
	return exitUsage
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "skitter",
		Short: "Scrapy's architecture in Go: on this machine, or on AWS Lambda",
		Long: `Skitter crawls web sites with spiders made of legs. It runs on this machine by
default, with its state in .skitter, and on AWS Lambda when you deploy it.`,
		Example:       "  skitter site --addr 127.0.0.1:8000 &\n  skitter crawl shop -O shop.jsonl -s DOWNLOAD_DELAY=0",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(a.crawlCommand(), a.deadCommand(), a.fetchCommand(), a.itemsCommand(), a.listCommand(), a.siteCommand())
	return root
}

// exactly wants n arguments and says what they are.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return wrongUse("%s wants %s; see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}
