package main

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/emulatortest"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/site"
	"github.com/skitterhq/skitter/shared/topology"
	"github.com/skitterhq/skitter/spiders"
)

// asFunction makes this test's program the bootstrap of the function that it
// names, with the spiders of these tests among the project's.
const asFunction = "SKITTER_TEST_AS_FUNCTION"

func functionMain(name string) { lambdahost.Main(name, troubled(), apiOf) }

// troubled is the project with the spiders of these tests.
func troubled() project.Project {
	p := spiders.Project()
	p.Spiders = append(p.Spiders, trouble(), members())
	return p
}

// skitter runs a command with the spiders of these tests among the project's, and
// returns what it prints.
func skitter(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	a := &app{stdout: &out, stderr: os.Stderr, project: troubled()}
	if code := a.run(t.Context(), args); code != exitFinished {
		t.Fatalf("skitter %v: exit code %d", args, code)
	}
	return out.String()
}

// inMemory serves AWS in this process, over HTTP.
func inMemory(t *testing.T) string {
	srv := httptest.NewServer(awstest.New(time.Now))
	t.Cleanup(srv.Close)
	return srv.URL
}

var buildOnce sync.Once

// binaries are the four functions, as make dist builds them.
func binaries(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("skitter-dist-%d", os.Getpid()))
	buildOnce.Do(func() {
		cmd := exec.Command("make", "dist", "DIST="+dir)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make dist: %v\n%s", err, out)
		}
	})
	return dir
}

// shopItems are the items of the shop, a line each, as one machine crawls it.
func shopItems(t *testing.T, url string) []string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "items.jsonl")
	args := []string{"crawl", "shop", url + "/p/0", "-O", out, "--data", t.TempDir(), "--quiet"}
	if code := run(t.Context(), append(args, fast...), nil, io.Discard, os.Stderr); code != exitFinished {
		t.Fatalf("the crawl on one machine exits with %d", code)
	}
	return sortedLines(t, out)
}

// fast are the settings that crawl a site of our own at full speed.
var fast = []string{"-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=16"}

func sortedLines(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(strings.Lines(string(data)))
}

