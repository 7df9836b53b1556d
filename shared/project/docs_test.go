package project_test

import (
	"os"
	"strings"
	"testing"
)

// TestDocsHaveTheExample keeps the handler of docs/downloader.md one that
// compiles and runs.
func TestDocsHaveTheExample(t *testing.T) {
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/downloader.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(page), "```go\n")
	code, _, _ = strings.Cut(code, "```")
	if code == "" || !strings.Contains(string(example), code) {
		t.Error("the code of docs/downloader.md is not that of example_test.go")
	}
}
