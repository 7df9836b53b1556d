package main

import (
	"bytes"
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/skitterhq/skitter/shared/spider"
)

// trouble is a spider whose callback kills its process on one page.
func trouble() spider.Spider {
	return spider.Spider{
		Name: "trouble", StartURLs: []string{"http://127.0.0.1:1/"},
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			if strings.HasSuffix(page.URL, "/p/3") {
				_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
				select {} // the signal is on its way
			}
			out.Item(map[string]string{"url": page.URL})
			return nil
		},
	}
}

// TestACrawlWithTroubleEnds crawls a page that kills the process, one that
// cannot be reached, one that always fails and one that never answers, among
// good ones: each is failed with its reason, and the crawl ends.
func TestACrawlWithTroubleEnds(t *testing.T) {
	k := newKilled(t, 10)
	args := []string{"crawl", "trouble", "--job", "job", "-O", "job.jsonl", "--quiet",
		"-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=16", "-s", "DOWNLOAD_TIMEOUT=500ms",
		"-s", "RETRY_TIMES=1", "-s", "RETRY_DELAY=10ms", "http://127.0.0.1:1/refused",
		k.url + "/status/500", k.url + "/slow?ms=9000"}
	for _, page := range []string{"/p/0", "/p/1", "/p/2", "/p/3", "/p/4", "/p/5"} {
		args = append(args, k.url+page)
	}
	process, deaths := k.start(args...), 0
	for process.Wait() != nil {
		if code := process.ProcessState.ExitCode(); code != -1 {
			t.Fatalf("exit code %d, want a death by signal\n%s", code, process.Stderr)
		}
		if deaths++; deaths > 10 {
			t.Fatal("the page goes on killing the process")
		}
		process = k.resume("job")
	}
	if deaths == 0 {
		t.Error("the page did not kill the process")
	}
	if got := k.items("job"); len(got) != 5 {
		t.Errorf("%d items, want those of the 5 good pages: %v", len(got), got)
	}
	list := k.output("dead", "list", "job")
	for _, want := range []string{"dead: poison\t" + k.url + "/p/3", "connect\thttp://127.0.0.1:1/refused",
		"status-500\t" + k.url + "/status/500", "timeout\t" + k.url + "/slow?ms=9000"} {
		if !strings.Contains(list, want) {
			t.Errorf("dead list has no %q:\n%s", want, list)
		}
	}
	if n := strings.Count(list, "\n"); n != 4 {
		t.Errorf("dead list has %d lines, want 4:\n%s", n, list)
	}
	unit, _, _ := strings.Cut(list[strings.LastIndex(list[:strings.Index(list, "dead: poison")], "\n")+1:], "\t")
	if shown := k.output("dead", "show", "job", unit[:8]); !strings.Contains(shown, `"reason": "dead: poison"`) || !strings.Contains(shown, `"queue": "page"`) {
		t.Errorf("dead show %s:\n%s", unit[:8], shown)
	}
	next := strings.TrimSpace(k.output("dead", "redrive", "job"))
	if next == "" || next == "job" {
		t.Errorf("redrive printed %q, want a new job", next)
	}
}

// output runs a command to its end and returns what it prints.
func (k *killed) output(args ...string) string {
	k.t.Helper()
	var out bytes.Buffer
	cmd := k.command(args...)
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		k.t.Fatalf("%v: %v\n%s", args, err, cmd.Stderr)
	}
	return out.String()
}
