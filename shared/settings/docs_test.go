package settings_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/settings"
)

var update = flag.Bool("update", false, "rewrite docs/settings.md")

// TestDocsHaveEverySetting keeps docs/settings.md what the table says.
func TestDocsHaveEverySetting(t *testing.T) {
	const path = "../../docs/settings.md"
	var b strings.Builder
	b.WriteString(`# Settings

A later place wins: the defaults below, ` + "`settings:` in `skitter.yaml`" + `, the spider's own ` + "`Settings`" + `, and ` + "`-s NAME=VALUE`" + ` for one job.
A wrong value or an unknown name is an error that names the place; all of them are told at once.
Times take a bare number in seconds, or a unit (` + "`500ms`, `2s`, `1m`" + `); sizes take bytes, or ` + "`32MiB`" + `; lists take commas.

This page is made from the settings' own table by ` + "`go test ./shared/settings -update`" + `.

| setting | default | unit | meaning | source |
|---|---|---|---|---|
`)
	for _, d := range settings.Definitions() {
		value := "`" + d.Default + "`"
		if d.Default == "" {
			value = "none"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", d.Name, value, cell(d.Unit), cell(d.Doc), d.Source)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(page)); diff != "" {
		t.Errorf("docs/settings.md (-want, +got), go test -update rewrites it:\n%s", diff)
	}
}

// cell is text for a cell of a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
}
