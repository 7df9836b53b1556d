package extract_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/weburl"
	"golang.org/x/net/html"
)

const benchURL = "http://127.0.0.1:8901/p/7"

// shopPage makes a page like those of a shop: 17 KB, 60 links, of which 30 lead
// to categories, and five fields.
func shopPage() []byte {
	r := rand.New(rand.NewPCG(7, 7))
	words := []string{"kettle", "lantern", "basket", "inkwell", "quilt", "oilcan", "saucer", "zither"}
	var b bytes.Buffer
	b.WriteString(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Product 7</title>` +
		`<link rel="stylesheet" href="/static/s.css"></head><body>` + "\n<nav><ul>")
	for i := range 30 {
		fmt.Fprintf(&b, "<li><a href=\"/p/%d\">Category %s %d</a></li>\n", i, words[i%len(words)], i)
	}
	b.WriteString(`</ul></nav>` + "\n" + `<main><h1 class="name">Product 7</h1><p class="price">&pound;12.07</p>` +
		`<p class="sku">SKU-000007</p><div class="desc">`)
	for range 24 {
		b.WriteString(`<p class="para">`)
		for range 78 {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		b.WriteString("</p>\n")
	}
	b.WriteString(`</div><ul class="tags">`)
	for range 5 {
		fmt.Fprintf(&b, `<li class="tag">%s</li>`, words[r.IntN(len(words))])
	}
	b.WriteString(`</ul><ul class="related">`)
	for range 30 {
		to := 100 + r.IntN(20_000)
		fmt.Fprintf(&b, "<li><a class=\"rel\" href=\"/p/%d\">Related %d</a></li>\n", to, to)
	}
	b.WriteString("</ul></main></body></html>\n")
	return b.Bytes()
}

type product struct {
	Name, Price, SKU string
	Tags             []string
	URL              string
}

// readShopPage does what a spider does with such a page.
func readShopPage(body []byte, links *extract.LinkExtractor) (product, []extract.Link) {
	doc := extract.NewDocument(body, "text/html; charset=utf-8", benchURL)
	return product{
		Name:  doc.CSS("h1.name::text").Get(),
		Price: doc.CSS("p.price::text").Get(),
		SKU:   doc.CSS("p.sku::text").Get(),
		Tags:  doc.CSS("li.tag::text").All(),
		URL:   benchURL,
	}, links.Extract(doc)
}

// wikiPage makes a page like an article of an encyclopedia: 128 KB, 614 links in
// running text, lists and a table.
func wikiPage() []byte {
	r := rand.New(rand.NewPCG(9, 9))
	words := strings.Fields("the of a language goroutine channel type interface compiler 2009 and released memory with package function")
	var b bytes.Buffer
	b.WriteString(`<!DOCTYPE html><html lang="en" dir="ltr"><head><meta charset="UTF-8"/><title>An article</title>` +
		`<link rel="stylesheet" href="/w/load.css"/><script>var a = {"b": 1};</script></head><body class="ltr ns-0">` +
		`<div id="content"><h1 id="firstHeading" class="heading">An article</h1><div id="bodyContent">` + "\n")
	text := func(n int) {
		for range n {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(' ')
		}
	}
	links := 0
	for section := range 38 {
		fmt.Fprintf(&b, `<h2><span class="headline" id="s%d">Section %d</span></h2>`+"\n<p>", section, section)
		for range 12 {
			text(12)
			fmt.Fprintf(&b, `<a href="/wiki/Article_%d" title="Article %d">article <i>%d</i></a> `, links, links, links)
			links++
		}
		b.WriteString("</p>\n<ul>")
		for range 4 {
			fmt.Fprintf(&b, `<li class="item"><sup id="ref-%d" class="reference"><a href="#note-%d"><span>[</span>%d<span>]</span></a></sup> `+
				`<span class="citation web"><a rel="nofollow" class="external text" href="http://site%d.example.org/page?id=%d&amp;v=2">`, links, links, links, links, links)
			text(4)
			b.WriteString("</a>. ")
			text(14)
			b.WriteString("</span></li>\n")
			links++
		}
		b.WriteString("</ul>\n<table class=\"infobox\"><tr><th>a</th><td>")
		text(12)
		b.WriteString("</td></tr></table>\n")
	}
	for ; links < 613; links++ {
		fmt.Fprintf(&b, `<a href="/w/index.php?title=T&amp;oldid=%d">old</a> `, links)
	}
	b.WriteString("</div></div></body></html>\n")
	return b.Bytes()
}

func readWikiPage(body []byte, links *extract.LinkExtractor) ([]string, []extract.Link) {
	doc := extract.NewDocument(body, "text/html; charset=utf-8", wikiURL)
	return []string{
		doc.CSS("#firstHeading::text").Get(),
		doc.CSS("title::text").Get(),
		doc.CSS("table.infobox td::text").Get(),
		doc.CSS("h2 span.headline::text").Get(),
		doc.CSS("html::attr(lang)").Get(),
	}, links.Extract(doc)
}

const wikiURL = "http://127.0.0.1:8901/wiki/An_article"

// BenchmarkPage does what a crawl does with a page, parse, five fields, links
// and their fingerprints, beside html.Parse of the same page: "times-parse" is
// how many times as long it takes. The two take turns, so that what else the
// machine does slows down both.
func BenchmarkPage(b *testing.B) {
	for _, page := range []struct {
		name string
		body []byte
		read func(body []byte, links *extract.LinkExtractor) []extract.Link
	}{
		{"shop", shopPage(), func(body []byte, links *extract.LinkExtractor) []extract.Link {
			_, found := readShopPage(body, links)
			return found
		}},
		{"wiki", wikiPage(), func(body []byte, links *extract.LinkExtractor) []extract.Link {
			_, found := readWikiPage(body, links)
			return found
		}},
	} {
		b.Run(page.name, func(b *testing.B) {
			b.SetBytes(int64(len(page.body)))
			b.ReportAllocs()
			var links extract.LinkExtractor
			var parses time.Duration
			for b.Loop() {
				for _, l := range page.read(page.body, &links) {
					u, err := weburl.Parse(l.URL)
					if err != nil {
						b.Fatal(err)
					}
					weburl.RequestFingerprint("GET", u, nil, nil)
				}
				b.StopTimer()
				begun := time.Now()
				if _, err := html.Parse(bytes.NewReader(page.body)); err != nil {
					b.Fatal(err)
				}
				parses += time.Since(begun)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(parses), "times-parse")
		})
	}
}

func BenchmarkLinks(b *testing.B) {
	doc := extract.NewDocument(shopPage(), "text/html; charset=utf-8", benchURL)
	b.ReportAllocs()
	var links extract.LinkExtractor
	for b.Loop() {
		links.Extract(doc)
	}
}

func BenchmarkFields(b *testing.B) {
	doc := extract.NewDocument(shopPage(), "text/html; charset=utf-8", benchURL)
	b.Run("css", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			doc.CSS("h1.name::text").Get()
			doc.CSS("p.price::text").Get()
			doc.CSS("p.sku::text").Get()
			doc.CSS("li.tag::text").All()
		}
	})
	b.Run("xpath", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			doc.XPath("//h1[@class='name']/text()").Get()
			doc.XPath("//p[@class='price']/text()").Get()
			doc.XPath("//p[@class='sku']/text()").Get()
			doc.XPath("//li[@class='tag']/text()").All()
		}
	})
}

func TestWikiPageOfTheBenchmark(t *testing.T) {
	body := wikiPage()
	fields, links := readWikiPage(body, &extract.LinkExtractor{})
	if len(body) < 125_000 || len(body) > 135_000 {
		t.Errorf("the page has %d bytes, want about 128 KB", len(body))
	}
	if len(links) != 614 {
		t.Errorf("got %d links, want 614", len(links))
	}
	if slices.Contains(fields, "") {
		t.Errorf("a field is missing: %q", fields)
	}
}

func TestShopPageOfTheBenchmark(t *testing.T) {
	body := shopPage()
	item, links := readShopPage(body, &extract.LinkExtractor{})
	if len(body) < 16_000 || len(body) > 18_000 {
		t.Errorf("the page has %d bytes, want about 17 KB", len(body))
	}
	if item.Name != "Product 7" || item.Price != "£12.07" || item.SKU != "SKU-000007" || len(item.Tags) != 5 {
		t.Errorf("got %+v", item)
	}
	if len(links) != 60 {
		t.Errorf("got %d links, want 60", len(links))
	}
}
