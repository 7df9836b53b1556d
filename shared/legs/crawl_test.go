package legs_test

import (
	"fmt"
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
