package spidertest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spider/spidertest"
)

// teller gives an item that tells what a callback was shown.
func teller() spider.Spider {
	tell := func(by string) spider.Callback {
		return func(_ context.Context, page *spider.Page, out *spider.Output) error {
			item := map[string]any{
				"by": by, "url": page.URL, "status": page.Status, "type": page.Headers.Get("Content-Type"),
				"args": page.Args, "bytes": len(page.Body),
			}
			if page.Failure != nil {
				item["failure"] = page.Failure.Error()
			}
			out.Item(item)
			out.FollowAll(page.CSS("a::attr(href)").All(), "")
			return nil
		}
	}
	return spider.Spider{
		Name: "teller", Parse: tell("parse"),
		Callbacks: map[string]spider.Callback{"other": tell("other")},
		Errbacks:  map[string]spider.Errback{"gone": tell("gone")},
	}
}

func TestGoldenFiles(t *testing.T) {
	const url = "http://example.com/dir/page"
	t.Run("simple", func(t *testing.T) { spidertest.Golden(t, teller(), "other", url, "testdata/page.html") })
	for name, page := range map[string]spidertest.Page{
		"everything": {
			URL: url, Callback: "other", Args: map[string]string{"tag": "love"}, Status: http.StatusTeapot,
			Headers: http.Header{"Content-Type": {"text/html"}}, File: "testdata/page.html", GoldenFile: "testdata/everything.golden.json",
		},
		"another ending":     {URL: url, File: "testdata/feed.xml"},
		"no body":            {URL: url, Status: http.StatusNoContent},
		"an errback":         {URL: url, Errback: "gone"},
		"a page that failed": {URL: url, Errback: "gone", Status: http.StatusNotFound, File: "testdata/page.html", GoldenFile: "testdata/failed.golden.json"},
	} {
		t.Run(name, func(t *testing.T) { page.Golden(t, teller()) })
	}
}

func TestContractsHoldOnSavedPages(t *testing.T) {
	const url = "http://example.com/dir/page"
	s := teller()
	s.Contracts = []spider.Contract{{
		URL: url, Callback: "other", CBKwargs: crawl.Values{"n": 1}, Args: map[string]string{"tag": "love"},
		Items: spider.Exactly(1), Requests: spider.AtLeast(1), Scrapes: []string{"by", "args"},
		Check: func(page *spider.Page, items []crawl.Item, _ []*crawl.Request) error {
			if by, _ := items[0].Get("by"); by != "other" || page.Request.CBKwargs["n"] != json.Number("1") {
				return fmt.Errorf("read by %v with %v", by, page.Request.CBKwargs)
			}
			return nil
		},
	}}
	spidertest.Contracts(t, s, map[string]string{url: "testdata/page.html"})
}
