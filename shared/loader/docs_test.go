package loader_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/skitterhq/skitter/shared/loader"
)

func readDocs(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/loaders.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// blocks are the page's code of one language.
func blocks(page, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		found = append(found, m[1])
	}
	return found
}

func TestTheGoOfTheDocsIsThatOfTheExamples(t *testing.T) {
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	code := blocks(readDocs(t), "go")
	if len(code) < 6 {
		t.Errorf("docs/loaders.md has %d blocks of Go", len(code))
	}
	for _, block := range code {
		if !strings.Contains(string(examples), block) {
			t.Errorf("docs/loaders.md has Go that is in no example:\n%s", block)
		}
	}
	for _, block := range blocks(readDocs(t), "text") {
		if !strings.Contains(string(examples), strings.TrimSpace(block)) {
			t.Errorf("docs/loaders.md has output that is in no example:\n%s", block)
		}
	}
}

func TestTheYAMLOfTheDocsIsRight(t *testing.T) {
	for _, block := range blocks(readDocs(t), "yaml") {
		p, err := parseYAML(block)
		if err != nil {
			t.Fatalf("%v in:\n%s", err, block)
		}
		if got, err := p.Process(nil, list{" a_b "}); got != "a" || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestTheDocsHaveEveryProcessor(t *testing.T) {
	var told []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([A-Z][A-Za-z]+)\\(").FindAllStringSubmatch(readDocs(t), -1) {
		_, err := parseYAML(m[1])
		name, _, _ := strings.Cut(m[1], ":")
		// a and b stand for processors.
		if err != nil && !strings.Contains(err.Error(), `there is no processor "a"`) {
			t.Errorf("%s: %v", m[1], err)
		}
		if strings.ToLower(m[2]) != strings.ReplaceAll(name, "_", "") {
			t.Errorf("%s stands beside %s", m[1], m[2])
		}
		told = append(told, name)
	}
	for _, k := range loader.Kinds() {
		if !strings.Contains(" "+strings.Join(told, " ")+" ", " "+k.Name+" ") {
			t.Errorf("docs/loaders.md does not tell of %s", k.Name)
		}
	}
}

func parseYAML(text string) (loader.Processor, error) {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return loader.Processor{}, err
	}
	return loader.FromValue(v)
}
