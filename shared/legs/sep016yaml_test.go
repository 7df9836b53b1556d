package legs_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/skitterhq/skitter/shared/spider/spidertest"
	"github.com/skitterhq/skitter/shared/yamlspider"
)

// The examples of SEP-016 in YAML give what those in Go give.
func TestSEP016InYAML(t *testing.T) {
	const (
		about = "http://shop.example/about.html"
		feed  = "http://shop.example/news.rss"
	)
	for _, test := range []struct{ spider, golden, url, file string }{
		{"regex-links", "regex-links-category", sepCategory, "category.html"},
		{"regex-links", "regex-links-product", sepProduct, "product.html"},
		{"feed-links", "feed-links", feed, "news.rss"},
		{"feed-links", "feed-links-category", sepCategory, "category.html"},
		{"callback-rules", "callback-rules-category", sepCategory, "category.html"},
		{"callback-rules", "callback-rules-product", sepProduct, "product.html"},
		{"callback-rules", "callback-rules-none", about, "product.html"},
		{"canonicalize", "canonicalize-links", sepCategory, "category.html"}, // a link extractor leaves fragments out
		{"item-id", "item-id", sepProduct, "product.html"},
		{"combined", "combined-category", sepCategory, "category.html"},
		{"combined", "combined-product", sepProduct, "product.html"},
	} {
		t.Run(test.golden, func(t *testing.T) {
			file := "testdata/sep016/" + test.spider + ".yaml"
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := yamlspider.Load(file, text)
			if err != nil {
				t.Fatal(err)
			}
			page := spidertest.Page{URL: test.url, File: "testdata/sep016/" + test.file, GoldenFile: "testdata/sep016/" + test.golden + ".golden.json"}
			if test.url == feed {
				page.Headers = http.Header{"Content-Type": {"application/rss+xml"}}
			}
			page.Golden(t, s)
		})
	}
}