func serveShop(t *testing.T, pages int) string {
	t.Helper()
	shop, err := site.New(site.Options{Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(shop)
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestTheFourBinariesCrawl crawls the shop through the four functions as they
// are deployed, at an emulator: the items are those of one machine.
func TestTheFourBinariesCrawl(t *testing.T) {
	t.Parallel() // these tests wait more than they work
	for _, test := range []struct {
		name     string
		pages    int
		endpoint func(t *testing.T) string
	}{
		{"moto", 60, func(t *testing.T) string { return *emulatortest.Moto(t).BaseEndpoint }},
		{"in memory", 1200, inMemory},
	} {
		t.Run(test.name, func(t *testing.T) {
			url, out := serveShop(t, test.pages), filepath.Join(t.TempDir(), "items.jsonl")
			args := []string{
				"crawl", "shop", url + "/p/0", "-O", out, "--quiet", "--exec", binaries(t),
				"--endpoint", test.endpoint(t), "--stack", "binaries", "--time-scale", "10",
			}
			if code := run(t.Context(), append(args, fast...), nil, io.Discard, os.Stderr); code != exitFinished {
				t.Fatalf("exit code %d", code)
			}
			got, want := sortedLines(t, out), shopItems(t, url)
			if len(want) != test.pages || !slices.Equal(got, want) {
				t.Errorf("%d items, want the %d of one machine", len(got), len(want))
			}
		})
	}
}

// TestKilledEnvironmentsLoseNothing kills environments of the functions while
// they work, ten times at least: the items are those of a crawl that nobody
// disturbed.
func TestKilledEnvironmentsLoseNothing(t *testing.T) {
	const pages, kills = 400, 10
	url := serveShop(t, pages)
	a := &app{stdout: io.Discard, stderr: os.Stderr, project: spiders.Project()}
	r, err := a.runStack(t.Context(), stackFlags{
		placeFlags: placeFlags{endpoint: inMemory(t), stack: "killed"}, exec: binaries(t), scale: 30, environments: 4, allow: allowLocal,
	}, nil, newDisplay(io.Discard, true))
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	job, _, err := r.cloud.Create(t.Context(), engine.Order{Project: a.project.Name, Spec: crawl.JobSpec{
		Spider: "shop", StartURLs: []string{url + "/p/0"},
		Settings: map[string]string{"DOWNLOAD_DELAY": "0", "CONCURRENT_REQUESTS_PER_DOMAIN": "16"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	killed := make(chan int, 1)
	go func() { killed <- killSome(ctx, r, job.UID, kills) }()
	job, err = awaitEnd(ctx, r, job)
	if err != nil {
		t.Fatalf("the job has not ended: %v", err)
	}
	if n := <-killed; n < kills {
		t.Errorf("%d environments were killed at work, want %d", n, kills)
	}
	again := int64(0)
	for _, m := range r.mappings {
		again += m.Stats().Again
	}
	if again == 0 {
		t.Error("no message was received twice: the kills took no work along")
	}
	if job.State != crawl.JobFinished {
		t.Errorf("the job is %s: %s %s", job.State, job.Reason, job.Problem)
	}
	var got []string
	for item, err := range r.cloud.Output(ctx, job.UID) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := item.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line)+"\n")
	}
	slices.Sort(got)
	if want := shopItems(t, url); len(want) != pages || !slices.Equal(got, want) {
		t.Errorf("%d items, want the %d of one machine", len(got), len(want))
	}
	for row, err := range r.cloud.Scheduler.Failed(ctx, job.UID) {
		t.Errorf("failed: %s %s, %d marks (%v)", row.Req, row.Why, row.Marks, err)
	}
}

// killSome kills environments that work, of one function after the other, and
// returns how many it has. It waits until many pages are under way: while there
// is only one, each kill would be its, and it would rightly be taken for poison.
func killSome(ctx context.Context, r *running, job crawl.JobUID, kills int) int {
	for ctx.Err() == nil {
		if p, err := r.cloud.Progress(ctx, job); err == nil && p.Pages > 30 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	stages := []string{topology.Fetch, topology.Parse, topology.Pipeline}
	n := 0
	for k := 0; n < kills && ctx.Err() == nil; k++ {
		if r.pools[stages[k%len(stages)]].Kill() {
			n++
		}
		time.Sleep(20 * time.Millisecond) // the processes have no clock that a test could move
	}
	return n
}

// TestTroubleOnAStackEnds crawls a page that kills its function, one that never
// answers and one that always fails, among good ones: the job ends, and
// skitter dead shows each with its reason.
func TestTroubleOnAStackEnds(t *testing.T) {
	t.Parallel()
	url, endpoint, out := serveShop(t, 10), inMemory(t), filepath.Join(t.TempDir(), "items.jsonl")
	place := []string{"--endpoint", endpoint, "--stack", "trouble"}
	args := []string{
		"crawl", "trouble", "--job", "job", "-O", out, "--exec", testFunctions(t), "--time-scale", "60",
		"-s", "DOWNLOAD_TIMEOUT=300ms", "-s", "RETRY_TIMES=1", "-s", "RETRY_DELAY=10ms",
		url + "/status/500", url + "/slow?ms=9000",
	}
	for page := range 6 {
		args = append(args, fmt.Sprintf("%s/p/%d", url, page))
	}
	skitter(t, slices.Concat(args, fast, place)...)
	if got := sortedLines(t, out); len(got) != 5 {
		t.Errorf("%d items, want those of the 5 good pages: %v", len(got), got)
	}
	list := skitter(t, slices.Concat([]string{"dead", "list", "job"}, place)...)
	for _, want := range []string{
		"dead: poison\t" + url + "/p/3", "status-500\t" + url + "/status/500", "timeout\t" + url + "/slow?ms=9000",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("dead list has no %q:\n%s", want, list)
		}
	}
	if n := strings.Count(list, "\n"); n != 3 {
		t.Errorf("dead list has %d lines, want 3:\n%s", n, list)
	}
}

// testFunctions is a folder of bootstraps that are this test's program.
func testFunctions(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range topology.Default("x").Functions {
		if err := os.MkdirAll(filepath.Join(dir, f.Name), 0o755); err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf("#!/bin/sh\n%s=%s exec %s\n", asFunction, f.Name, self)
		if err := os.WriteFile(filepath.Join(dir, f.Name, "bootstrap"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
