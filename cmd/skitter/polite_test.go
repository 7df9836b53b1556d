package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestTwoCrawlsKeepAHostsDelayTogether runs two crawls of one host in two
// processes on one state, kills one of them and resumes it. The site's own log
// is the judge: never two requests in flight, never two starts closer than the
// delay.
func TestTwoCrawlsKeepAHostsDelayTogether(t *testing.T) {
	const (
		pages = 12
		delay = 150 * time.Millisecond
		slack = 50 * time.Millisecond // SLOT_SLACK's default
	)
	k := newKilled(t, pages)
	start := func(name string) []string {
		return []string{
			"crawl", "shop", k.url + "/p/0", "--job", name, "-O", name + ".jsonl", "--quiet",
			"-s", "DOWNLOAD_DELAY=" + delay.String(), "-s", "RANDOMIZE_DOWNLOAD_DELAY=False",
		}
	}
	a, b := k.start(start("a")...), k.start(start("b")...)
	k.await("some pages of both", func() bool { return k.shop.Stats().Hits > pages/2 })
	if err := a.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = a.Wait() // it was killed
	a = k.resume("a")
	// One process drives a job; a second is told so.
	twice := k.command("crawl", "--resume", "b", "--quiet")
	if err := twice.Run(); twice.ProcessState.ExitCode() != exitUsage || !strings.Contains(fmt.Sprint(twice.Stderr), "another process") {
		t.Errorf("a second process on one job: %v\n%s", err, twice.Stderr)
	}
	for name, process := range map[string]interface{ Wait() error }{"a": a, "b": b} {
		if err := process.Wait(); err != nil {
			t.Fatalf("crawl %s: %v", name, err)
		}
		if got := len(k.items(name)); got != pages {
			t.Errorf("crawl %s has %d items, want %d", name, got, pages)
		}
	}
	log := k.shop.Log()
	if len(log) < 2*pages {
		t.Fatalf("%d requests in the site's log, want at least %d", len(log), 2*pages)
	}
	for n := 1; n < len(log); n++ {
		if gap := log[n].Start.Sub(log[n-1].Start); gap < delay-slack {
			t.Errorf("requests %d (%s) and %d (%s) start %s apart, want %s to within %s",
				n-1, log[n-1].Path, n, log[n].Path, gap, delay, slack)
		}
		if !log[n-1].End.IsZero() && log[n].Start.Before(log[n-1].End) {
			t.Errorf("request %d starts while request %d is in flight", n, n-1)
		}
	}
	for host, most := range k.shop.Stats().MaxInFlight {
		if most != 1 {
			t.Errorf("%d requests in flight at %s, want 1", most, host)
		}
	}
}
