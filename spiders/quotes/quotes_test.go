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
