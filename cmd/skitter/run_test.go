package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/yamlspider"
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

// docsBlocks are the blocks of a language in docs/yaml.md.
func docsBlocks(t *testing.T, language string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/yaml.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		all = append(all, m[1])
	}
	return all
}

// The first example of docs/yaml.md gives what the spider in Go gives.
func TestTheExampleOfTheDocsRuns(t *testing.T) {
	k := newKilled(t, 10)
	if err := os.WriteFile(filepath.Join(k.dir, "quotations.yaml"), []byte(docsBlocks(t, "yaml")[0]), 0o644); err != nil {
		t.Fatal(err)
	}
	given := make(map[string]string)
	for command, word := range map[string]string{"run": "quotations.yaml", "crawl": "quotes"} {
		cmd := k.command(command, word, k.url+"/quotes/page/1/", "-O", command+".jsonl", "--quiet", "-s", "DOWNLOAD_DELAY=0")
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, cmd.Stderr)
		}
		text, err := os.ReadFile(filepath.Join(k.dir, command+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		given[command] = string(text)
	}
	if given["run"] == "" || given["run"] != given["crawl"] {
		t.Errorf("in YAML\n%s\nin Go\n%s", given["run"], given["crawl"])
	}
}

// What docs/yaml.md shows of mistakes is what is told.
func TestTheMistakesOfTheDocsAreTold(t *testing.T) {
	_, err := yamlspider.Load("shop.yaml", []byte(docsBlocks(t, "yaml wrong")[0]))
	var told strings.Builder
	printError(&told, err)
	if diff := cmp.Diff(docsBlocks(t, "text")[0], told.String()); diff != "" {
		t.Errorf("(-docs, +told):\n%s", diff)
	}
}
