package quotes_test

import (
	"testing"

	"github.com/skitterhq/skitter/shared/spider/spidertest"
	"github.com/skitterhq/skitter/spiders/quotes"
)

func TestPageOfQuotations(t *testing.T) {
	spidertest.Golden(t, quotes.Spider(), "", "http://quotes.example/quotes/page/2/", "testdata/page.html")
}

func TestLastPage(t *testing.T) {
	spidertest.Golden(t, quotes.Spider(), "", "http://quotes.example/quotes/page/10/", "testdata/last.html")
}

func TestAuthor(t *testing.T) {
	spidertest.Golden(t, quotes.Spider(), "author", "http://quotes.example/author/somebody/", "testdata/author.html")
}

func TestContracts(t *testing.T) {
	spidertest.Contracts(t, quotes.Spider(), map[string]string{
		"http://127.0.0.1:8000/quotes/page/1/":        "testdata/page.html",
		"http://127.0.0.1:8000/author/Jun-Hallorand/": "testdata/author.html",
	})
}
