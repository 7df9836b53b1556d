package yamlspider_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/yamlspider"
)

func TestFieldsAreReadInTheirOrderAndInEachForm(t *testing.T) {
	s, err := yamlspider.Load("book.yaml", []byte(`name: books
start_urls: [https://books.example/]
parse:
  - fields:
      each: {xpath: //article}
      fields:
        title: h1::text
        price: {css: 'p.price::text', re: '[\d.]+', type: float}
        by: {xpath: 'string(.//i)', default: nobody}
        author:
          css: div.author
          fields: {name: 'b::text', born: 'u::text'}
`))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := spider.NewRegistry(s)
	if err != nil {
		t.Fatal(err)
	}
	bound, _ := registry.Get("books")
	page := spider.NewPage(&crawl.Response{
		URL: "https://books.example/", Status: 200, Request: &crawl.Request{},
		Body: []byte(`<article><h1>Emma</h1><p class=price>£3.50</p><i></i><div class=author><b>Jane</b></div></article>`),
	}, bound, crawl.Job{}, nil)
	var items []string
	for res, err := range spider.NewChain(bound, new(stats.Collector)).Process(t.Context(), page) {
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(res.Item)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, string(text))
	}
	want := `{"title":"Emma","price":3.50,"by":"nobody","author":{"name":"Jane","born":null}}`
	if got := strings.Join(items, "\n"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMistakesInFieldsHaveTheirLine(t *testing.T) {
	_, err := yamlspider.Load("book.yaml", []byte(`name: books
start_urls: [https://books.example/]
parse:
  - fields:
      each: ''
      fields:
        title: {csss: h1}
        price:
          css: p.price
          type: number
        by: 'li['
        author: {css: div, fields: {born: ''}}
  - pagination:
      next: {css: a, xpth: //a}
`))
	if err == nil {
		t.Fatal("the file was taken")
	}
	for _, want := range []string{"book.yaml:5:", "book.yaml:7:", `"csss"`, "book.yaml:12:", "book.yaml:14:", `"xpth"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in:\n%v", want, err)
		}
	}
}
