package legs_test

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/sitemap"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spider/spidertest"
)

func TestFeedLinksReadsFeeds(t *testing.T) {
	const rss = `<rss version="2.0"><channel><link>/</link><item><link>/a?x=1&amp;y=2</link></item><item><guid>http://shop.example/b</guid></item></channel></rss>`
	tests := []struct {
		name, contentType, body string
		want                    []string
	}{
		{"RSS 2.0", "application/rss+xml", rss, []string{"/a?x=1&y=2", "/b"}},
		{"RSS that is said to be a page", "text/html", "<?xml version='1.0'?>\n" + rss, []string{"/a?x=1&y=2", "/b"}},
		{"RSS 0.9", "text/xml", `<rdf:RDF xmlns:rdf="r" xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><link>/</link></channel><item><link>/a</link></item></rdf:RDF>`, []string{"/a"}},
		{"RSS 0.91", "text/xml", `<!DOCTYPE rss SYSTEM "http://my.netscape.com/publish/formats/rss-0.91.dtd"><rss version="0.91"><channel><item><link>/a</link></item></channel></rss>`, []string{"/a"}},
		{"RSS 1.0", "application/rdf+xml", `<rdf:RDF xmlns:rdf="r"><item rdf:about="http://shop.example/a"></item></rdf:RDF>`, []string{"/a"}},
		{"Atom", "application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="enclosure" href="/a.mp3"/><link href="/a"/></entry></feed>`, []string{"/a"}},
		{"JSON Feed", "application/feed+json", `{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"/a"},{"id":"2","external_url":"http://other.example/b"},{}]}`, []string{"/a", "http://other.example/b"}},
		{"a broken one", "text/xml", `<rss><channel><item><title>a & b < c &eacute; ` + "\x08" + `</title><link>/a</link></item><item><link>/b</li`, []string{"/a"}},
		{"a page", "text/html", linksPage, nil},
		{"a sitemap", "text/xml", shopSitemap, nil},
		{"JSON of another kind", "application/json", `{"items":[{"url":"/a"}]}`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			page := newPage("http://shop.example/feed", test.body, nil)
			page.Headers.Set("Content-Type", test.contentType)
			got := read(t, spider.Spider{Legs: []spider.Leg{legs.FeedLinks{}.Leg()}}, page).urls()
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], "http://shop.example")
			}
			equal(t, "requests", got, test.want)
		})
	}
}

func TestFeedLinksOptions(t *testing.T) {
	const feed = `<rss><channel><item><link>/a/1</link></item><item><link>/a/2</link></item><item><link>/b</link><pubDate>Mon</pubDate></item><item><link>mailto:a@b.example</link></item></channel></rss>`
	follow := legs.Follow{Callback: "product", Priority: 1}
	tests := []struct {
		name string
		leg  legs.FeedLinks
		want []string
	}{
		{"allow", legs.FeedLinks{Allow: []string{"/a/"}}, []string{"/a/1 ", "/a/2 "}},
		{"deny", legs.FeedLinks{Allow: []string{"/a/"}, Deny: []string{"2$"}}, []string{"/a/1 "}},
		{"follow", legs.FeedLinks{Follow: follow, Deny: []string{"/a/"}}, []string{"/b product"}},
		{"only", legs.FeedLinks{Only: legs.Only{URLs: []string{"/other"}}}, nil},
		{"process_request", legs.FeedLinks{ProcessRequest: func(_ *spider.Page, e sitemap.Entry, req *crawl.Request) *crawl.Request {
			if e.LastMod == "" {
				return nil
			}
			req.Callback = "product"
			return req
		}}, []string{"/b product"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := spider.Spider{Callbacks: map[string]spider.Callback{"product": nothing}, Legs: []spider.Leg{test.leg.Leg()}}
			equal(t, "requests", read(t, s, newPage("http://shop.example/feed", feed, nil)).calls(), test.want)
		})
	}
	wantMistakes(t, legs.FeedLinks{Allow: []string{"("}, Deny: []string{"["}, Follow: legs.Follow{Callback: "novel"}}.Leg(),
		"option allow", "option deny", "option callback")
}

