package main

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/assembly/machine"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/site"
	"github.com/skitterhq/skitter/spiders"
)

// asCommand makes this test's program the skitter command.
const asCommand = "SKITTER_TEST_AS_COMMAND"

// A killed is a crawl in real processes that are killed.
type killed struct {
	t    *testing.T
	dir  string
	shop *site.Site
	url  string
}

func newKilled(t *testing.T, pages int) *killed {
	shop, err := site.New(site.Options{Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(shop)
	t.Cleanup(srv.Close)
	return &killed{t: t, dir: t.TempDir(), shop: shop, url: srv.URL}
}

// start starts a skitter process.
func (k *killed) start(args ...string) *exec.Cmd {
	k.t.Helper()
	cmd := k.command(args...)
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
	return cmd
}

// command is a skitter process that is not started.
func (k *killed) command(args ...string) *exec.Cmd {
	k.t.Helper()
	self, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = k.dir
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Stderr = &strings.Builder{}
	return cmd
}

func (k *killed) crawl(name string) *exec.Cmd {
	return k.start("crawl", "shop", k.url+"/p/0", "--job", name, "-O", name+".jsonl", "--quiet",
		"-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=16")
}

func (k *killed) resume(name string) *exec.Cmd { return k.start("crawl", "--resume", name, "--quiet") }

// open opens the state that the processes share.
func (k *killed) open() *machine.Machine {
	k.t.Helper()
	l, err := machine.Open(machine.Options{
		Dir: filepath.Join(k.dir, ".skitter"), Project: spiders.Project(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return l
}

// await waits for something that another process does.
func (k *killed) await(what string, done func() bool) {
	k.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(deadline) {
			k.t.Fatalf("%s: not within a minute", what)
		}
		time.Sleep(time.Millisecond) // another process has no clock that a test could move
	}
}

func (k *killed) items(name string) []string {
	k.t.Helper()
	data, err := os.ReadFile(filepath.Join(k.dir, name+".jsonl"))
	if err != nil {
		k.t.Fatal(err)
	}
	return slices.Sorted(strings.Lines(string(data)))
}

// TestKill9TenTimes kills a crawl ten times while rows are queued and messages
// held, and resumes it each time: it ends with exactly the items of a crawl
// that nobody killed.
func TestKill9TenTimes(t *testing.T) {
	const pages, kills = 600, 10
	k := newKilled(t, pages)
	if err := k.crawl("whole").Wait(); err != nil {
		t.Fatal(err)
	}
	want := k.items("whole")
	if len(want) != pages {
		t.Fatalf("the unbroken crawl has %d items, want %d", len(want), pages)
	}
	k.shop.Reset()
	process := k.crawl("killed")
	for n := range kills {
		k.await("some more pages", func() bool { return k.shop.Stats().DistinctProducts > (n+1)*pages/(kills+2) })
		if err := process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = process.Wait() // it was killed
		k.checkHalfWay("killed")
		process = k.resume("killed")
	}
	if err := process.Wait(); err != nil {
		t.Fatalf("the last resume: %v\n%s", err, process.Stderr)
	}
	if got := k.items("killed"); !slices.Equal(got, want) {
		t.Errorf("%d items, want exactly the %d of the unbroken crawl", len(got), len(want))
		k.logFailed("killed")
	}
}

// logFailed logs what a job could not do.
func (k *killed) logFailed(name string) {
	l := k.open()
	defer l.Close()
	job, err := l.Jobs.Find(context.Background(), "default", name)
	if err != nil {
		k.t.Fatal(err)
	}
	for row, err := range l.Scheduler.Failed(context.Background(), job.UID) {
		k.t.Logf("%.8s %s %s marks %d (%v)", row.Unit, row.State, row.Why, row.Marks, err)
	}
}

// checkHalfWay checks that a kill came while there was work to lose.
func (k *killed) checkHalfWay(name string) {
	k.t.Helper()
	l := k.open()
	defer l.Close()
	ctx := context.Background()
	job, err := l.Jobs.Find(ctx, "default", name)
	if err != nil {
		k.t.Fatal(err)
	}
	tally, err := l.Scheduler.Tally(ctx, job.UID)
	if err != nil {
		k.t.Fatal(err)
	}
	held, err := l.Store.Queue().Outstanding(ctx, job.UID)
	if err != nil {
		k.t.Fatal(err)
	}
	if tally.Queued == 0 || held == 0 {
		k.t.Errorf("the kill came with %d rows queued and %d messages: too late to mean anything", tally.Queued, held)
	}
	if _, err := os.Stat(filepath.Join(k.dir, name+".jsonl")); err == nil {
		k.t.Error("an interrupted job has written its file")
	}
}

// TestKill9WhileClosing kills a crawl while its job is closing.
func TestKill9WhileClosing(t *testing.T) {
	const pages = 300
	for try := range 10 {
		k := newKilled(t, pages)
		process := k.crawl("job")
		k.await("the first page", func() bool { return k.shop.Stats().DistinctProducts > 0 })
		l := k.open()
		job, err := l.Jobs.Find(t.Context(), "default", "job")
		if err != nil {
			t.Fatal(err)
		}
		k.await("closing", func() bool {
			job, err = l.Jobs.Get(t.Context(), job.UID)
			return err != nil || job.State != crawl.JobRunning
		})
		if err := process.Process.Kill(); err != nil && !strings.Contains(err.Error(), "already finished") {
			t.Fatal(err)
		}
		_ = process.Wait() // it was killed
		if job, err = l.Jobs.Get(t.Context(), job.UID); err != nil {
			t.Fatal(err)
		}
		l.Close()
		if job.State != crawl.JobClosing {
			t.Logf("try %d: the job had ended before the kill", try)
			continue
		}
		if err := k.resume("job").Wait(); err != nil {
			t.Fatal(err)
		}
		if got := k.items("job"); len(got) != pages {
			t.Errorf("%d items, want %d", len(got), pages)
		}
		return
	}
	t.Error("no kill came while the job was closing")
}
