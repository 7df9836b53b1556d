package legs_test

import (
	"context"
	"crypto/sha1"
	"fmt"
	"slices"
	"testing"

	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/site"
	"github.com/skitterhq/skitter/shared/spider"
)

// crawlShop has legs crawl the built-in site.
func crawlShop(t *testing.T, pages int, s spider.Spider) worldtest.Crawl {
	t.Helper()
	shop, err := site.New(site.Options{Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	return worldtest.CrawlSite(t, s, shop, worldtest.CrawlOptions{})
}

// products are the paths of the products from, from+1, … to-1, sorted as texts.
func products(from, to int) []string {
	var paths []string
	for n := from; n < to; n++ {
		paths = append(paths, fmt.Sprintf("/p/%d", n))
	}
	return sorted(paths)
}

func TestRegexLinksCrawlsTheShop(t *testing.T) {
	got := crawlShop(t, 40, spider.Spider{
		StartURLs: []string{worldtest.Host + "/"},
		Legs:      []spider.Leg{legs.RegexLinks{LinkOptions: extract.LinkOptions{Allow: []string{`/p/\d+$`}}}.Leg()},
	})
	equal(t, "pages", got.Paths(), append([]string{"/"}, products(0, 40)...))
}

// listPages are the paths of the quotations' pages, sorted as texts.
func listPages() []string {
	var paths []string
	for n := 1; n <= 10; n++ {
		paths = append(paths, fmt.Sprintf("/quotes/page/%d/", n))
	}
	return sorted(paths)
}

// authorPages are the paths of the authors' pages, sorted.
func authorPages() []string {
	return []string{
		"/author/Bram-Tolliven/", "/author/Emeka-Dorrun/", "/author/Ines-Marrowby/", "/author/Jun-Hallorand/", "/author/Mirela-Stanecu/",
		"/author/Oskar-Lindqvale/", "/author/Pia-Westerby/", "/author/Ruta-Callowen/", "/author/Salma-Ortheil/", "/author/Tobias-Fennick/",
	}
}

func TestCallbackRulesCrawlsTheQuotations(t *testing.T) {
	got := crawlShop(t, 1, spider.Spider{
		StartURLs: []string{worldtest.Host + "/quotes/"}, // redirected to its first page
		Callbacks: map[string]spider.Callback{
			"list": func(_ context.Context, page *spider.Page, out *spider.Output) error {
				out.FollowAll(page.CSS(`li.next a::attr(href), a[href^="/author/"]::attr(href)`).All(), "")
				return nil
			},
			"author": func(_ context.Context, page *spider.Page, out *spider.Output) error {
				out.Item(map[string]string{"author": page.CSS("h3::text").Get()})
				return nil
			},
		},
		Legs: []spider.Leg{legs.CallbackRules{Rules: []legs.CallbackRule{{URL: "/author/", Callback: "author"}, {URL: "/quotes/page/", Callback: "list"}}}.Leg()},
	})
	equal(t, "pages", got.Paths(), slices.Concat(authorPages(), []string{"/quotes/"}, listPages()))
	equal(t, "items", len(got.Items), 10)
	equal(t, "the first", got.Items[0], `{"author":"Bram Tolliven"}`)
}

func TestCanonicalizeCrawlsTheShop(t *testing.T) {
	got := crawlShop(t, 3, spider.Spider{
		StartURLs: []string{worldtest.Host + "/p/0?utm_source=start#top"},
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			for _, link := range page.CSS("a.rel::attr(href)").All() {
				out.Follow(fmt.Sprintf("%s?sid=%d&utm_medium=%s", link, len(link), page.CSS("h1::text").Get()), "")
			}
			return nil
		},
		Legs: []spider.Leg{legs.Canonicalize{Rules: []string{"drop_tracking_params", "drop_session_ids", "drop_fragment"}}.Leg()},
	})
	equal(t, "pages", got.Fetched, map[string]int{"/p/0": 1, "/p/1": 1, "/p/2": 1})
}

func TestItemIDCrawlsTheShop(t *testing.T) {
	got := crawlShop(t, 30, spider.Spider{
		StartURLs: []string{worldtest.Host + "/p/0"},
		Legs: []spider.Leg{
			legs.RegexLinks{LinkOptions: extract.LinkOptions{Allow: []string{`/p/\d+$`}}}.Leg(),
			legs.Fields{Fields: legs.FieldList{{Name: "sku", CSS: "p.sku::text"}, {Name: "price", CSS: "p.price::text", Type: "price"}}}.Leg(),
			legs.ItemID{IDFieldsToHash: []string{"sku"}}.Leg(),
		},
	})
	var want []string
	for n := range 30 {
		sku := fmt.Sprintf("SKU-%06d", n)
		pence := 500 + n*137%9000
		want = append(want, fmt.Sprintf(`{"sku":"%s","price":%d.%02d,"guid":"%x"}`, sku, pence/100, pence%100, sha1.Sum([]byte(`{"sku":"`+sku+`"}`))))
	}
	equal(t, "items", got.Items, sorted(want))
}

func TestPaginationCrawlsTheQuotations(t *testing.T) {
	for name, leg := range map[string]legs.Pagination{
		"by its link":               {Next: legs.CSS("li.next a")},
		"by XPath":                  {Next: legs.XPath(`//li[@class="next"]/a/@href`)},
		"by number, to the tenth":   {PagePattern: `/page/(\d+)/`, MaxPages: 10},
		"by number, to the last":    {PagePattern: `/page/(\d+)/`, Until: legs.XPath(`//ul[@class="pager"][not(li[@class="next"])]`)},
		"by link, not past the end": {Next: legs.CSS("li.next a"), MaxPages: 11},
	} {
		t.Run(name, func(t *testing.T) {
			got := crawlShop(t, 1, spider.Spider{StartURLs: []string{worldtest.Host + "/quotes/page/1/"}, Parse: gives("page"), Legs: []spider.Leg{leg.Leg()}})
			equal(t, "pages", got.Paths(), listPages())
			equal(t, "items", len(got.Items), 10)
		})
	}
	got := crawlShop(t, 1, spider.Spider{
		StartURLs: []string{worldtest.Host + "/quotes/page/1/"}, Parse: nothing,
		Legs: []spider.Leg{legs.Pagination{Next: legs.CSS("li.next a"), MaxPages: 4}.Leg()},
	})
	equal(t, "four pages", got.Paths(), []string{"/quotes/page/1/", "/quotes/page/2/", "/quotes/page/3/", "/quotes/page/4/"})
}

func TestFieldsCrawlTheQuotations(t *testing.T) {
	got := crawlShop(t, 1, spider.Spider{
		StartURLs: []string{worldtest.Host + "/quotes/page/1/"},
		Legs: []spider.Leg{
			legs.Fields{Each: legs.CSS("div.quote"), Fields: legs.FieldList{
				{Name: "text", CSS: "span.text::text"}, {Name: "tags", CSS: "a.tag::text", All: true}, {Name: "author", CSS: "small.author::text"},
			}}.Leg(),
			legs.Pagination{Next: legs.CSS("li.next a")}.Leg(),
		},
	})
	equal(t, "items", len(slices.Compact(got.Items)), 100)
	equal(t, "the first", got.Items[0], `{"text":"“A borrowed ladder asks for nothing twice.”","tags":["tools","paper"],"author":"Jun Hallorand"}`)
}

func TestCrawlRulesCrawlTheQuotations(t *testing.T) {
	got := crawlShop(t, 1, spider.Spider{
		StartURLs: []string{worldtest.Host + "/quotes/page/1/"},
		Parse:     gives("start"),
		Callbacks: map[string]spider.Callback{"author": gives("author")},
		Legs: []spider.Leg{legs.CrawlRules{Rules: []legs.Rule{
			{LinkOptions: extract.LinkOptions{Allow: []string{"/author/"}}, Callback: "author"},
			{LinkOptions: extract.LinkOptions{Allow: []string{"/quotes/page/"}}},
		}}.Leg()},
	})
	equal(t, "pages", got.Paths(), slices.Concat(authorPages(), listPages()))
	equal(t, "items", got.Items, append(slices.Repeat([]string{`{"by":"author"}`}, 10), `{"by":"start"}`))
}
