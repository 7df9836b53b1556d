package handlers_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a b.html": "<p>é</p>", "feed.xml": "<a/>", "100%.txt": "x", "noname": "<!DOCTYPE html><p>", "bytes": "\x00\x01",
		"page.HTM": "y", "large.csv": "123456789012345678901", "empty.json": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := handlers.File(with(t, map[string]any{"DOWNLOAD_MAXSIZE": 20}))
	base := "file://" + filepath.ToSlash(dir) + "/"
	for name, want := range map[string]string{
		"a%20b.html":    "text/html <p>é</p>",
		"a b.html":      "text/html <p>é</p>",
		"feed.xml#x":    "application/xml <a/>",
		"feed.xml?q=1":  "application/xml <a/>",
		"100%25.txt":    "text/plain x",
		"noname":        "text/html <!DOCTYPE html><p>",
		"bytes":         "application/octet-stream \x00\x01",
		"page.HTM":      "text/html y",
		"empty.json":    "application/json ",
		"large.csv":     "too-large",
		"missing.html":  "no-file",
		"":              "no-file",
		"feed.xml/more": "no-file",
		"a%00b":         "bad-url",
	} {
		if got := told(t, h, base+name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for url, want := range map[string]string{
		"file://elsewhere/share/x": "bad-url",
		"file:///dev/null":         "no-file",
	} {
		if got := told(t, h, url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	if resp, err := h.Fetch(t.Context(), &crawl.Request{URL: "file://localhost" + filepath.ToSlash(dir) + "/feed.xml"}); err != nil || resp.URL != base+"feed.xml" {
		t.Errorf("on localhost: %v", err)
	}
}

func TestFilesLargerThanTheRequestAllowsAreRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(name, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := handlers.File(with(t, map[string]any{"DOWNLOAD_MAXSIZE": 2}))
	for size, want := range map[int64]string{0: "too-large", 4: "too-large", 5: "", -1: ""} {
		req := &crawl.Request{URL: "file://" + filepath.ToSlash(name), Options: crawl.Options{DownloadMaxsize: size}}
		_, err := h.Fetch(t.Context(), req)
		var failure *crawl.Failure
		if got := ""; errors.As(err, &failure) && failure.Reason != want || err == nil && got != want {
			t.Errorf("maxsize %d: %v, want %q", size, err, want)
		}
	}
	// What tells no size, as /proc does, is bounded while it is read.
	if _, err := os.Stat("/proc/self/status"); err == nil {
		if got := told(t, h, "file:///proc/self/status"); got != "too-large" {
			t.Errorf("/proc/self/status: %q", got)
		}
	}
}

func TestAFileIsNotReadOnceAllIsBeingStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := handlers.File(with(t, nil)).Fetch(ctx, &crawl.Request{URL: "file:///etc/hosts"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
