package spider_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/site"
	"github.com/skitterhq/skitter/shared/spider"
)

// pageOf is what a server answers to a request, as a page.
func pageOf(t *testing.T, server http.Handler, r *crawl.Request) *spider.Page {
	t.Helper()
	hr := httptest.NewRequest(r.HTTPMethod(), r.URL, bytes.NewReader(r.Body))
	hr.Header = r.Headers.Clone()
	w := httptest.NewRecorder()
	server.ServeHTTP(w, hr)
	resp := &crawl.Response{URL: r.URL, Status: w.Code, Headers: w.Header(), Body: w.Body.Bytes(), Request: r}
	return spider.NewPage(resp, &spider.Spider{Name: "test"}, crawl.Job{}, nil)
}

func TestALoginFormLetsIn(t *testing.T) {
	shop, err := site.New(site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	form := pageOf(t, shop, &crawl.Request{URL: "http://shop.example/login"})
	r, err := form.FormRequest(extract.FormOptions{FormData: url.Values{"user": {"demo"}, "password": {"demo"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := &crawl.Request{
		URL: "http://shop.example/login", Method: "POST", Body: []byte("password=demo&user=demo"),
		Headers: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	answer := pageOf(t, shop, r)
	cookie, _, _ := strings.Cut(answer.Headers.Get("Set-Cookie"), ";")
	if answer.Status != http.StatusFound || answer.Headers.Get("Location") != "/account" || cookie == "" {
		t.Fatalf("got status %d and headers %v", answer.Status, answer.Headers)
	}
	next := &crawl.Request{URL: "http://shop.example/account"}
	next.SetHeader("Cookie", cookie)
	if got := pageOf(t, shop, next).CSS("p.user").Text(); got != "demo" {
		t.Errorf("the account is %q's, want demo's", got)
	}
}

func TestAFormRequestSaysItsEncoding(t *testing.T) {
	page := func(contentType string) *spider.Page {
		headers := http.Header{"Content-Type": {contentType}}
		body := []byte(`<form action="/search"><input name="q"></form>`)
		return spider.NewPage(&crawl.Response{URL: pageURL, Status: 200, Headers: headers, Body: body}, nil, crawl.Job{}, nil)
	}
	options := extract.FormOptions{FormData: url.Values{"q": {"ф"}}}
	for contentType, want := range map[string]*crawl.Request{
		"text/html; charset=utf-8":  {URL: "http://example.com/search?q=%D1%84", Method: "GET"},
		"text/html; charset=koi8-r": {URL: "http://example.com/search?q=%C6", Method: "GET", Encoding: "koi8-r"},
	} {
		got, err := page(contentType).FormRequest(options)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: mismatch (-want +got):\n%s", contentType, diff)
		}
	}
}

func TestAFormThatIsNotThereIsAnError(t *testing.T) {
	page := spider.NewPage(&crawl.Response{URL: pageURL, Status: 200}, nil, crawl.Job{}, nil)
	if r, err := page.FormRequest(extract.FormOptions{}); err == nil || r != nil {
		t.Errorf("got %v, %v", r, err)
	}
}

// TestDocsOfFormsAreRun holds the page's code to the examples, which run, and
// its table to the options.
func TestDocsOfFormsAreRun(t *testing.T) {
	page, err := os.ReadFile("../../docs/forms.md")
	examples, exampleErr := os.ReadFile("form_example_test.go")
	if err := errors.Join(err, exampleErr); err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(code) != 3 {
		t.Errorf("%d blocks of code, want 3", len(code))
	}
	for _, block := range code {
		one := regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(block[1], "")
		if !strings.Contains(regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(string(examples), ""), one) {
			t.Errorf("no example has\n%s", block[1])
		}
	}
	options := reflect.TypeFor[extract.FormOptions]()
	for i := range options.NumField() {
		f := options.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !strings.Contains(string(page), "`"+f.Name+"`") || !strings.Contains(string(page), name) {
			t.Errorf("the table lacks %s (%s)", f.Name, name)
		}
	}
}
