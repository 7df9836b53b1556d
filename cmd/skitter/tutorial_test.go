package main

import (
	"bytes"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/site"
)

// TestTutorialWorks does what docs/tutorial.md says, block by block, in a copy
// of the repository: files are written, commands are run, and what they print
// ends as the page shows. After each section the project's own tests hold.
func TestTutorialWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program again and again")
	}
	shop, err := site.New(site.Options{Pages: 10})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(shop)
	defer srv.Close()
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	root := copyOfRepository(t)
	printed := ""
	for _, b := range tutorial(t) {
		if b.section {
			bash(t, root, "go vet ./spiders/... && go test ./spiders/...")
			continue
		}
		text := strings.ReplaceAll(b.text, "127.0.0.1:8000", "127.0.0.1:"+port)
		switch {
		case b.file != "":
			if err := os.WriteFile(filepath.Join(root, b.file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		case b.language == "sh":
			printed = bash(t, root, text)
		case b.language == "output":
			if !strings.HasSuffix(printed, text) {
				t.Fatalf("the last command printed\n%s\nwant at its end\n%s", printed, text)
			}
		}
	}
}

// A block is a piece of code in the tutorial, or the end of a section.
type block struct {
	language, file, text string
	section              bool
}

func tutorial(t *testing.T) []block {
	t.Helper()
	page, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$|^## ").FindAllStringSubmatch(string(page), -1) {
		all = append(all, block{language: m[1], file: m[2], text: m[3], section: m[1] == ""})
	}
	if len(all) < 25 {
		t.Fatalf("the tutorial has %d blocks", len(all))
	}
	return all
}

// copyOfRepository is one to write into, without the tools and stacks that no
// spider needs.
func copyOfRepository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"cmd", "functions", "shared", "spiders"} {
		if err := os.CopyFS(filepath.Join(root, folder), os.DirFS("../../"+folder)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"go.mod", "go.sum", "Makefile"} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// bash runs commands and returns what the last of them to print anything
// printed.
func bash(t *testing.T, root, script string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &out, &errs
	// With trimmed paths the copy's packages are those that are built already.
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOPROXY=off")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s\n%v\n%s%s", script, err, &out, &errs)
	}
	return out.String()
}
