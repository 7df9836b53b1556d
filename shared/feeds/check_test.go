package feeds_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/feeds"
)

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	link := func(name, target string) string {
		file := filepath.Join(dir, name)
		if err := os.Symlink(target, file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	long := strings.Repeat("x", 255)
	old, oldJSON, empty := write("old.jsonl", "{}\n"), write("old.json", "[]"), write("empty.json", "")
	tests := []struct {
		name string
		feed crawl.Feed
		want string // in the error; "" for none
	}{
		{"a new file", crawl.Feed{URI: filepath.Join(dir, "new.csv"), Format: "csv"}, ""},
		{"a new file that overwrites", crawl.Feed{URI: filepath.Join(dir, "new.json"), Format: "json", Overwrite: true}, ""},
		{"a file to append to", crawl.Feed{URI: old, Format: "jsonl"}, ""},
		{"JSON that is overwritten", crawl.Feed{URI: oldJSON, Format: "json", Overwrite: true}, ""},
		{"JSON that is appended to", crawl.Feed{URI: oldJSON, Format: "json"}, "overwrite it (-O), or append to a .jsonl file"},
		{"an empty file for JSON", crawl.Feed{URI: empty, Format: "json"}, ""},
		{"a directory", crawl.Feed{URI: dir, Format: "json"}, "is a directory; name a file in it"},
		{"a directory that is not there", crawl.Feed{URI: filepath.Join(dir, "no") + "/", Format: "json"}, "is a directory"},
		{"no directory", crawl.Feed{URI: filepath.Join(dir, "no", "a.csv"), Format: "csv"}, "no does not exist"},
		{"a file for a directory", crawl.Feed{URI: filepath.Join(old, "a.csv"), Format: "csv"}, "not a directory"},
		{"S3", crawl.Feed{URI: "s3://bucket/a.csv", Format: "csv"}, "s3:// is not there yet"},
		{"a format that is none", crawl.Feed{URI: old, Format: "xml"}, `format "xml"`},
		{"no name", crawl.Feed{Format: "csv"}, "no file name"},
		{"CSV without columns", crawl.Feed{URI: write("blank.csv", "\n\n"), Format: "csv"}, "no columns to go on with"},
		{"a name that is too long", crawl.Feed{URI: filepath.Join(dir, long[:251]) + ".csv", Format: "csv"}, "is too long"},
		{"a name that leaves no room beside it", crawl.Feed{URI: filepath.Join(dir, long[:230]) + ".csv", Format: "csv"}, "is too long"},
		{"that, to overwrite", crawl.Feed{URI: filepath.Join(dir, long[:230]) + ".csv", Format: "csv", Overwrite: true}, "is too long"},
		{"a long name", crawl.Feed{URI: filepath.Join(dir, long[:200]) + ".csv", Format: "csv"}, ""},
		{"a link to what is not there", crawl.Feed{URI: link("new.jsonl", "there.jsonl"), Format: "jsonl"}, ""},
		{"a link into no directory", crawl.Feed{URI: link("astray.jsonl", "no/there.jsonl"), Format: "jsonl"}, "no does not exist"},
		{"a link to itself", crawl.Feed{URI: link("self.jsonl", "self.jsonl"), Format: "jsonl"}, "too many"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := list(t, dir)
			err := feeds.Check(test.feed)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
			if after := list(t, dir); after != before {
				t.Errorf("it left a trace: %s, before %s", after, before)
			}
		})
	}
}

func TestCheckOfWhatMayNotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(file, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := feeds.Check(crawl.Feed{URI: file, Format: "jsonl"}); err == nil {
		t.Error("a file without permission passes")
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := feeds.Check(crawl.Feed{URI: filepath.Join(dir, "b.jsonl"), Format: "jsonl"}); err == nil {
		t.Error("a directory without permission passes")
	}
}

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.json")
	if err := os.WriteFile(old, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		filepath.Join(dir, "new.json"): "",
		old:                            "",
		os.DevNull:                     "",
		filepath.Join(dir, strings.Repeat("x", 255)): "",
		filepath.Join(dir, strings.Repeat("x", 256)): "is too long",
		dir:                                    "is a directory",
		filepath.Join(dir, "no", "stats.json"): "no does not exist",
		filepath.Join(old, "stats.json"):       "not a directory",
		filepath.Join(dir, "no") + string(filepath.Separator): "no does not exist",
	} {
		before := list(t, dir)
		err := feeds.CheckFile(file)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.80s: got %v, want an error with %q", file, err, want)
		}
		if after := list(t, dir); after != before {
			t.Errorf("it left a trace: %s, before %s", after, before)
		}
	}
	if data, err := os.ReadFile(old); string(data) != "{}" {
		t.Errorf("the file became %q, %v", data, err)
	}
}

// list names the files of a directory.
func list(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	return strings.Join(names, " ")
}
