package legs_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/sitemap"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spider/spidertest"
)

const (
	shopSitemap = `<?xml version="1.0"?><urlset xmlns:xhtml="x">
<url><loc>http://shop.example/p/1</loc><lastmod>2026-01-01</lastmod><xhtml:link rel="alternate" hreflang="de" href="/de/p/1"/></url>
<url><loc>/about</loc></url><url><loc>mailto:a@b.example</loc></url>
</urlset>`
	shopIndex = `<sitemapindex><sitemap><loc>/products.xml</loc></sitemap><sitemap><loc>/news.xml</loc><lastmod>2026-02-01</lastmod></sitemap></sitemapindex>`
)

// asked is a page of XML that the leg itself has asked for.
func asked(url, body string) *spider.Page {
	page := newPage(url, body, &crawl.Request{URL: url, Callback: "sitemap"})
	page.Headers.Set("Content-Type", "application/xml")
	return page
}

func withSitemap(o legs.Sitemap) spider.Spider {
	return spider.Spider{
		Parse: nothing, Callbacks: map[string]spider.Callback{"product": nothing}, Errbacks: map[string]spider.Errback{"sorry": nothing},
		Legs: []spider.Leg{o.Leg()},
	}
}

// calls are URL and callback of each request.
func (o output) calls() []string {
	var calls []string
	for _, r := range o.requests {
		calls = append(calls, strings.TrimPrefix(r.URL, "http://shop.example")+" "+r.Callback)
	}
	return calls
}

func TestSitemapRules(t *testing.T) {
	product := legs.SitemapRule{URL: "/p/", Follow: legs.Follow{Callback: "product"}}
	tests := []struct {
		name string
		leg  legs.Sitemap
		body string
		want []string
	}{
		{"all pages for parse by default", legs.Sitemap{}, shopSitemap, []string{"/p/1 ", "/about "}},
		{"what no rule matches is not asked for", legs.Sitemap{SitemapRules: []legs.SitemapRule{product}}, shopSitemap, []string{"/p/1 product"}},
		{"the first rule wins", legs.Sitemap{SitemapRules: []legs.SitemapRule{{URL: "shop"}, product}}, shopSitemap, []string{"/p/1 ", "/about "}},
		{"alternate links", legs.Sitemap{SitemapAlternateLinks: true, SitemapRules: []legs.SitemapRule{product}}, shopSitemap, []string{"/p/1 product", "/de/p/1 product"}},
		{"an index", legs.Sitemap{}, shopIndex, []string{"/products.xml sitemap", "/news.xml sitemap"}},
		{"sitemap_follow", legs.Sitemap{SitemapFollow: []string{"/prod", "/x"}}, shopIndex, []string{"/products.xml sitemap"}},
		{"a list in text", legs.Sitemap{}, "http://shop.example/a\nhttp://shop.example/b\n", []string{"/a ", "/b "}},
		{"a feed", legs.Sitemap{}, "<rss><channel><item><link>/a</link></item></channel></rss>", []string{"/a "}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			equal(t, "requests", read(t, withSitemap(test.leg), asked("http://shop.example/s.xml", test.body)).calls(), test.want)
		})
	}
	got := read(t, withSitemap(legs.Sitemap{}), asked("http://shop.example/s.xml", shopSitemap))
	equal(t, "addresses that lead to no page", got.stats["link/not_page_count"], 1)
}

func TestSitemapAsksAsItIsTold(t *testing.T) {
	o := legs.Sitemap{SitemapRules: []legs.SitemapRule{{URL: "/p/", Follow: legs.Follow{Callback: "product", Errback: "sorry", Priority: 2, Meta: crawl.Values{"a": 1}}}}}
	got := read(t, withSitemap(o), asked("http://shop.example/s.xml", shopSitemap)).requests
	equal(t, "requests", got, []*crawl.Request{{URL: "http://shop.example/p/1", Callback: "product", Errback: "sorry", Priority: 2, Meta: crawl.Values{"a": 1}}})
}

