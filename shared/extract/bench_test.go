package extract_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/skitterhq/skitter/shared/extract"
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

// BenchmarkPage reads a page: parse, five fields, 60 links.
func BenchmarkPage(b *testing.B) {
	body := shopPage()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	var links extract.LinkExtractor
	for b.Loop() {
		readShopPage(body, &links)
	}
}

// BenchmarkHTMLParse is what BenchmarkPage is measured against.
func BenchmarkHTMLParse(b *testing.B) {
	body := shopPage()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := html.Parse(bytes.NewReader(body)); err != nil {
			b.Fatal(err)
		}
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
	b.ReportAllocs()
	for b.Loop() {
		doc.CSS("h1.name::text").Get()
		doc.CSS("p.price::text").Get()
		doc.CSS("p.sku::text").Get()
		doc.CSS("li.tag::text").All()
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
