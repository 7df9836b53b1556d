package legs_test

import (
	"testing"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spider/spidertest"
)

// quotesPage is where testdata/quotes.html comes from.
const quotesPage = "http://127.0.0.1:8000/quotes/page/2/"

func golden(t *testing.T, name string, s spider.Spider) {
	t.Helper()
	s.Name = "test"
	spidertest.Page{URL: quotesPage, File: "testdata/quotes.html", GoldenFile: "testdata/" + name + ".golden.json"}.Golden(t, s)
}

func TestFieldsGolden(t *testing.T) {
	golden(t, "fields", spider.Spider{Legs: []spider.Leg{quoteFields().Leg()}})
}

// quoteFields reads the quotations of the built-in site.
func quoteFields() legs.Fields {
	return legs.Fields{
		Each: legs.CSS("div.quote"),
		Fields: legs.FieldList{
			{Name: "text", CSS: "span.text::text", Required: true},
			{Name: "author", Fields: legs.FieldList{
				{Name: "name", XPath: `.//small[has-class("author")]/text()`},
				{Name: "url", CSS: `a[href^="/author/"]::attr(href)`, Type: "url"},
			}},
			{Name: "tags", CSS: "a.tag", Type: "text", All: true},
			{Name: "page", From: "url"},
		},
	}
}

func TestPaginationGolden(t *testing.T) {
	golden(t, "pagination", spider.Spider{Parse: nothing, Legs: []spider.Leg{
		legs.Pagination{Next: legs.CSS("li.next a")}.Leg(),
		legs.Pagination{Name: "by-number", PagePattern: `/quotes/page/(\d+)/`, While: legs.CSS("div.quote"), Follow: legs.Follow{Priority: 1}}.Leg(),
	}})
}

func TestCrawlRulesGolden(t *testing.T) {
	golden(t, "crawl-rules", spider.Spider{
		Callbacks: map[string]spider.Callback{"author": nothing},
		Legs: []spider.Leg{legs.CrawlRules{Rules: []legs.Rule{
			{LinkOptions: extract.LinkOptions{Allow: []string{`/author/`}}, Callback: "author"},
			{LinkOptions: extract.LinkOptions{RestrictCSS: []string{"ul.pager"}}},
		}}.Leg()},
	})
}
