// Package shop is a spider for the built-in shop (skitter site): every product,
// found by following every link.
package shop

import (
	"context"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
)

// A Product is an item. Its fields come out in this order.
type Product struct {
	Name  string   `json:"name"`
	Price string   `json:"price"`
	SKU   string   `json:"sku"`
	Tags  []string `json:"tags"`
	URL   string   `json:"url"`
}

// Selectors are compiled when the program starts, so a mistake in one is found
// before the crawl.
var (
	name  = extract.MustCSS("h1.name::text")
	price = extract.MustCSS("p.price::text")
	sku   = extract.MustCSS("p.sku::text")
	tags  = extract.MustCSS("li.tag::text")
)

// Spider starts at the first product; give it the address of your own site as
// start URL.
func Spider() spider.Spider {
	return spider.Spider{
		Name:      "shop",
		StartURLs: []string{"http://127.0.0.1:8000/p/0"},
		Parse:     parse,
	}
}

var links extract.LinkExtractor // every link

// parse reads a product page.
func parse(_ context.Context, page *spider.Page, out *spider.Output) error {
	if page.Select(name).Len() > 0 {
		out.Item(Product{
			Name:  page.Select(name).Get(),
			Price: page.Select(price).Get(),
			SKU:   page.Select(sku).Get(),
			Tags:  page.Select(tags).All(),
			URL:   page.URL,
		})
	}
	out.FollowLinks(links.Extract(page.Document()), "")
	return nil
}
