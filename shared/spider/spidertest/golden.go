// Package spidertest tests spiders on saved pages, without a network.
package spidertest

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

var update = flag.Bool("update", false, "rewrite the golden files of spiders' tests")

// An output is what a golden file has: what a page gave.
type output struct {
	Items    []crawl.Item     `json:"items"`
	Requests []*crawl.Request `json:"requests"`
}

// Golden hands a saved page to a spider's callback ("" for Parse) and its legs,
// and compares what they give with the file of the same name that ends in
// .golden.json. With the flag -update it writes that file instead; look at the
// difference before you commit it.
func Golden(t *testing.T, s spider.Spider, callback, url, file string) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, s, &crawl.Response{
		URL: url, Status: http.StatusOK, Body: body,
		Headers: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Request: &crawl.Request{URL: url, Callback: callback},
	})
	golden := strings.TrimSuffix(file, ".html") + ".golden.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want, +got):\n%s", golden, diff)
	}
}

func run(t *testing.T, s spider.Spider, resp *crawl.Response) []byte {
	t.Helper()
	registry, err := spider.NewRegistry(s)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := registry.Get(s.Name)
	if err != nil {
		t.Fatal(err)
	}
	out := output{Items: []crawl.Item{}, Requests: []*crawl.Request{}}
	page := spider.NewPage(resp, bound, crawl.Job{Name: "test"}, nil)
	for res, err := range spider.NewChain(bound, new(stats.Collector)).Process(t.Context(), page) {
		switch {
		case err != nil:
			t.Fatal(err)
		case res.Item != nil:
			out.Items = append(out.Items, *res.Item)
		default:
			out.Requests = append(out.Requests, res.Request)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
