package legs_test

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/site"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/weburl"
)

// productPage is a page of the built-in shop: 17 KB, 60 links, 5 fields.
func productPage(t testing.TB) []byte {
	t.Helper()
	shop, err := site.New(site.Options{Pages: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	shop.ServeHTTP(answer, httptest.NewRequest("GET", "/p/8", nil))
	return answer.Body.Bytes()
}

// articlePage is a page of running text: 128 KB, 614 links.
func articlePage() []byte {
	var b bytes.Buffer
	b.WriteString(`<!doctype html><html lang="en"><head><title>An article</title></head><body><h1 class="name">An article</h1>` +
		`<p class="price">none</p><p class="sku">A-1</p><ul class="tags"><li class="tag">text</li></ul><p>` + "\n")
	for n := range 614 {
		fmt.Fprintf(&b, `<span class="reference">%d</span> where more is said than <i>here</i>, about one thing and another, at length, see `+
			`<a href="/wiki/Article_%d?part=%d&amp;v=2" title="Article %d" class="internal">article %d</a>.`+"\n", n, n, n%7, n, n)
		if n%9 == 0 {
			b.WriteString("</p><h2>Part</h2><p>")
		}
	}
	b.WriteString("</p></body></html>\n")
	return b.Bytes()
}

func benchSpider(t testing.TB) *spider.Chain {
	t.Helper()
	registry, err := spider.NewRegistry(spider.Spider{Name: "bench", Legs: []spider.Leg{
		legs.RegexLinks{LinkOptions: extract.LinkOptions{Allow: []string{`/p/\d+$`, `/wiki/`}}}.Leg(),
		legs.Fields{Fields: legs.FieldList{
			{Name: "name", CSS: "h1.name::text", Required: true},
			{Name: "price", CSS: "p.price::text"},
			{Name: "sku", CSS: "p.sku::text"},
			{Name: "tags", CSS: "li.tag::text", All: true},
			{Name: "url", From: "url"},
		}}.Leg(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := registry.Get("bench")
	if err != nil {
		t.Fatal(err)
	}
	return spider.NewChain(bound, new(stats.Collector))
}

// readBench does what a crawl does with a page: parse it, run the legs, take
// the fingerprints of what they follow.
func readBench(t testing.TB, chain *spider.Chain, body []byte) (items, requests int) {
	page := newPage("http://127.0.0.1:8901/p/7", "", nil)
	page.Body = body
	for res, err := range chain.Process(t.Context(), page) {
		switch {
		case err != nil:
			t.Fatal(err)
		case res.Item != nil:
			items++
		default:
			requests++
			fingerprint(t, res.Request)
		}
	}
	return items, requests
}

func fingerprint(t testing.TB, req *crawl.Request) weburl.Fingerprint {
	u, err := weburl.Parse(req.URL)
	if err != nil {
		t.Fatal(err)
	}
	return weburl.RequestFingerprint(req.HTTPMethod(), u, req.Body, nil)
}

func benchPages(t testing.TB) map[string][]byte {
	return map[string][]byte{"shop": productPage(t), "article": articlePage()}
}

// BenchmarkLegs does all that is done with a page, with legs, beside html.Parse
// of the same page: "times-parse" is how many times as long it takes. The two
// take turns, so that what else the machine does slows down both.
func BenchmarkLegs(b *testing.B) {
	chain := benchSpider(b)
	for name, body := range benchPages(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			var parses time.Duration
			for b.Loop() {
				readBench(b, chain, body)
				b.StopTimer()
				begun := time.Now()
				if _, err := html.Parse(bytes.NewReader(body)); err != nil {
					b.Fatal(err)
				}
				parses += time.Since(begun)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(parses), "times-parse")
		})
	}
}

func TestPagesOfTheBenchmark(t *testing.T) {
	chain := benchSpider(t)
	for name, want := range map[string]struct{ bytes, links int }{"shop": {17_000, 60}, "article": {128_000, 614}} {
		body := benchPages(t)[name]
		if n := len(body); n < want.bytes*9/10 || n > want.bytes*11/10 {
			t.Errorf("%s has %d bytes, want about %d", name, n, want.bytes)
		}
		items, requests := readBench(t, chain, body)
		if items != 1 || requests != want.links {
			t.Errorf("%s gave %d items and %d requests, want 1 and %d", name, items, requests, want.links)
		}
	}
}