func TestSitemapReadsRobots(t *testing.T) {
	page := newPage("http://shop.example/robots.txt", "User-agent: *\nSitemap: /s.xml\nsitemap: http://other.example/t.xml\n<base href=\"/x/\">\n", nil)
	equal(t, "requests", read(t, withSitemap(legs.Sitemap{}), page).calls(), []string{"/s.xml sitemap", "http://other.example/t.xml sitemap"})
}

func TestSitemapsAreKnownByWhatStandsInThem(t *testing.T) {
	tests := []struct {
		name, callback, body string
		want                 int
	}{
		{"a sitemap", "", shopSitemap, 2},
		{"a sitemap for parse", "parse", shopSitemap, 2},
		{"one that is packed", "", string(zip(t, shopSitemap)), 2},
		{"an index in another namespace", "", strings.ReplaceAll(shopIndex, "<sitemapindex", "<SitemapIndex xmlns='x'"), 2},
		{"one that another callback has asked for", "product", shopSitemap, 0},
		{"a list in text", "", "http://shop.example/a\n", 0},
		{"a page that speaks of them", "", "<!DOCTYPE html><p>a &lt;urlset> " + shopSitemap, 0},
		{"a feed", "", "<rss><channel><item><link>/a</link></item></channel></rss>", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			page := newPage("http://shop.example/s", test.body, &crawl.Request{URL: "http://shop.example/s", Callback: test.callback})
			equal(t, "requests", len(read(t, withSitemap(legs.Sitemap{}), page).requests), test.want)
		})
	}
}

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSitemapFilter(t *testing.T) {
	var kinds []sitemap.Kind
	o := legs.Sitemap{SitemapFilter: func(page *spider.Page, kind sitemap.Kind, entries iter.Seq[sitemap.Entry]) iter.Seq[sitemap.Entry] {
		kinds = append(kinds, kind)
		return func(yield func(sitemap.Entry) bool) {
			for e := range entries {
				if e.LastMod == "" {
					continue
				}
				e.Loc += "?from=" + page.Response.URL[len("http://shop.example/"):]
				if !yield(e) {
					return
				}
			}
		}
	}}
	equal(t, "pages", read(t, withSitemap(o), asked("http://shop.example/s.xml", shopSitemap)).calls(), []string{"/p/1?from=s.xml "})
	equal(t, "sitemaps", read(t, withSitemap(o), asked("http://shop.example/i.xml", shopIndex)).calls(), []string{"/news.xml?from=i.xml sitemap"})
	equal(t, "kinds", kinds, []sitemap.Kind{sitemap.URLSet, sitemap.Index})
}

func TestSitemapsThatAreNoneOrBroken(t *testing.T) {
	cut := zip(t, shopSitemap+strings.Repeat("<url><loc>/x</loc></url> ", 1000))
	own := asked("http://shop.example/s.xml", string(zip(t, shopSitemap)))
	own.Request.DownloadMaxsize = 200
	tests := []struct {
		name string
		page *spider.Page
		stat string
		want int
	}{
		{"no sitemap", asked("http://shop.example/s.xml", "<html>404"), "leg/sitemap/invalid_count", 0},
		{"nothing", asked("http://shop.example/s.xml", ""), "leg/sitemap/invalid_count", 0},
		{"one that was cut", asked("http://shop.example/s.xml", string(cut[:len(cut)-20])), "leg/sitemap/broken_count", 2},
		{"one that is too large", asked("http://shop.example/s.xml", string(zip(t, shopSitemap+strings.Repeat(" ", 2000)))), "leg/sitemap/broken_count", 2},
		{"one that is too large for its request", own, "leg/sitemap/broken_count", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := read(t, withSitemap(legs.Sitemap{MaxSize: 1000}), test.page)
			if got.stats[test.stat] != 1 || len(got.requests) < test.want {
				t.Errorf("stats %v, %d requests, want at least %d", got.stats, len(got.requests), test.want)
			}
		})
	}
}

