package feeds_test

import (
	"bytes"
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/feeds"
)

func TestJobsAppendOneAfterTheOther(t *testing.T) {
	p := newPlace(t, "out.jsonl")
	for _, job := range []string{"a", "b", "c"} {
		if _, err := p.deliver(false, crawl.JobUID(job), numbered(job, 2, nil)); err != nil {
			t.Fatal(err)
		}
	}
	all := lines("a", 2) + lines("b", 2) + lines("c", 2)
	p.expect(all)
	// A job whose delivery is repeated long after others is there already.
	if n, err := p.deliver(false, "a", numbered("a", 2, nil)); n != 2 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	p.expect(all)
}

func TestJobsAppendAtOneTime(t *testing.T) {
	p := newPlace(t, "out.jsonl")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			job := string(rune('a' + i))
			if _, err := p.deliver(false, crawl.JobUID(job), numbered(job, 200, nil)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if !strings.Contains(string(got), lines(string(rune('a'+i)), 200)) {
			t.Errorf("the items of job %c are not there in one piece", 'a'+i)
		}
	}
	if n := bytes.Count(got, []byte("\n")); n != 1600 {
		t.Errorf("there are %d lines, want 1600", n)
	}
}

func TestAJournalWhoseLastLineIsTorn(t *testing.T) {
	p := newPlace(t, "out.jsonl")
	journal := filepath.Join(p.dir(), ".out.jsonl.appends")
	if _, err := p.deliver(false, "a", numbered("a", 2, nil)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, append(data, `{"job":"b","fr`...), 0o644); err != nil {
		t.Fatal(err)
	}
	p.dieBefore("copy", false, "b", 2) // it has noted what is to be copied
	for _, job := range []string{"c", "a", "b"} {
		if _, err := p.deliver(false, crawl.JobUID(job), numbered(job, 2, nil)); err != nil {
			t.Fatal(err)
		}
	}
	p.expect(lines("a", 2) + lines("b", 2) + lines("c", 2))
}

func TestAppendingToCSV(t *testing.T) {
	rows := func(job string) iter.Seq2[crawl.Item, error] { return numbered(job, 1, nil) }
	tests := []struct {
		name, existing string
		fields         []string
		want           string
		fails          string
	}{
		{name: "the header stands there once", existing: "job,n\r\nx,0\r\n", want: "job,n\r\nx,0\r\na,0\r\n"},
		{name: "the columns are those of the file", existing: "\ufeffn,other\nx,0", want: "\ufeffn,other\nx,0\n0,\r\n"},
		{name: "an empty file gets a header", existing: "", want: "job,n\r\na,0\r\n"},
		{name: "fields that are the file's", existing: "n,job\r\n", fields: []string{"n", "job"}, want: "n,job\r\n0,a\r\n"},
		{name: "fields that are others", existing: "n,job\r\n", fields: []string{"job"}, fails: "the file has the columns n,job"},
		{name: "a file that is no CSV", existing: "\"", fails: "no columns to go on with"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, "out.csv")
			p.write(test.existing)
			_, err := feeds.Deliver(context.Background(), p.feed(false), "a", feeds.Options{Fields: test.fields}, rows("a"))
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("got %v", err)
				}
				p.expect(test.existing)
				p.noParts()
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			p.expect(test.want)
		})
	}
}

func TestAppendingToJSONIsRefusedAndRepeatingIsNot(t *testing.T) {
	p := newPlace(t, "out.json")
	for range 2 {
		if _, err := p.deliver(false, "a", numbered("a", 1, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.deliver(false, "b", numbered("b", 1, nil)); err == nil || !strings.Contains(err.Error(), "-O") {
		t.Errorf("got %v", err)
	}
	p.expect("[\n{\"job\":\"a\",\"n\":0}\n]")
}
