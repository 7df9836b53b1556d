package feeds_test

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/feeds"
	"github.com/skitterhq/skitter/shared/stats"
)

func each(list []crawl.Item) iter.Seq2[crawl.Item, error] {
	return func(yield func(crawl.Item, error) bool) {
		for _, item := range list {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// Rows without a value are no success: nobody would look at what is in them.
func TestACSVOfOtherColumnsIsNotAppendedTo(t *testing.T) {
	tests := []struct {
		name, items string
		fields      []string
		refused     bool
		want        string
	}{
		{name: "none in common", items: `{"x":1,"y":2}{"x":3}`, refused: true},
		{name: "none in common, as the fields are named", items: `{"x":1}`, fields: []string{"a", "b"}, refused: true},
		{name: "some in common", items: `{"x":1,"b":2}`, want: "a,b\n1,1\n,2\r\n"},
		{name: "a later item has one", items: `{"x":1}{}{"a":3}`, want: "a,b\n1,1\n,\r\n,\r\n3,\r\n"},
		{name: "items without fields", items: `{}`, want: "a,b\n1,1\n,\r\n"},
		{name: "no items", want: "a,b\n1,1\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, "out.csv")
			p.write("a,b\n1,1\n")
			list := items(t, test.items)
			_, err := feeds.Deliver(context.Background(), p.feed(false), "job", feeds.Options{Fields: test.fields}, each(list))
			p.noParts()
			if !test.refused {
				if err != nil {
					t.Error(err)
				}
				p.expect(test.want)
				return
			}
			if err == nil || !strings.Contains(err.Error(), "columns a,b,") || !strings.Contains(err.Error(), "but x") {
				t.Errorf("got %v, want an error with both headers", err)
			}
			p.expect("a,b\n1,1\n")
		})
	}
}

func TestFieldsThatAnOldCSVHasNotAreToldOnceAndCounted(t *testing.T) {
	p := newPlace(t, "out.csv")
	p.write("a\n1\n")
	var log bytes.Buffer
	var st stats.Collector
	o := feeds.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Stats: &st}
	if _, err := feeds.Deliver(context.Background(), p.feed(false), "job", o, each(items(t, `{"a":1,"x":1}{"a":2,"y":2}`))); err != nil {
		t.Fatal(err)
	}
	if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "append to another file") {
		t.Errorf("got log %s, want one warning that says what to do", &log)
	}
	if n := st.Take()["feedexport/field_dropped_count"]; n != 2 {
		t.Errorf("%d values were counted, want 2", n)
	}
}

func TestNamedFieldsThatNoItemHasAreTold(t *testing.T) {
	for _, format := range []string{"csv", "jsonl", "json"} {
		p := newPlace(t, "out."+format)
		var log bytes.Buffer
		o := feeds.Options{Fields: []string{"title"}, Log: slog.New(slog.NewTextHandler(&log, nil))}
		if _, err := feeds.Deliver(context.Background(), p.feed(true), "job", o, each(items(t, `{"name":1}{"name":2}`))); err != nil {
			t.Fatal(err)
		}
		if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "FEED_EXPORT_FIELDS") {
			t.Errorf("%s: got log %s, want one warning", format, &log)
		}
	}
}
