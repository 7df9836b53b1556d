package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAYAMLSpiderIsResumedWithoutItsFile: the job has the text, wherever it is
// gone on with.
func TestAYAMLSpiderIsResumedWithoutItsFile(t *testing.T) {
	const pages = 400
	k := newKilled(t, pages)
	file := filepath.Join(k.dir, "products.yaml")
	const text = `
name: products
parse:
  - fields:
      fields:
        name: {css: h1.name::text, required: true}
        sku: p.sku::text
  - regex_links
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := k.command("run", file, k.url+"/p/0", "--job", "yaml", "-O", "yaml.jsonl", "--quiet", "-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=16")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k.await("some pages", func() bool { return k.shop.Stats().DistinctProducts > pages/4 })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("got %v, want exit code %d\n%s", err, exitInterrupted, cmd.Stderr)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	cmd = k.command("run", "--resume", "yaml", "--data", filepath.Join(k.dir, ".skitter"), "--quiet")
	cmd.Dir = elsewhere
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, cmd.Stderr)
	}
	if got := k.items("yaml"); len(got) != pages {
		t.Errorf("%d items, want %d", len(got), pages)
	}
}
