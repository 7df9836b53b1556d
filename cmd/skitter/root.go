package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/crawl"
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

// asUsage makes an error a failure of whoever called.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return &failure{exitUsage, err}
}

// An app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	project        project.Project
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, project: spiders.Project()}
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	a.stdout, a.stderr = onScreen(a.stdout), onScreen(a.stderr)
	defer flushScreens(a.stdout, a.stderr)
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	// Code of the project runs here, and a panic would exit with the code of
	// wrong use.
	err := crawl.Guard(func() error { return root.ExecuteContext(ctx) })
	if err == nil {
		return exitFinished
	}
	var broke *crawl.PanicError
	if errors.As(err, &broke) {
		fmt.Fprintf(a.stderr, "%s\n", broke.Stack)
		printError(a.stderr, err)
		return exitFailed
	}
	if _, _, notFound := root.Find(args); notFound != nil {
		err = a.unknownCommand(root, args)
	}
	printError(a.stderr, err)
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
		Short: "Scrapy's architecture in Go, on this machine",
		Long: `Skitter crawls web sites with spiders made of legs. It runs on this machine, with
its state in .skitter; a crawl that is interrupted goes on where it was.`,
		Example:           "  skitter site --addr 127.0.0.1:8000 &\n  skitter crawl shop -O shop.jsonl -s DOWNLOAD_DELAY=0",
		SilenceUsage:      true,
		SilenceErrors:     true,
		Version:           version(),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return noEmptyFlags(cmd) },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(
		a.checkCommand(), a.crawlCommand(), a.deadCommand(), a.fetchCommand(), a.invokeCommand(), a.itemsCommand(), a.listCommand(),
		a.newCommand(), a.parseCommand(), a.runCommand(), a.schemaCommand(), a.shellCommand(), a.siteCommand(), a.upCommand(), a.versionCommand(),
	)
	a.completionCommand(root)
	return root
}

// noEmptyFlags refuses a text that was given and is empty: most often it is a
// shell's variable that is not set, and to ignore it does what nobody wants.
func noEmptyFlags(cmd *cobra.Command) error {
	var errs []error
	for _, f := range visited(cmd.Flags().Visit) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			errs = append(errs, fmt.Errorf("--%s is empty (a variable that is not set?): give a value, or leave it out", f.Name))
		}
	}
	return asUsage(errors.Join(errs...))
}

// visited collects what a visitor is shown.
func visited[T any](visit func(func(T))) []T {
	var all []T
	visit(func(t T) { all = append(all, t) })
	return all
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
