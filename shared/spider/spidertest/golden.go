// Package spidertest tests spiders on saved pages, without a network.
//
// [Golden] is for the common case, a page and a callback; a [Page] says more.
// What a page gives lies in a file beside it, which
//
//	go test ./spiders/... -update
//
// writes. Look at the difference before you commit it.
package spidertest

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
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
// .golden.json.
func Golden(t *testing.T, s spider.Spider, callback, url, file string) {
	t.Helper()
	Page{URL: url, Callback: callback, File: file}.Golden(t, s)
}

// A Page is a saved page, and how it came. Only URL must be set.
type Page struct {
	// URL is the page's address, which links are resolved against.
	URL string

	// Callback reads the page; empty for Parse.
	Callback string

	// Errback, if set, hears of the page in place of the callback: its
	// request has failed.
	Errback string

	// Failure is what the errback hears.
	//
	// Default: a *crawl.Failure with the reason "timeout".
	Failure error

	// Args are the job's arguments (-a NAME=VALUE).
	Args map[string]string

	// Meta and CBKwargs are those of the page's request. They reach the
	// callback as in a crawl, by way of JSON: numbers are json.Number.
	Meta, CBKwargs crawl.Values

	// Headers are the response's.
	//
	// Default: a Content-Type by the file's ending, in UTF-8.
	Headers http.Header

	// Status is the response's.
	//
	// Default: 200; for an errback without a File 0, as nothing came.
	Status int

	// File has the body; empty for none.
	File string

	// GoldenFile has what is expected; give it where one page is read twice.
	//
	// Default: File with the ending .golden.json in place of its own, and
	// without a File testdata/NAME.golden.json, after the test.
	GoldenFile string
}

// Golden hands the page to a spider and its legs, and compares what they give
// with the golden file, or writes that with the flag -update.
func (p Page) Golden(t *testing.T, s spider.Spider) {
	t.Helper()
	got := p.read(t, s)
	golden := p.golden(t.Name())
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
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

func (p Page) golden(test string) string {
	const ending = ".golden.json"
	switch {
	case p.GoldenFile != "":
		return p.GoldenFile
	case p.File != "":
		return strings.TrimSuffix(p.File, filepath.Ext(p.File)) + ending
	}
	return filepath.Join("testdata", strings.ReplaceAll(test, "/", "-")+ending)
}

// read runs the spider on the page, and returns what it gave as JSON.
func (p Page) read(t *testing.T, s spider.Spider) []byte {
	t.Helper()
	_, out, err := p.run(t, s)
	if err != nil {
		t.Fatal(err)
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

// run hands the page to the spider. The error is that of a callback, a leg or
// an errback.
func (p Page) run(t *testing.T, s spider.Spider) (*spider.Page, output, error) {
	t.Helper()
	registry, err := spider.NewRegistry(s)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := registry.Get(s.Name)
	if err != nil {
		t.Fatal(err)
	}
	page := spider.NewPage(p.response(t), bound, crawl.Job{Name: "test", Spider: s.Name}, p.Args)
	if p.Errback != "" {
		page.Failure = p.Failure
		if page.Failure == nil {
			page.Failure = &crawl.Failure{Reason: "timeout", Request: page.Request}
		}
	}
	out := output{Items: []crawl.Item{}, Requests: []*crawl.Request{}}
	for res, err := range spider.NewChain(bound, new(stats.Collector)).Process(t.Context(), page) {
		switch {
		case err != nil:
			return page, out, err
		case res.Item != nil:
			out.Items = append(out.Items, *res.Item)
		default:
			out.Requests = append(out.Requests, res.Request)
		}
	}
	return page, out, nil
}

func (p Page) response(t *testing.T) *crawl.Response {
	t.Helper()
	resp := &crawl.Response{
		URL: p.URL, Status: p.Status, Headers: p.Headers,
		Request: &crawl.Request{URL: p.URL, Callback: p.Callback, Errback: p.Errback, Meta: travelled(t, p.Meta), CBKwargs: travelled(t, p.CBKwargs)},
	}
	if resp.Status == 0 && (p.Errback == "" || p.File != "") {
		resp.Status = http.StatusOK
	}
	if p.File == "" {
		return resp
	}
	var err error
	if resp.Body, err = os.ReadFile(p.File); err != nil {
		t.Fatal(err)
	}
	if resp.Headers == nil {
		resp.Headers = http.Header{"Content-Type": {contentType(p.File)}}
	}
	return resp
}

// travelled are values as a callback finds them, which have been JSON: numbers
// are json.Number.
func travelled(t *testing.T, v crawl.Values) (found crawl.Values) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &found)
	}
	if err != nil {
		t.Fatalf("Meta and CBKwargs travel as JSON: %v", err)
	}
	return found
}

// contentType is what a server would say of a file. The table of the system is
// not asked: a test gives the same everywhere.
func contentType(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".xml", ".rss", ".atom":
		return "application/xml; charset=utf-8"
	case ".json":
		return "application/json; charset=utf-8"
	case ".txt", ".csv":
		return "text/plain; charset=utf-8"
	}
	return "text/html; charset=utf-8"
}
