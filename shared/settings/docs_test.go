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

A ` + "`skitter.yaml`" + ` stands in the folder that skitter is called from:

` + "```yaml" + `
` + projectFile + "```" + `

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

// projectFile is the example of a project file, here and in the README.
const projectFile = `project: books          # the name that jobs are kept under; default: default
settings:
  DOWNLOAD_DELAY: 500ms
  CONCURRENT_REQUESTS_PER_DOMAIN: 2
  USER_AGENT: "books (+https://books.example/about)"
  RETRY_HTTP_CODES: [500, 502, 503]
  DEFAULT_REQUEST_HEADERS:
    Accept-Language: en
`

// TestTheExampleOfAProjectFile keeps it one that is taken, and the README's.
func TestTheExampleOfAProjectFile(t *testing.T) {
	layer, project, err := settings.ReadFile(write(t, projectFile))
	if err == nil {
		_, err = settings.Resolve(layer)
	}
	if err != nil || project != "books" {
		t.Errorf("project %q, %v", project, err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```yaml\n"+projectFile+"```") {
		t.Error("the README has not this example")
	}
}

// TestArchitectureNamesTheOtherDefaults keeps the list in docs/architecture.md.
func TestArchitectureNamesTheOtherDefaults(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "- **Defaults** are")
	list, _, _ = strings.Cut(list, "\n")
	for _, d := range settings.Definitions() {
		if d.Source == settings.Changed && !strings.Contains(list, d.Name) {
			t.Errorf("docs/architecture.md does not say that the default of %s is not Scrapy's", d.Name)
		}
	}
}

// cell is text for a cell of a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
}
