package loader_test

import (
	"testing"

	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spider/spidertest"
)

// TestASpiderUsesALoader runs the spider of docs/loaders.md on a saved page.
func TestASpiderUsesALoader(t *testing.T) {
	s := spider.Spider{Name: "books", Parse: book}
	spidertest.Golden(t, s, "", "https://books.example/raven/", "testdata/raven.html")
}
