package loader_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/loader"
)

func TestASelectionIsASourceToo(t *testing.T) {
	l := items.New(page().CSS("ul"))
	l.AddCSS("tags", "li::text", loader.Strip(), loader.Unique())
	l.AddCSS("none", "h1")
	item, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	if got := asJSON(t, item); got != `{"tags":["red","steel"]}` {
		t.Errorf("got %s", got)
	}
}

func TestJSONIsASource(t *testing.T) {
	const body = `{"product":{"id":9007199254740993,"serial":18446744073709551615,"price":1.10,"tags":["a","b"],"none":null,"html":"<b>bold</b>","sizes":[{"n":1},{"n":2}]}}`
	doc := extract.NewDocument([]byte(body), "application/json", "http://api.example/p/1")
	l := items.New(doc)
	l.AddJMESPath("id", "product.id")
	l.AddJSONPath("id", "$..serial")
	p := l.NestedJMESPath("product")
	p.AddJMESPath("price", "price")
	p.AddJMESPath("tags", "tags")
	p.AddJMESPath("none", "none")
	p.NestedJSONPath("$.html").AddCSS("bold", "b::text")
	p.AddJMESPath("sizes", "sizes", loader.SelectJMES("n"))
	p.AddJMESPath("first", "tags", loader.TakeFirst())
	p.ReplaceJSONPath("first", "$.tags[1]")
	p.ReplaceJMESPath("first", "tags[0]")
	if v, err := p.GetJSONPath("$.tags[0]"); !cmp.Equal(v, list{"a"}) || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	if v, err := p.GetJMESPath("price", loader.TakeFirst()); v != number("1.10") || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	item, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":[9007199254740993,18446744073709551615],"price":[1.10],"tags":["a","b"],"bold":["bold"],"sizes":[1,2],"first":["a"]}`
	if got := asJSON(t, item); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestASelectionFromElsewhereBringsItsPage(t *testing.T) {
	l := items.New(nil)
	l.AddValue("link", page().CSS("a::attr(href)"), loader.AbsoluteURL())
	l.AddValue("wrong", page().CSS("a["))
	item, err := l.Load()
	if got := asJSON(t, item); got != `{"link":["http://shop.example/shop/smith"]}` {
		t.Errorf("got %s", got)
	}
	if err == nil || !strings.HasPrefix(err.Error(), `field wrong: css selector "a["`) {
		t.Errorf("got %v", err)
	}
	l = items.New(page().CSS("div.maker"))
	l.AddCSS("link", "a::attr(href)", loader.AbsoluteURL())
	if item, err = l.Load(); asJSON(t, item) != `{"link":["http://shop.example/shop/smith"]}` || err != nil {
		t.Errorf("a loader of a selection: got %s, %v", asJSON(t, item), err)
	}
}

func TestXMLIsASource(t *testing.T) {
	doc := extract.NewDocument([]byte(`<?xml version="1.0"?><feed><entry><id>007</id><link>http://a.example/</link></entry></feed>`), "application/xml", "http://a.example/feed")
	l := items.New(doc).NestedXPath("//entry")
	l.AddXPath("id", "id/text()")
	l.AddCSS("link", "link::text")
	item, err := l.Load()
	if got := asJSON(t, item); got != `{"id":["007"],"link":["http://a.example/"]}` || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestWithoutAPageThereAreValuesOnly(t *testing.T) {
	l := items.New(nil)
	l.AddValue("a", "1")
	l.AddCSS("b", "h1")
	l.NestedCSS("ul").AddValue("c", "2")
	l.NestedCSS("ul").AddCSS("d", "li")
	item, err := l.Load()
	if err == nil || !strings.Contains(err.Error(), "field b: there is no page to select from; make the loader with a page") {
		t.Errorf("got %v", err)
	}
	if got := asJSON(t, item); got != `{"a":["1"],"c":["2"]}` {
		t.Errorf("got %s", got)
	}
}
