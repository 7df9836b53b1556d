package legs_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spider/spidertest"
)

// The examples of SEP-016, one by one and combined. What each gives stands in
// testdata/sep016; the same spiders in YAML give the same.

const (
	sepCategory = "http://shop.example/category.php?id=1"
	sepProduct  = "http://shop.example/product.php?id=1"
)

// sepGolden reads a page of testdata/sep016.
func sepGolden(t *testing.T, s spider.Spider, url, file, golden string) {
	t.Helper()
	s.Name = "my-spider"
	spidertest.Page{URL: url, File: "testdata/sep016/" + file, GoldenFile: "testdata/sep016/" + golden + ".golden.json"}.Golden(t, s)
}

// A sepItem is what a product page gives.
type sepItem struct {
	Name         string `json:"name"`
	SupplierName string `json:"supplier_name"`
	SupplierID   string `json:"supplier_id"`
}

// parseProduct reads a product page, as the SEP's parse_product does.
func parseProduct(_ context.Context, page *spider.Page, out *spider.Output) error {
	if name := page.CSS("h1.product::text"); name.Len() > 0 {
		out.Item(sepItem{name.Get(), page.CSS(".supplier::text").Get(), page.CSS(".supplier-id::text").Get()})
	}
	return nil
}

// parseCategory reads a category page, as the SEP's parse_category does.
func parseCategory(_ context.Context, page *spider.Page, out *spider.Output) error {
	out.Item(struct {
		Category string `json:"category"`
	}{page.CSS("h1.category::text").Get()})
	return nil
}

func TestSEP016RegexHtmlLinkExtractor(t *testing.T) {
	s := spider.Spider{
		Parse: parseProduct,
		Legs:  []spider.Leg{legs.RegexLinks{LinkOptions: extract.LinkOptions{Allow: []string{`/product.php?.*`}}}.Leg()},
	}
	sepGolden(t, s, sepCategory, "category.html", "regex-links-category")
	sepGolden(t, s, sepProduct, "product.html", "regex-links-product")
}

func TestSEP016Rss2LinkExtractor(t *testing.T) {
	s := spider.Spider{Name: "my-spider", Legs: []spider.Leg{legs.FeedLinks{}.Leg()}}
	spidertest.Page{
		URL: "http://shop.example/news.rss", File: "testdata/sep016/news.rss",
		Headers: http.Header{"Content-Type": {"application/rss+xml"}}, GoldenFile: "testdata/sep016/feed-links.golden.json",
	}.Golden(t, s)
	// The SEP looks at the Content-Type, so that links of HTML are left.
	sepGolden(t, s, sepCategory, "category.html", "feed-links-category")
}

// sepCallbacks are the methods of the SEP's spider, and sepRules its rules.
func sepCallbacks() map[string]spider.Callback {
	return map[string]spider.Callback{"parse_product": parseProduct, "parse_category": parseCategory}
}

func sepRules() legs.CallbackRules {
	return legs.CallbackRules{Rules: []legs.CallbackRule{
		{URL: `/product.php.*`, Callback: "parse_product"},
		{URL: `/category.php.*`, Callback: "parse_category"},
	}}
}

func TestSEP016CallbackRules(t *testing.T) {
	s := spider.Spider{Callbacks: sepCallbacks(), Legs: []spider.Leg{sepRules().Leg()}}
	sepGolden(t, s, sepCategory, "category.html", "callback-rules-category")
	sepGolden(t, s, sepProduct, "product.html", "callback-rules-product")
	sepGolden(t, s, "http://shop.example/about.html", "product.html", "callback-rules-none")
}

func TestSEP016CanonicalizeUrl(t *testing.T) {
	s := spider.Spider{
		Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			out.FollowAll(page.CSS("a::attr(href)").All(), "")
			return nil
		},
		Legs: []spider.Leg{legs.Canonicalize{Rules: []string{"sort_query", "normalize_escapes"}}.Leg()},
	}
	sepGolden(t, s, sepCategory, "category.html", "canonicalize")
}

func TestSEP016ItemIdSetter(t *testing.T) {
	s := spider.Spider{
		Parse: parseProduct,
		Legs:  []spider.Leg{legs.ItemID{IDField: "guid", IDFieldsToHash: []string{"supplier_name", "supplier_id"}}.Leg()},
	}
	sepGolden(t, s, sepProduct, "product.html", "item-id")
}

func TestSEP016CombiningMultipleLegSpiders(t *testing.T) {
	s := spider.Spider{
		Callbacks: sepCallbacks(),
		Legs: []spider.Leg{
			legs.RegexLinks{LinkOptions: extract.LinkOptions{Allow: []string{`/product.php?.*`}}}.Leg(),
			sepRules().Leg(),
			legs.Canonicalize{Rules: []string{"sort_query", "normalize_escapes"}}.Leg(),
			legs.ItemID{IDField: "guid", IDFieldsToHash: []string{"supplier_name", "supplier_id"}, Missing: "keep"}.Leg(),
		},
	}
	sepGolden(t, s, sepCategory, "category.html", "combined-category")
	sepGolden(t, s, sepProduct, "product.html", "combined-product")
}
