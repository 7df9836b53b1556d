package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/spiders"
)

// interrupted starts a crawl and interrupts it on its way; it returns what was
// printed.
func (k *killed) interrupted(pages int, args ...string) (stdout, stderr string) {
	k.t.Helper()
	args = append(args, "--quiet", "-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=16")
	cmd := k.command(append([]string{"crawl", "shop", k.url + "/p/0"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.await("some pages", func() bool { return k.shop.Stats().DistinctProducts > pages })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		k.t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		k.t.Fatalf("got %v, want exit code %d\n%s", err, exitInterrupted, cmd.Stderr)
	}
	return out.String(), cmd.Stderr.(*strings.Builder).String()
}

// TestPrintingGoesOn interrupts a crawl that prints its items, and goes on with
// what it says.
func TestPrintingGoesOn(t *testing.T) {
	const pages = 400
	k := newKilled(t, pages)
	first, stderr := k.interrupted(pages/4, "--job", "printed", "-o", "-")
	const hint = "skitter: interrupted; go on with: skitter crawl --resume printed -o -\n"
	if !strings.HasSuffix(stderr, hint) {
		t.Errorf("stderr ends with %q, want %q", stderr, hint)
	}
	second := k.command("crawl", "--resume", "printed", "-o", "-", "--quiet")
	rest, err := second.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, second.Stderr)
	}
	if first == "" || len(rest) == 0 {
		t.Errorf("%d and %d bytes were printed, want some each time", len(first), len(rest))
	}
	seen := make(map[string]bool)
	for line := range strings.Lines(first + string(rest)) {
		var item struct{ SKU string }
		if err := json.Unmarshal([]byte(line), &item); err != nil || seen[item.SKU] {
			t.Fatalf("%q: twice, or %v", line, err)
		}
		seen[item.SKU] = true
	}
	if len(seen) != pages {
		t.Errorf("%d items were printed, want %d", len(seen), pages)
	}
}

// TestResumeWithoutAFileTellsWhereItemsAre: what -o - would have printed is to
// be had.
func TestResumeWithoutAFileTellsWhereItemsAre(t *testing.T) {
	k := newKilled(t, 400)
	_, stderr := k.interrupted(100, "--job", "silent", "--data", "state")
	if !strings.HasSuffix(stderr, "skitter crawl --resume silent --data state\n") {
		t.Errorf("stderr %q does not say how to go on", stderr)
	}
	cmd := k.command("crawl", "--resume", "silent", "--data", "state", "--quiet")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if s := cmd.Stderr.(*strings.Builder).String(); !strings.Contains(s, "skitter items silent --data state") {
		t.Errorf("stderr %q does not name the items", s)
	}
}

// TestResumeFromAnotherFolder: the file is where it was asked for.
func TestResumeFromAnotherFolder(t *testing.T) {
	k := newKilled(t, 400)
	k.interrupted(100, "--job", "moved", "-O", "moved.jsonl")
	state := filepath.Join(k.dir, ".skitter")
	elsewhere := filepath.Join(k.dir, "elsewhere")
	if err := os.Mkdir(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := k.command("crawl", "--resume", "moved", "--data", state, "--quiet")
	cmd.Dir = elsewhere
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, cmd.Stderr)
	}
	if got := k.items("moved"); len(got) != 400 {
		t.Errorf("%d items, want 400", len(got))
	}
	if files, err := os.ReadDir(elsewhere); err != nil || len(files) > 0 {
		t.Errorf("in the other folder there are %v, %v", files, err)
	}
}

// TestAPanicOfAMiddlewareIsAFailure: exit code 2, which Go's own panics have,
// is for wrong use.
func TestAPanicOfAMiddlewareIsAFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	broken := func(downloader.Handler) downloader.Handler {
		return downloader.HandlerFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { panic("oh no") })
	}
	inTheList := func(project.Env) ([]downloader.Middleware, error) { panic("oh no") }
	for name, list := range map[string]func(project.Env) ([]downloader.Middleware, error){
		"of the middleware": func(project.Env) ([]downloader.Middleware, error) { return []downloader.Middleware{broken}, nil },
		"of its list":       inTheList,
	} {
		var stderr bytes.Buffer
		a := &app{stdout: io.Discard, stderr: &stderr, project: spiders.Project()}
		a.project.DownloaderMiddlewares = list
		code := a.run(t.Context(), []string{"fetch", "http://127.0.0.1:1/"})
		lines := slices.Collect(strings.Lines(stderr.String()))
		if code != exitFailed || !strings.HasPrefix(lines[len(lines)-1], "skitter: ") || !strings.Contains(lines[len(lines)-1], "oh no") {
			t.Errorf("a panic %s: exit code %d, stderr\n%s", name, code, &stderr)
		}
		if !strings.Contains(stderr.String(), "interrupt_test.go") {
			t.Errorf("a panic %s: no stack tells where it was", name)
		}
	}
}