func TestFeedsThatWereCut(t *testing.T) {
	packed := zip(t, "<rss><channel>"+strings.Repeat("<item><link>/a</link></item>", 2000))
	for name, page := range map[string]*spider.Page{
		"packed": newPage("http://shop.example/feed", string(packed[:len(packed)-10]), nil),
		"JSON":   newPage("http://shop.example/feed", `{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"/a"}`, nil),
	} {
		page.Headers.Set("Content-Type", "application/json")
		got := read(t, spider.Spider{Legs: []spider.Leg{legs.FeedLinks{}.Leg()}}, page)
		equal(t, name, got.stats["leg/feed_links/broken_count"], 1)
		if len(got.requests) == 0 || got.requests[0].URL != "http://shop.example/a" {
			t.Errorf("%s: the entries before the cut are %v", name, got.urls())
		}
	}
}

func TestOddEntriesOfJSONFeedsArePassedOver(t *testing.T) {
	tests := []struct {
		name, feed  string
		want        []string
		odd, broken int64
	}{
		{"a number", `{"version":"V","items":[{"url":"/a"},{"url":5},{"url":"/b"}]}`, []string{"/a", "/b"}, 1, 0},
		{"no objects", `{"version":"V","items":["/x",null,[],{"external_url":{}},{"url":"/b"}]}`, []string{"/b"}, 3, 0},
		{"odd dates", `{"version":"V","items":[{"url":"/a","date_modified":5,"date_published":"2020"}]}`, []string{"/a"}, 0, 0},
		{"odd elsewhere", `{"version":"V","title":5,"authors":{},"items":[{"url":"/a","tags":7}],"hubs":1}`, []string{"/a"}, 0, 0},
		{"no list", `{"version":"V","items":{"url":"/a"}}`, nil, 0, 1},
		{"a fault in between", `{"version":"V","items":[{"url":"/a"},{"url":}]}`, []string{"/a"}, 0, 1},
		{"a list", `["V"]`, nil, 0, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			page := newPage("http://shop.example/feed", strings.Replace(test.feed, "V", "https://jsonfeed.org/version/1", 1), nil)
			page.Headers.Set("Content-Type", "application/feed+json")
			got := read(t, spider.Spider{Legs: []spider.Leg{legs.FeedLinks{}.Leg()}}, page)
			var urls []string
			for _, url := range got.urls() {
				urls = append(urls, strings.TrimPrefix(url, "http://shop.example"))
			}
			equal(t, "requests", urls, test.want)
			equal(t, "odd ones", got.stats["leg/feed_links/bad_entry_count"], test.odd)
			equal(t, "broken", got.stats["leg/feed_links/broken_count"], test.broken)
		})
	}
}

func TestFeedLinksGolden(t *testing.T) {
	s := spider.Spider{Name: "news", Legs: []spider.Leg{legs.FeedLinks{Deny: []string{"/ads/"}}.Leg()}}
	for _, file := range []string{"news.rss", "blog.atom"} {
		t.Run(file, func(t *testing.T) {
			spidertest.Golden(t, s, "", "https://news.example/"+file, "testdata/"+file)
		})
	}
}

func TestFeedLinksCrawlsTheShop(t *testing.T) {
	for _, feed := range []string{"/feed.xml", "/atom.xml"} {
		got := crawlShop(t, 40, spider.Spider{
			StartURLs: []string{worldtest.Host + feed},
			Callbacks: map[string]spider.Callback{"product": gives("product")},
			Legs:      []spider.Leg{legs.FeedLinks{Follow: legs.Follow{Callback: "product"}}.Leg()},
		})
		equal(t, "pages", got.Paths(), sorted(append(products(20, 40), feed)))
		equal(t, "items", len(got.Items), 20)
	}
}
