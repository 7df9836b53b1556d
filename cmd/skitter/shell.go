package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/assembly/shell"
	"github.com/skitterhq/skitter/shared/crawl"
)

// shellFlags are the options of shell.
type shellFlags struct {
	spider, url    string
	args, settings []string
	logLevel       string
	commands       []string
	noRedirect     bool
}

func (a *app) shellCommand() *cobra.Command {
	var f shellFlags
	cmd := &cobra.Command{
		Use:   "shell [URL | FILE]",
		Short: "Try selectors on a page, line by line",
		Long: `Fetches a page, or reads a saved one, and works off commands on it: selectors,
links, headers, another page, what a spider makes of it. The command help lists
them. Results go to stdout. What does not come from a terminal is read line by
line, and exit code 1 says that a line failed.`,
		Example: `  skitter shell http://127.0.0.1:8000/quotes/page/1/
  skitter shell http://127.0.0.1:8000/p/7 -c 'css p.price::text' -c 'links /p/'
  skitter shell testdata/page.html --url http://shop.example/p/7`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.shell(cmd.Context(), f, args) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.commands, "code", "c", nil, "run this command and exit; may be repeated")
	flags.StringVar(&f.spider, "spider", "", "fetch with this spider's settings and domains, and let it read for items")
	flags.StringArrayVarP(&f.args, "arg", "a", nil, "spider argument NAME=VALUE; may be repeated")
	flags.StringVar(&f.url, "url", "", "the address that FILE was saved from, for its links")
	flags.BoolVar(&f.noRedirect, "no-redirect", false, "do not follow redirects")
	a.settingFlags(cmd, &f.settings, &f.logLevel)
	complete(cmd, "spider", a.completeSpiders)
	return cmd
}

func (a *app) shell(ctx context.Context, f shellFlags, args []string) error {
	spec := crawl.JobSpec{Spider: f.spider}
	var aerr, serr error
	spec.Args, aerr = pairs("-a", f.args)
	spec.Settings, serr = jobSettings(f.settings, f.logLevel)
	if err := errors.Join(aerr, serr); err != nil {
		return asUsage(err)
	}
	// Somebody who writes a spider that is wrong tries its selectors here.
	all, _, err := a.singles(f.spider)
	if err != nil {
		return err
	}
	keyboard, screen := a.typist()
	typed := keyboard != nil && len(f.commands) == 0
	options := shell.Options{Singles: all, Spec: spec, Out: a.stdout, Tell: a.stderr, DontRedirect: f.noRedirect}
	if typed {
		options.Open = openBrowser
	}
	sh, err := shell.New(options)
	if err != nil {
		return asUsage(err)
	}
	first, err := firstPage(sh, f, args)
	if err != nil {
		return asUsage(err)
	}
	if typed {
		history := shell.NewHistory(historyFile())
		return a.typedShell(ctx, sh, first, shell.NewTerminal(keyboard, screen, history))
	}
	var lines io.Reader = a.stdin
	if len(f.commands) > 0 {
		lines = strings.NewReader(strings.Join(f.commands, "\n"))
	}
	return a.linesShell(ctx, sh, first, lines)
}

// firstPage returns what gets the page that is named, or nil if none is.
func firstPage(sh *shell.Shell, f shellFlags, args []string) (func(context.Context) error, error) {
	if len(args) == 0 {
		if f.url != "" {
			return nil, errors.New("--url says where a FILE was saved from: name the file")
		}
		return nil, nil
	}
	name := args[0]
	if name == "-" {
		return nil, errors.New("the shell reads commands from stdin, and no page: save it to a FILE, and name that")
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		if f.url != "" {
			if f.url, err = assembly.PageURL(f.url); err != nil {
				return nil, err
			}
		}
		return func(context.Context) error { return sh.ReadFile(name, f.url) }, nil
	}
	if _, err := assembly.AnyURL(name); err != nil {
		return nil, fmt.Errorf("%s is no file, and no URL: %w", name, err)
	}
	if f.url != "" {
		return nil, fmt.Errorf("--url says where a FILE was saved from, and %s is a URL", name)
	}
	return func(ctx context.Context) error { return sh.Fetch(ctx, name) }, nil
}

// linesShell works off lines that nobody types. One that fails is told, and the
// others are worked off all the same.
func (a *app) linesShell(ctx context.Context, sh *shell.Shell, first func(context.Context) error, lines io.Reader) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	if first != nil {
		if err := first(ctx); err != nil {
			return &failure{exitFailed, err}
		}
	}
	failed := 0
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		err := sh.Run(ctx, scanner.Text())
		switch {
		case errors.Is(err, shell.ErrQuit):
			return failedLines(failed)
		case ctx.Err() != nil:
			return &failure{exitInterrupted, ctx.Err()}
		case err != nil:
			failed++
			printError(a.stderr, fmt.Errorf("%s: %w", strings.TrimSpace(scanner.Text()), err))
		}
	}
	if err := scanner.Err(); err != nil {
		return &failure{exitFailed, err}
	}
	return failedLines(failed)
}

func failedLines(n int) error {
	switch n {
	case 0:
		return nil
	case 1:
		return &failure{exitFailed, errors.New("1 command failed")}
	}
	return &failure{exitFailed, fmt.Errorf("%d commands failed", n)}
}

// typedShell is the shell of somebody at a terminal. Ctrl-C ends what is under
// way, and the shell goes on.
func (a *app) typedShell(ctx context.Context, sh *shell.Shell, first func(context.Context) error, terminal *shell.Terminal) error {
	run := func(f func(context.Context) error) error {
		ctx, stop := interruptible(ctx)
		defer stop()
		return f(ctx)
	}
	if first != nil {
		if err := run(first); err != nil {
			printError(a.stderr, err)
		}
	}
	fmt.Fprintln(a.stderr, "help lists the commands; Ctrl-D ends")
	told := false
	for {
		if err := terminal.HistoryErr(); err != nil && !told {
			told = true
			fmt.Fprintf(a.stderr, "the history is not kept: %v\n", err)
		}
		line, err := terminal.ReadLine("skitter> ")
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(a.stderr)
			return nil
		}
		if err != nil {
			return &failure{exitFailed, err}
		}
		err = run(func(ctx context.Context) error { return sh.Run(ctx, line) })
		switch {
		case errors.Is(err, shell.ErrQuit):
			return nil
		case err != nil:
			printError(a.stderr, err)
		}
	}
}

// typist returns where somebody types, and where that is shown; nil if nobody
// does.
func (a *app) typist() (keyboard, screen *os.File) {
	in, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, nil
	}
	if out, ok := beneath(a.stderr).(*os.File); ok {
		return in, out
	}
	return in, in // a terminal takes output, too
}

// historyFile is where lines are remembered, by the XDG Base Directory
// Specification; empty where there is no home.
func historyFile() string {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "skitter", "shell_history")
}