func TestSitemapMistakesAreToldAtOnce(t *testing.T) {
	wantMistakes(t, legs.Sitemap{
		SitemapURLs: []string{"/sitemap.xml", "mailto:a@b.example"}, SitemapFollow: []string{"("}, MaxDepth: -1,
		SitemapRules: []legs.SitemapRule{{URL: "["}, {Follow: legs.Follow{Callback: "novel"}}},
	}.Leg(), `option sitemap_urls[0]: "/sitemap.xml"`, "option sitemap_urls[1]", "option sitemap_follow", "option max_depth",
		"option sitemap_rules[0]", `option sitemap_rules[1]: option callback: the spider has no callback "novel"`)
}

func TestSitemapGolden(t *testing.T) {
	s := withSitemap(legs.Sitemap{SitemapAlternateLinks: true, SitemapRules: []legs.SitemapRule{{URL: "/p/", Follow: legs.Follow{Callback: "product"}}, {}}})
	s.Name = "shop"
	for _, file := range []string{"sitemap.xml", "sitemap_index.xml", "robots.txt"} {
		t.Run(file, func(t *testing.T) {
			spidertest.Golden(t, s, "sitemap", "https://shop.example/"+file, "testdata/"+file)
		})
	}
}

func TestSitemapCrawlsTheShop(t *testing.T) {
	product := []legs.SitemapRule{{URL: `/p/\d+$`, Follow: legs.Follow{Callback: "product"}}}
	for name, start := range map[string]spider.Spider{
		"sitemap_urls": {Legs: []spider.Leg{legs.Sitemap{SitemapURLs: []string{worldtest.Host + "/sitemap_index.xml"}, SitemapRules: product}.Leg()}},
		"packed":       {Legs: []spider.Leg{legs.Sitemap{SitemapURLs: []string{worldtest.Host + "/sitemap.xml.gz"}, SitemapRules: product}.Leg()}},
		"robots.txt":   {Legs: []spider.Leg{legs.Sitemap{SitemapURLs: []string{worldtest.Host + "/robots.txt"}, SitemapRules: product}.Leg()}},
		"start URLs":   {StartURLs: []string{worldtest.Host + "/sitemap.xml"}, Legs: []spider.Leg{legs.Sitemap{SitemapRules: product}.Leg()}},
	} {
		t.Run(name, func(t *testing.T) {
			start.Callbacks = map[string]spider.Callback{"product": gives("product")}
			got := crawlShop(t, 40, start)
			var pages []string
			for path := range got.Fetched {
				if strings.HasPrefix(path, "/p/") {
					pages = append(pages, path)
				}
			}
			slices.Sort(pages)
			equal(t, "pages", pages, products(0, 40))
			equal(t, "items", len(got.Items), 40)
		})
	}
}

// indexes serves an index in an index without end, which also lists itself and
// one that is not there.
func indexes(w http.ResponseWriter, r *http.Request) {
	var n int
	if _, err := fmt.Sscanf(r.URL.Path, "/%d.xml", &n); err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprintf(w, "<sitemapindex><sitemap><loc>/%d.xml</loc></sitemap><sitemap><loc>/gone.xml</loc></sitemap><sitemap><loc>/%d.xml</loc></sitemap></sitemapindex>", n, n+1)
}

func TestIndexesWithoutEndAreLeft(t *testing.T) {
	got := worldtest.CrawlSite(t, spider.Spider{
		Legs: []spider.Leg{legs.Sitemap{SitemapURLs: []string{worldtest.Host + "/0.xml"}, MaxDepth: 3}.Leg()},
	}, http.HandlerFunc(indexes), worldtest.CrawlOptions{})
	equal(t, "pages", got.Paths(), []string{"/0.xml", "/1.xml", "/2.xml", "/3.xml", "/gone.xml"})
	for path, n := range got.Fetched {
		if n != 1 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	// What is not asked for is counted once for each place where it stands.
	equal(t, "too deep", got.Stats["leg/sitemap/too_deep_count"], 3)
}
