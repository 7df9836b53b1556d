package spiders_test

import (
	"testing"

	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spider/spidertest"
	"github.com/skitterhq/skitter/spiders"
)

// written finds a YAML spider of the project.
func written(t *testing.T, name string) spider.Spider {
	t.Helper()
	registry, err := spiders.Project().Registry()
	if err != nil {
		t.Fatal(err)
	}
	s, err := registry.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

// The pages and what is expected of them are those of the spiders in Go.
func TestYAMLSpidersGiveWhatThoseInGoGive(t *testing.T) {
	for _, test := range []struct{ name, spider, callback, url, file string }{
		{"quotations", "quotes-yaml", "", "http://quotes.example/quotes/page/2/", "quotes/testdata/page.html"},
		{"the last page", "quotes-yaml", "", "http://quotes.example/quotes/page/10/", "quotes/testdata/last.html"},
		{"an author", "quotes-yaml", "author", "http://quotes.example/author/somebody/", "quotes/testdata/author.html"},
		{"a product", "shop-yaml", "", "http://shop.example/p/7", "shop/testdata/product.html"},
		{"a page of no product", "shop-yaml", "", "http://shop.example/", "shop/testdata/home.html"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spidertest.Golden(t, written(t, test.spider), test.callback, test.url, test.file)
		})
	}
}
