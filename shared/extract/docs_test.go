package extract_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/yamlspider"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// blocks are the code blocks of a page of docs in one language.
func blocks(page, language string) (code []string) {
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		code = append(code, m[1])
	}
	return code
}

// TestDocsOfLinkExtractorsAreRun holds the page's code to the examples, which
// run, and its YAML to what a spider loads.
func TestDocsOfLinkExtractorsAreRun(t *testing.T) {
	page := readFile(t, "../../docs/link-extractors.md")
	examples := strings.ReplaceAll(readFile(t, "links_example_test.go"), "\n\t", "\n")
	code, yaml := blocks(page, "go"), blocks(page, "yaml")
	if len(code) != 3 || len(yaml) != 1 {
		t.Fatalf("%d blocks of Go and %d of YAML, want 3 and 1", len(code), len(yaml))
	}
	for _, block := range code {
		if !strings.Contains(examples, "\n"+block) {
			t.Errorf("no example has\n%s", block)
		}
	}
	for _, block := range yaml {
		s, err := yamlspider.Load("docs.yaml", []byte(block))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := spider.NewRegistry(s); err != nil {
			t.Error(err)
		}
	}
}

// TestDocsHaveEveryOptionOfLinkExtractors compares the page's table with the
// options.
func TestDocsHaveEveryOptionOfLinkExtractors(t *testing.T) {
	page := readFile(t, "../../docs/link-extractors.md")
	options, fields := reflect.TypeFor[extract.LinkOptions](), reflect.TypeFor[extract.LinkExtractor]()
	for i := range options.NumField() {
		name, _, _ := strings.Cut(options.Field(i).Tag.Get("json"), ",")
		if !strings.Contains(page, "\n| `"+name+"` |") {
			t.Errorf("the table lacks %s", name)
		}
	}
	for i := range fields.NumField() {
		if name := fields.Field(i).Name; !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the table lacks %s", name)
		}
	}
	if rows := regexp.MustCompile("(?m)^\\| `[a-z_]+` \\| `").FindAllString(page, -1); len(rows) != options.NumField() {
		t.Errorf("the table has %d options, want %d", len(rows), options.NumField())
	}
}
