package legs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// show prints what a spider makes of a page of HTML.
func show(s spider.Spider, url, html string) { showTyped(s, url, "text/html; charset=utf-8", html) }

func showTyped(s spider.Spider, url, contentType, body string) {
	s.Name = "example"
	registry, err := spider.NewRegistry(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	bound, _ := registry.Get(s.Name)
	page := spider.NewPage(&crawl.Response{
		URL: url, Status: 200, Body: []byte(body), Request: &crawl.Request{URL: url},
		Headers: http.Header{"Content-Type": {contentType}},
	}, bound, crawl.Job{}, nil)
	for res, err := range spider.NewChain(bound, new(stats.Collector)).Process(context.Background(), page) {
		switch {
		case err != nil:
			fmt.Println(err)
		case res.Item != nil:
			text, _ := json.Marshal(res.Item)
			fmt.Println("item", string(text))
		default:
			fmt.Println(strings.TrimSpace("request " + res.Request.URL + " " + res.Request.Callback))
		}
	}
}

// product is a callback.
func product(_ context.Context, page *spider.Page, out *spider.Output) error {
	out.Item(map[string]string{"name": page.CSS("h1::text").Get()})
	return nil
}

func Example() {
	shop := spider.Spider{
		StartURLs: []string{"https://shop.example/"},
		Legs: []spider.Leg{
			legs.RegexLinks{LinkOptions: extract.LinkOptions{Allow: []string{`/p/\d+$`}}}.Leg(),
			legs.Fields{Fields: legs.FieldList{
				{Name: "name", CSS: "h1.name::text", Required: true},
				{Name: "price", CSS: "p.price::text", Type: "price"},
			}}.Leg(),
			legs.ItemID{IDFieldsToHash: []string{"name"}}.Leg(),
		},
	}
	show(shop, "https://shop.example/p/1", `<h1 class=name>Clog</h1><p class=price>€ 12.50</p><a href="/p/2">Next</a> <a href="/about">About</a>`)
	// Output:
	// request https://shop.example/p/2
	// item {"name":"Clog","price":12.50,"guid":"285a06495a8bc347727eff2ab23536bbc31d5493"}
}

// A leg of one's own: it counts the words of each page.
func wordCount() spider.Leg {
	return spider.Leg{
		Name: "word_count",
		ProcessResponse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			out.Item(map[string]any{"url": page.URL, "words": len(strings.Fields(page.CSS("body").Text()))})
			return nil
		},
	}
}

// A leg that leaves out items without a price, and says so in the job's stats.
func pricedOnly() spider.Leg {
	return spider.Leg{
		Name: "priced_only",
		ProcessItem: func(_ context.Context, _ *spider.Page, item *crawl.Item) (*crawl.Item, error) {
			if price, _ := item.Get("price"); price == nil {
				return nil, nil // dropped
			}
			return item, nil
		},
	}
}

func Example_legOfYourOwn() {
	show(spider.Spider{Legs: []spider.Leg{wordCount()}}, "https://shop.example/", "<body>A page")
	show(spider.Spider{Legs: []spider.Leg{wordCount(), pricedOnly()}}, "https://shop.example/", "<body>A page")
	// Output: item {"url":"https://shop.example/","words":2}
}

func ExampleRegexLinks() {
	links := legs.RegexLinks{
		LinkOptions: extract.LinkOptions{Allow: []string{`/product\.php\?`}, RestrictCSS: []string{"main"}},
		Follow:      legs.Follow{Callback: "product", Priority: 1},
	}
	s := spider.Spider{Callbacks: map[string]spider.Callback{"product": product}, Legs: []spider.Leg{links.Leg()}}
	show(s, "https://shop.example/", `<a href="/product.php?id=1">1</a><main><a href="/product.php?id=2">2</a><a href="/about">3</a></main>`)
	// Output: request https://shop.example/product.php?id=2 product
}

func ExampleCallbackRules() {
	rules := legs.CallbackRules{Rules: []legs.CallbackRule{
		{URL: `/product\.php`, Callback: "product"},
		{URL: `/category\.php`, Callback: "category"},
	}}
	s := spider.Spider{Callbacks: map[string]spider.Callback{"product": product, "category": nothing}, Legs: []spider.Leg{rules.Leg()}}
	show(s, "https://shop.example/product.php?id=1", `<h1>Clog</h1>`)
	// Output: item {"name":"Clog"}
}

func ExampleCanonicalize() {
	clean := legs.Canonicalize{
		Rules:      []string{"drop_tracking_params", "drop_fragment", "sort_query"},
		DropParams: []string{"ref", "from_*"},
	}
	s := spider.Spider{Legs: []spider.Leg{legs.RegexLinks{}.Leg(), clean.Leg()}}
	show(s, "https://shop.example/", `<a href="/p?size=42&id=1&utm_source=mail&from_page=7#photos">Clog</a>`)
	// Output: request https://shop.example/p?id=1&size=42
}

