package yamlspider_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/yamlspider"
)

// block is one of YAML in a page of docs/.
var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

var (
	isSpider = regexp.MustCompile(`(?m)^name: `)
	isLegs   = regexp.MustCompile(`^- `)
	callback = regexp.MustCompile(`callbacks?: \[?([a-z_]+)`)
)

// whole makes a spider of a block of a page, if it is one or is a list of legs.
func whole(page, block string) string {
	switch {
	case isSpider.MatchString(block):
		return block
	case !isLegs.MatchString(block) || filepath.Base(page) != "legs.md":
		return ""
	}
	text := "name: whole\nlegs:\n" + block + "\nparse: [pagination: {name: its-parse}]\ncallbacks:\n  other: [pagination: {name: its-other}]\n"
	told := map[string]bool{"parse": true}
	for _, m := range callback.FindAllStringSubmatch(block, -1) {
		if !told[m[1]] {
			text += "  " + m[1] + ": [pagination: {name: its-" + m[1] + "}]\n"
		}
		told[m[1]] = true
	}
	return text
}

func TestEverySpiderInTheDocsIsTaken(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	s := schema(t)
	found := make(map[string]int)
	for _, path := range append(pages, "../../README.md") {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range block.FindAllStringSubmatch(string(page), -1) {
			text := whole(path, m[1])
			if text == "" {
				continue
			}
			found[filepath.Base(path)]++
			if _, err := yamlspider.Load(path, []byte(text)); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			} else if err := validate(t, s, text); err != nil {
				t.Errorf("%s: %v\nin\n%s", path, err, text)
			}
		}
	}
	if found["yaml.md"] < 5 {
		t.Errorf("docs/yaml.md has %d spiders", found["yaml.md"])
	}
}

func TestTheDocsNameEveryKeyAndEveryLeg(t *testing.T) {
	text, err := os.ReadFile("../../docs/yaml.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	var there []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(page, -1) {
		there = append(there, m[1])
	}
	want := []string{"name", "allowed_domains", "start_urls", "args", "settings", "handle_httpstatus_list", "parse", "callbacks", "legs", "contracts"}
	for _, k := range legs.Kinds() {
		want = append(want, k.Name)
	}
	slices.Sort(there)
	slices.Sort(want)
	if !slices.Equal(there, want) {
		t.Errorf("the tables have %v, want %v", there, want)
	}
	if !strings.Contains(page, yamlspider.SchemaURL) {
		t.Error("the address of the schema is not there")
	}
}
