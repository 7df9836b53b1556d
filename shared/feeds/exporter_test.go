package feeds_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/feeds"
	"github.com/skitterhq/skitter/shared/stats"
)

// items reads items from JSON, one a line.
func items(t testing.TB, lines string) []crawl.Item {
	t.Helper()
	var list []crawl.Item
	dec := json.NewDecoder(strings.NewReader(lines))
	for {
		var item crawl.Item
		err := dec.Decode(&item)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, item)
	}
}

// export writes items and returns the text, and the errors of single items.
func export(t *testing.T, format string, o feeds.Options, list []crawl.Item) (string, []error) {
	t.Helper()
	var b bytes.Buffer
	e, err := feeds.New(format, &b, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Begin(); err != nil {
		t.Fatal(err)
	}
	var bad []error
	for _, item := range list {
		err := e.Item(item)
		var itemError *feeds.ItemError
		switch {
		case errors.As(err, &itemError):
			bad = append(bad, err)
		case err != nil:
			t.Fatal(err)
		}
	}
	if err := e.End(); err != nil {
		t.Fatal(err)
	}
	return b.String(), bad
}

func TestExporters(t *testing.T) {
	tests := []struct {
		name, format string
		options      feeds.Options
		items        string
		want         string
	}{
		{name: "EXP-01: columns are those of the first item", format: "csv", items: `{"name":"a"}{"name":"b","age":30}`, want: "name\r\na\r\nb\r\n"},
		{name: "EXP-01: columns that are named", format: "csv", options: feeds.Options{Fields: []string{"name", "age"}}, items: `{"name":"a"}{"name":"b","age":30}`, want: "name,age\r\na,\r\nb,30\r\n"},
		{name: "EXP-02: quotes, line breaks and lists", format: "csv", options: feeds.Options{Fields: []string{"t", "tags"}}, items: `{"t":"a,\"b\"\nc","tags":["x","y"]}`, want: "t,tags\r\n\"a,\"\"b\"\"\nc\",\"x,y\"\r\n"},
		{name: "EXP-03: no items", format: "json", want: "[]"},
		{name: "EXP-04: signs of HTML stay", format: "jsonl", items: `{"u":"http://example.com/?a=1&b=<x>"}`, want: `{"u":"http://example.com/?a=1&b=<x>"}` + "\n"},
		{name: "EXP-07: order in CSV", format: "csv", items: `{"c":3,"a":1,"b":2}`, want: "c,a,b\r\n3,1,2\r\n"},
		{name: "EXP-07: order in JSON Lines", format: "jsonl", items: `{"c":3,"a":1,"b":2}`, want: `{"c":3,"a":1,"b":2}` + "\n"},
		{name: "SEC-06: formulas are guarded", format: "csv", options: feeds.Options{GuardFormulas: true}, items: `{"=HYPERLINK(1)":"x","t":"=1+1","n":-5,"d":"-","tab":"\t=1","l":["@x","y"]}`,
			want: "'=HYPERLINK(1),t,n,d,tab,l\r\nx,'=1+1,-5,'-,'\t=1,\"'@x,y\"\r\n"},
		{name: "formulas are left alone", format: "csv", items: `{"t":"=1+1"}`, want: "t\r\n=1+1\r\n"},
		{name: "numbers keep their digits", format: "jsonl", items: `{"id":12345678901234567890,"p":1.10}`, want: `{"id":12345678901234567890,"p":1.10}` + "\n"},
		{name: "numbers keep their digits in CSV", format: "csv", items: `{"id":12345678901234567890,"p":1.10,"l":[1.10,2]}`, want: "id,p,l\r\n12345678901234567890,1.10,\"1.10,2\"\r\n"},
		{name: "nested values in CSV", format: "csv", items: `{"o":{"a":"<"},"l":[1,[2]],"n":null,"t":true,"e":[]}`, want: "o,l,n,t,e\r\n\"{\"\"a\"\":\"\"<\"\"}\",\"[1,[2]]\",,true,\r\n"},
		{name: "a row of one empty cell", format: "csv", items: `{"a":""}{"a":"x"}`, want: "a\r\n\"\"\r\nx\r\n"},
		{name: "a carriage return in CSV", format: "csv", items: `{"a":"x\ry"}`, want: "a\r\n\"x\ry\"\r\n"},
		{name: "an item without fields among others", format: "csv", items: `{"a":"x","b":"y"}{}`, want: "a,b\r\nx,y\r\n,\r\n"},
		{name: "no items in CSV", format: "csv", options: feeds.Options{Fields: []string{"a"}}, want: ""},
		{name: "no items in JSON Lines", format: "jsonl", want: ""},
		{name: "an array, an item a line", format: "json", items: `{"a":1}{"a":2}`, want: "[\n{\"a\":1},\n{\"a\":2}\n]"},
		{name: "an array, indented", format: "json", options: feeds.Options{Indent: 2}, items: `{"a":[1]}{}`, want: "[\n{\n  \"a\": [\n    1\n  ]\n},\n{}\n]"},
		{name: "JSON Lines are never indented", format: "jsonl", options: feeds.Options{Indent: 2}, items: "{\n \"a\": [\n1]}", want: "{\"a\":[1]}\n"},
		{name: "fields in JSON are those that are there", format: "jsonl", options: feeds.Options{Fields: []string{"b", "x", "a"}}, items: `{"a":1,"b":2,"c":3}`, want: `{"b":2,"a":1}` + "\n"},
		{name: "signs of HTML stay where fields are named", format: "json", options: feeds.Options{Fields: []string{"a"}}, items: `{"a":"<&>"}`, want: "[\n{\"a\":\"<&>\"}\n]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, bad := export(t, test.format, test.options, items(t, test.items))
			if diff := cmp.Diff(test.want, got); diff != "" || bad != nil {
				t.Errorf("mismatch (-want +got):\n%s%v", diff, bad)
			}
		})
	}
}