func ExampleItemID() {
	id := legs.ItemID{IDField: "guid", IDFieldsToHash: []string{"name"}}
	s := spider.Spider{Parse: product, Legs: []spider.Leg{id.Leg()}}
	show(s, "https://shop.example/p/1", `<h1>Clog</h1>`)
	// Output: item {"name":"Clog","guid":"285a06495a8bc347727eff2ab23536bbc31d5493"}
}

func ExamplePagination() {
	pages := legs.Pagination{PageParam: "page", While: legs.CSS("div.entry"), MaxPages: 50}
	s := spider.Spider{Parse: nothing, Legs: []spider.Leg{pages.Leg()}}
	show(s, "https://shop.example/list?sort=price&page=2", `<div class=entry>Clog</div>`)
	show(s, "https://shop.example/list?sort=price&page=3", `<p>Nothing found`)
	// Output: request https://shop.example/list?sort=price&page=3
}

func ExampleFields() {
	quotes := legs.Fields{
		Each: legs.CSS("div.quote"),
		Fields: legs.FieldList{
			{Name: "text", CSS: "span.text::text", Required: true},
			{Name: "tags", CSS: "a.tag::text", All: true},
			{Name: "likes", XPath: `.//b[@class="likes"]/text()`, Re: `\d+`, Type: "int", Default: 0},
			{Name: "author", Fields: legs.FieldList{
				{Name: "name", CSS: "small.author", Type: "text"},
				{Name: "url", CSS: "a.about::attr(href)", Type: "url"},
			}},
			{Name: "page", From: "url"},
		},
	}
	s := spider.Spider{Legs: []spider.Leg{quotes.Leg()}}
	show(s, "https://quotes.example/", `<div class=quote><span class=text>Less is more.</span><a class=tag>art</a> <a class=tag>work</a>
		<small class=author><i>Ines</i> Marrowby</small> <a class=about href="/author/1">about</a> <b class=likes>7 likes</b></div>`)
	// Output:
	// item {"text":"Less is more.","tags":["art","work"],"likes":7,"author":{"name":"Ines Marrowby","url":"https://quotes.example/author/1"},"page":"https://quotes.example/"}
}

func ExampleCrawlRules() {
	crawl := legs.CrawlRules{Rules: []legs.Rule{
		{LinkOptions: extract.LinkOptions{Allow: []string{`/category/`}}},
		{LinkOptions: extract.LinkOptions{Allow: []string{`/product/`}}, Callback: "product", Follow: new(true)},
	}}
	s := spider.Spider{Callbacks: map[string]spider.Callback{"product": product}, Legs: []spider.Leg{crawl.Leg()}}
	show(s, "https://shop.example/", `<a href="/category/1">Shoes</a> <a href="/product/1">Clog</a> <a href="/about">About</a>`)
	// Output:
	// request https://shop.example/category/1 crawl_rules.follow
	// request https://shop.example/product/1 product
}

func ExampleSitemap() {
	sitemap := legs.Sitemap{
		SitemapURLs:  []string{"https://shop.example/robots.txt"},
		SitemapRules: []legs.SitemapRule{{URL: `/product/`, Follow: legs.Follow{Callback: "product"}}},
	}
	s := spider.Spider{Name: "shop", Callbacks: map[string]spider.Callback{"product": product}, Legs: []spider.Leg{sitemap.Leg()}}
	_, err := spider.NewRegistry(s)
	fmt.Println(err)
	// Output: <nil>
}

func ExampleFeedLinks() {
	feed := legs.FeedLinks{
		Allow:  []string{`/product/`},
		Follow: legs.Follow{Callback: "product"},
	}
	s := spider.Spider{Callbacks: map[string]spider.Callback{"product": product}, Legs: []spider.Leg{feed.Leg()}}
	show(s, "https://shop.example/feed", `<rss version="2.0"><channel><item><link>/product/1</link></item></channel></rss>`)
	// Output: request https://shop.example/product/1 product
}

func ExampleXMLFeed() {
	books := legs.XMLFeed{
		Itertag: "book",
		Fields: legs.FieldList{
			{Name: "title", CSS: "title::text"},
			{Name: "isbn", XPath: "@isbn"},
		},
	}
	s := spider.Spider{Legs: []spider.Leg{books.Leg()}}
	showTyped(s, "https://shop.example/books.xml", "text/xml", `<books><book isbn="1"><title>Emma</title></book><book isbn="2"><title>Persuasion</title></book></books>`)
	// Output:
	// item {"title":"Emma","isbn":"1"}
	// item {"title":"Persuasion","isbn":"2"}
}

func ExampleCSVFeed() {
	prices := legs.CSVFeed{
		Delimiter: ";",
		Fields:    map[string]string{"name": "Artikel", "price": "Preis"},
	}
	s := spider.Spider{Legs: []spider.Leg{prices.Leg()}}
	showTyped(s, "https://shop.example/prices.csv", "text/csv", "Nr;Artikel;Preis\n1;Clog;12,50\n")
	// Output: item {"name":"Clog","price":"12,50"}
}
