package main

import (
	"context"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/site"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(asFunction); name != "" {
		functionMain(name)
	}
	if os.Getenv(asCommand) != "" {
		a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, project: troubled()}
		os.Exit(a.run(context.Background(), os.Args[1:]))
	}
	testscript.Main(m, map[string]func(){
		"skitter": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"skitter-odd": func() {
			a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, project: oddProject()}
			os.Exit(a.run(context.Background(), os.Args[1:]))
		},
	})
}

// TestScripts runs the scripts under testdata/script: the promises of
// docs/cli.md. Each has a site of its own at $SITE, with 100 products, and AWS in
// memory at $AWS.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			shop, err := site.New(site.Options{Pages: 100})
			if err != nil {
				return err
			}
			srv := httptest.NewServer(shop)
			env.Defer(srv.Close)
			env.Setenv("SITE", srv.URL)
			env.Setenv("HOST", strings.TrimPrefix(srv.URL, "http://"))
			aws := httptest.NewServer(awstest.New(time.Now))
			env.Defer(aws.Close)
			env.Setenv("AWS", aws.URL)
			env.Setenv("FAST", "DOWNLOAD_DELAY=0")
			env.Setenv("LONG", strings.Repeat("x", 240))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"lines": lines,
		},
	})
}

// exits runs a command and checks its exit code: exits CODE COMMAND ARG...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG ...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// lines checks how many lines a file has: lines N FILE.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines N FILE")
	}
	if got := strconv.Itoa(strings.Count(ts.ReadFile(args[1]), "\n")); got != args[0] {
		ts.Fatalf("%s has %s lines, want %s", args[1], got, args[0])
	}
}