func TestAnItemThatCannotBeWrittenLeavesTheFeedValid(t *testing.T) {
	var unwritable, nan crawl.Item
	if err := unwritable.Set("a", make(chan int)); err != nil {
		t.Fatal(err)
	}
	if err := nan.Set("a", math.NaN()); err != nil {
		t.Fatal(err)
	}
	var broken crawl.Item
	if err := broken.UnmarshalJSON([]byte(`{"a":`)); err != nil {
		t.Fatal(err)
	}
	good := items(t, `{"a":1}{"a":3}`)
	list := []crawl.Item{unwritable, good[0], nan, broken, good[1]}
	for format, want := range map[string]string{
		"json":  "[\n{\"a\":1},\n{\"a\":3}\n]",
		"jsonl": "{\"a\":1}\n{\"a\":3}\n",
		"csv":   "a\r\n1\r\n3\r\n",
	} {
		for _, fields := range [][]string{nil, {"a"}} {
			got, bad := export(t, format, feeds.Options{Fields: fields}, list)
			if got != want || len(bad) != 3 {
				t.Errorf("%s, fields %v: got %q and %d errors", format, fields, got, len(bad))
			}
		}
	}
}

func TestAnItemWithoutFieldsMakesNoColumns(t *testing.T) {
	got, bad := export(t, "csv", feeds.Options{}, items(t, `{}{"a":1}`))
	if got != "a\r\n1\r\n" || len(bad) != 1 {
		t.Errorf("got %q, errors %v", got, bad)
	}
}

func TestFieldsThatAreLeftOutOfCSVAreToldOnceAndCounted(t *testing.T) {
	var log bytes.Buffer
	var st stats.Collector
	o := feeds.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Stats: &st}
	export(t, "csv", o, items(t, `{"name":"a"}{"name":"b","age":30,"x":1}{"name":"c","age":31}`))
	if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "age") {
		t.Errorf("got log %s, want one warning that names age", &log)
	}
	if n := st.Take()["feedexport/field_dropped_count"]; n != 3 {
		t.Errorf("%d values were counted, want 3", n)
	}
	log.Reset()
	o.Fields = []string{"name"}
	export(t, "csv", o, items(t, `{"name":"b","age":30}`))
	if log.Len() > 0 || len(st.Take()) > 0 {
		t.Errorf("fields that nobody asked for were told: %s", &log)
	}
}

func TestGoValuesInCSV(t *testing.T) {
	var item crawl.Item
	for _, f := range []crawl.Field{
		{Name: "time", Value: time.Date(2023, 8, 3, 23, 24, 57, 148903000, time.UTC)},
		{Name: "list", Value: []string{"x", "y"}},
		{Name: "ids", Value: []int64{12345678901234567}},
		{Name: "n", Value: 1.5},
		{Name: "b", Value: true},
		{Name: "bytes that are no text", Value: "a\xffb"},
		{Name: "m", Value: map[string]int{"k": 1}},
	} {
		if err := item.Set(f.Name, f.Value); err != nil {
			t.Fatal(err)
		}
	}
	got, bad := export(t, "csv", feeds.Options{}, []crawl.Item{item})
	want := "time,list,ids,n,b,bytes that are no text,m\r\n2023-08-03T23:24:57.148903Z,\"x,y\",12345678901234567,1.5,true,a\xffb,\"{\"\"k\"\":1}\"\r\n"
	if diff := cmp.Diff(want, got); diff != "" || bad != nil {
		t.Errorf("mismatch (-want +got):\n%s%v", diff, bad)
	}
}

// A writer that fails is no fault of the item.
func TestAWriterThatFails(t *testing.T) {
	for _, format := range []string{"jsonl", "json", "csv"} {
		e, err := feeds.New(format, full{}, feeds.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var bad *feeds.ItemError
		if err := e.Item(items(t, `{"a":1}`)[0]); !errors.Is(err, errFull) || errors.As(err, &bad) {
			t.Errorf("%s: got %v", format, err)
		}
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFormatOf(t *testing.T) {
	for file, want := range map[string]string{
		"a.jsonl": "jsonl", "dir.csv/a.JL": "jsonl", "a.b.json": "json", "a.CSV": "csv", "s3://bucket/a.csv": "csv",
	} {
		if got, err := feeds.FormatOf(file); got != want || err != nil {
			t.Errorf("%s: got %q, %v", file, got, err)
		}
	}
	for file, want := range map[string]string{
		"a.xml": ".xml is not there yet", "a.parquet": ".parquet is not there yet",
		"a.txt": "no format has the ending .txt", "a": "there is none", "-": "there is none",
	} {
		if _, err := feeds.FormatOf(file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ".jsonl (or .jl), .json and .csv") {
			t.Errorf("%s: got %v", file, err)
		}
	}
	if _, err := feeds.New("xml", io.Discard, feeds.Options{}); err == nil {
		t.Error("there is an exporter for xml")
	}
}
