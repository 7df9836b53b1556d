package spider_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// The spider of the README.
func books() spider.Spider {
	return spider.Spider{
		Name:           "books",
		AllowedDomains: []string{"books.example"},
		StartURLs:      []string{"https://books.example/"},
		Parse:          shelf,
		Callbacks:      map[string]spider.Callback{"book": book},
		Settings:       map[string]any{"DOWNLOAD_DELAY": "500ms"},
	}
}

// shelf reads a page that lists books.
func shelf(ctx context.Context, page *spider.Page, out *spider.Output) error {
	out.FollowAll(page.CSS("article h3 a::attr(href)").All(), "book")
	out.FollowAll(page.CSS("li.next a::attr(href)").All(), "")
	return nil
}

// book reads the page of one book.
func book(ctx context.Context, page *spider.Page, out *spider.Output) error {
	out.Item(map[string]any{
		"title": page.CSS("h1::text").Get(),
		"price": page.CSS("p.price::text").Get(),
		"url":   page.URL,
	})
	return nil
}

func Example() {
	registry, err := spider.NewRegistry(books())
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := registry.Get("books")
	if err != nil {
		fmt.Println(err)
		return
	}
	page := spider.NewPage(&crawl.Response{
		URL: "https://books.example/1", Status: http.StatusOK,
		Body:    []byte(`<h1>Emma</h1><p class="price">£3</p>`),
		Request: &crawl.Request{URL: "https://books.example/1", Callback: "book"},
	}, s, crawl.Job{}, nil)
	for result, err := range spider.NewChain(s, new(stats.Collector)).Process(context.Background(), page) {
		if err != nil {
			fmt.Println(err)
			return
		}
		title, _ := result.Item.Get("title")
		price, _ := result.Item.Get("price")
		fmt.Println(title, price)
	}
	// Output: Emma £3
}
