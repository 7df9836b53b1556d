package shared_test

import (
	"os"
	"strings"
	"testing"
)

// TestREADMEHasTheExample keeps the README's spider one that compiles and runs.
func TestREADMEHasTheExample(t *testing.T) {
	example, err := os.ReadFile("spider/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(example), "// The spider of the README.\n")
	code, _, ok := strings.Cut(code, "\nfunc Example()")
	if !ok || !strings.Contains(string(readme), "```go\n"+code+"```") {
		t.Error("the README's spider is not the one of shared/spider/example_test.go")
	}
}
