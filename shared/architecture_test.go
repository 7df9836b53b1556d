package shared_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// packageOf matches a package in the table of layers, with its mark.
var packageOf = regexp.MustCompile("`([a-z]+)`( \\*planned\\*)?")

// TestArchitectureMarksWhatIsPlanned keeps the table of docs/architecture.md
// true: a package is there, or it is marked, and none is left out.
func TestArchitectureMarksWhatIsPlanned(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| layer | package |")
	table, _, _ = strings.Cut(table, "\n\n")
	told := make(map[string]bool)
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 || strings.Contains(cells[2], "top level") || strings.Contains(cells[2], "cmd/") {
			continue // no row of packages in this folder
		}
		for _, m := range packageOf.FindAllStringSubmatch(cells[2], -1) {
			name, planned := m[1], m[2] != ""
			told[name] = true
			if _, err := os.Stat(name); (err != nil) != planned {
				t.Errorf("package %s: marked as planned %v, is there %v", name, planned, err == nil)
			}
		}
	}
	folders, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && !testsOnly(f.Name()) && !told[f.Name()] {
			t.Errorf("package %s is not in the table", f.Name())
		}
	}
}
