package extract_test

import (
	"encoding/base64"
	"runtime"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/extract"
	"golang.org/x/net/html"
)

func TestBase(t *testing.T) {
	const page = "http://example.com/a/p.html"
	tests := []struct{ name, html, want string }{
		{"none", "<p>x", page},
		{"URL-05: the first real one, however late", `<html><head><!-- <base href="/wrong/"> --><!--` + strings.Repeat("x", 8<<10) + `--><base target=x><base href=" /b/ "><base href="/second/">`, "http://example.com/b/"},
		{"in the body", `<body><p><base href="/b/">`, "http://example.com/b/"},
		{"another host", `<base href="//other.example/x/y">`, "http://other.example/x/y"},
		{"one that is no URL", `<base href="http://[/"><base href="/second/">`, page},
		{"data:", `<base href="data:text/html,x">`, page},
		{"javascript:", `<base href="javascript:x">`, page},
		{"in an svg it is none", `<svg><base href="/b/"></base></svg>`, page},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			doc := extract.NewDocument([]byte(test.html), "text/html", page)
			if got := doc.Base().String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestJSONHasNoBase(t *testing.T) {
	doc := extract.NewDocument([]byte(`{"a":"<base href=/b/>"}`), "application/json", "http://example.com/api/1")
	if u, err := doc.Resolve("2"); err != nil || u.String() != "http://example.com/api/2" {
		t.Errorf("got %q, %v", u, err)
	}
}

func TestResolve(t *testing.T) {
	body, err := base64.StdEncoding.DecodeString("PGEgaHJlZj0iL/Q/cT3v8Oji5fIiPnQ8L2E+")
	if err != nil {
		t.Fatal(err)
	}
	cyrillic := extract.NewDocument(body, "text/html; charset=windows-1251", "http://example.com/")
	noAddress := extract.NewDocument([]byte("<p>"), "", "not a url")
	based := extract.NewDocument([]byte(`<base href="http://example.com/b/">`), "", "not a url")
	tests := []struct {
		name string
		doc  *extract.Document
		ref  string
		want string
	}{
		{"URL-13: the query in the page's encoding", cyrillic, cyrillic.CSS("a").Attr("href"), "http://example.com/%D1%84?q=%EF%F0%E8%E2%E5%F2"},
		{"a page whose own address is none", noAddress, "http://other.example/", "http://other.example/"},
		{"nothing to be relative to", noAddress, "x", ""},
		{"a base is enough", based, "x", "http://example.com/b/x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u, err := test.doc.Resolve(test.ref)
			if u.String() != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q (%v), want %q", u, err, test.want)
			}
		})
	}
}

// html.Parse gives up on pages that browsers show.
func TestMarkupThatIsNestedTooDeep(t *testing.T) {
	const deep = 2000
	page := `<!doctype html><html><head><title>T &amp; U</title><base href="/b/"></head><body><!-- c -->` +
		strings.Repeat(`<div class="d"><span>`, deep) + `</u><p id="in">text &lt;1&gt;<br>more <img src=x> end</p>` +
		`<noscript><a href="n">n</a></noscript><script>if (a<b) "<a href=no>"</script>` +
		strings.Repeat("<q></span></div>", deep) + `</q></body></html><p class="after">after</p><a href="x">link</a><SVG viewBox="0"/>`
	doc := document(page)
	checks := []struct{ name, got, want string }{
		{"the title", doc.CSS("title::text").Get(), "T & U"},
		{"text", doc.CSS("div p#in").Text(), "text <1> more end"},
		{"text after an element without content", strings.Join(doc.CSS("p#in::text").All(), "|"), "text <1>|more | end"},
		{"what comes after it", doc.CSS("body > p.after::text").Get(), "after"},
		{"the base", doc.Base().String(), "http://example.com/b/"},
	}
	for _, c := range checks {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
	if n := doc.CSS("div.d").Len(); n != deep {
		t.Errorf("got %d of %d elements", n, deep)
	}
	if d := depth(doc.Root()); d < 300 || d > 512 {
		t.Errorf("the tree is %d deep, want about 400", d)
	}
	links := (&extract.LinkExtractor{}).Extract(doc)
	if len(links) != 2 || links[0].URL != "http://example.com/b/n" || links[1].URL != "http://example.com/b/x" {
		t.Errorf("got links %v", links)
	}
	if got := doc.Goquery().Find("p.after").Text(); got != "after" {
		t.Errorf("goquery: got %q", got)
	}
}

func depth(n *html.Node) int {
	deepest := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		deepest = max(deepest, depth(c))
	}
	return deepest + 1
}

func TestMegabytesInOneAttribute(t *testing.T) {
	body := []byte(strings.Repeat(`<img src="data:image/png;base64,`+strings.Repeat("A", 1<<20)+`">`, 20) + `<a href="/x">x</a>`)

	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	doc := extract.NewDocument(body, "text/html", "http://example.com/")
	all := &extract.LinkExtractor{Tags: []string{"a", "img"}, Attrs: []string{"href", "src"}}
	links := all.Extract(doc)
	runtime.ReadMemStats(&after)

	if len(links) != 1 || links[0].URL != "http://example.com/x" {
		t.Errorf("got %d links: %v", len(links), links)
	}
	if doc.TakeNotPages() != 20 || doc.TakeNotPages() != 0 {
		t.Error("the images were not counted, once")
	}
	grown := float64(after.HeapSys-min(before.HeapSys, after.HeapSys)) / float64(len(body))
	if grown > 2 { // and the body itself makes three
		t.Errorf("the heap grew by %.1f times the page, want 2 at most", grown)
	}
}

func TestBodiesThatAreNoHTML(t *testing.T) {
	for name, body := range map[string]string{
		"an image":       "\x89PNG\r\n\x1a\n\x00<a href",
		"nothing":        "",
		"JSON":           `{"a": "<a href='/x'>"}`,
		"half a tag":     "<a href=",
		"zeros":          "\x00\x00\x00",
		"a doctype only": "<!doctype html>",
	} {
		t.Run(name, func(t *testing.T) {
			doc := extract.NewDocument([]byte(body), "", "http://example.com/")
			doc.CSS("a::attr(href)").All()
			(&extract.LinkExtractor{}).Extract(doc)
			if doc.Root() == nil || doc.Goquery() == nil {
				t.Error("there is no tree")
			}
		})
	}
}
