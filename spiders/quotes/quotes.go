// Package quotes is a spider with a leg: it reads quotations, follows their
// authors to a callback of their own, and leaves turning the pages to the leg.
package quotes

import (
	"context"

	"github.com/skitterhq/skitter/shared/spider"
)

// A Quote is what a page of quotations gives.
type Quote struct {
	Text   string   `json:"text"`
	Author string   `json:"author"`
	Tags   []string `json:"tags"`
}

// An Author is what the page of an author gives.
type Author struct {
	Author string `json:"author"`
	Born   string `json:"born"`
}

// site is where `skitter site` serves the built-in site.
const site = "http://127.0.0.1:8000"

// Spider reads the quotations of the built-in site.
func Spider() spider.Spider {
	return spider.Spider{
		Name:      "quotes",
		StartURLs: []string{site + "/quotes/page/1/"},
		Parse:     parse,
		Callbacks: map[string]spider.Callback{"author": parseAuthor},
		Legs:      []spider.Leg{nextPage()},
		Contracts: []spider.Contract{
			{URL: site + "/quotes/page/1/", Items: spider.Exactly(10), Requests: spider.AtLeast(2), Scrapes: []string{"text", "author", "tags"}},
			{URL: site + "/author/Jun-Hallorand/", Callback: "author", Items: spider.Exactly(1), Scrapes: []string{"author", "born"}},
		},
	}
}

// parse reads a page of quotations.
func parse(_ context.Context, page *spider.Page, out *spider.Output) error {
	for quote := range page.CSS("div.quote").Each() {
		out.Item(Quote{
			Text:   quote.CSS("span.text::text").Get(),
			Author: quote.CSS("small.author::text").Get(),
			Tags:   quote.CSS("a.tag::text").All(),
		})
	}
	out.FollowAll(page.CSS(`a[href^="/author/"]::attr(href)`).All(), "author")
	return nil
}

// parseAuthor reads the page of an author. Many quotations link to it; it is
// fetched once.
func parseAuthor(_ context.Context, page *spider.Page, out *spider.Output) error {
	out.Item(Author{
		Author: page.CSS("h3.author-title::text").Get(),
		Born:   page.CSS("span.author-born-date::text").Get(),
	})
	return nil
}

// nextPage is a leg that turns the pages. Any spider can have it.
func nextPage() spider.Leg {
	return spider.Leg{
		Name: "next-page",
		ProcessResponse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			out.FollowAll(page.CSS("li.next a::attr(href)").All(), "")
			return nil
		},
	}
}
