package spidermw_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spidermw"
)

func TestRequestsInheritTheCookiesOfTheirPage(t *testing.T) {
	results := func(own string) spider.Results {
		return func(yield func(crawl.Result, error) bool) {
			item := crawl.Result{Item: new(crawl.Item)}
			brings := &crawl.Request{URL: "http://a/2", Progress: crawl.Progress{Jars: own}}
			_ = yield(item, nil) && yield(crawl.Result{Request: &crawl.Request{URL: "http://a/1"}}, nil) &&
				yield(crawl.Result{Request: brings}, nil) && yield(item, nil)
		}
	}
	for _, test := range []struct {
		name      string
		enabled   bool
		page, own string
		want      []string
	}{
		{"a page with cookies", true, "of the page", "", []string{"of the page", "of the page"}},
		{"a request that brings its own", true, "of the page", "own", []string{"of the page", "own"}},
		{"a page without", true, "", "", []string{"", ""}},
		{"switched off", false, "of the page", "own", []string{"", "own"}},
	} {
		page := pageOf("http://a/", 200)
		page.Request.Jars, page.Request.CookieJar = test.page, "second"
		mw := spidermw.Cookies(with(t, map[string]any{"COOKIES_ENABLED": test.enabled}))
		var got []string
		for _, req := range output(t, mw, page, results(test.own)) {
			got = append(got, req.Jars)
			if req.CookieJar != "" {
				t.Errorf("%s: the request uses the jar %q, want the one without a name", test.name, req.CookieJar)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", test.name, diff)
		}
	}
}
