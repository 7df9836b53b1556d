package legs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spider/spidertest"
)

func xmlPage(body string) *spider.Page {
	page := newPage("http://shop.example/feed.xml", body, nil)
	page.Headers.Set("Content-Type", "application/xml")
	return page
}

const priceList = `<list xmlns:p="http://prices.example/"><item id="1"><name>A &amp; B</name><p:price>9007199254740993</p:price></item>
<item id="2"><name>&eacute;` + "\x08" + `</name></item></list>`

func TestXMLFeedMakesItemsOfFields(t *testing.T) {
	fields := legs.FieldList{
		{Name: "id", XPath: "@id", Type: "int"}, {Name: "name", CSS: "name::text"}, {Name: "price", XPath: "p:price/text()", Type: "int"},
	}
	tests := []struct {
		name string
		leg  legs.XMLFeed
		body string
		want []string
	}{
		{"fields", legs.XMLFeed{Fields: fields}, priceList, []string{`{"id":1,"name":"A & B","price":9007199254740993}`, `{"id":2,"name":"é","price":null}`}},
		{"omit_missing", legs.XMLFeed{Fields: fields, OmitMissing: true}, priceList, []string{`{"id":1,"name":"A & B","price":9007199254740993}`, `{"id":2,"name":"é"}`}},
		{"itertag", legs.XMLFeed{Itertag: "p:price", Fields: legs.FieldList{{Name: "n", XPath: "text()"}}}, priceList, []string{`{"n":"9007199254740993"}`}},
		{"namespaces", legs.XMLFeed{Itertag: "x:price", Namespaces: map[string]string{"x": "http://prices.example/"}, Fields: legs.FieldList{{Name: "n", XPath: "text()"}}}, priceList, []string{`{"n":"9007199254740993"}`}},
		{"required", legs.XMLFeed{Fields: legs.FieldList{{Name: "price", XPath: "p:price/text()", Required: true}, {Name: "id", XPath: "@id"}}}, priceList, []string{`{"price":"9007199254740993","id":"1"}`}},
		{"a page", legs.XMLFeed{Fields: fields}, "<!DOCTYPE html><html><item>1</item></html>", nil},
		{"no entries", legs.XMLFeed{Fields: fields}, "<list/>", nil},
		{"only", legs.XMLFeed{Fields: fields, Only: legs.Only{URLs: []string{"/other"}}}, priceList, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			equal(t, "items", read(t, spider.Spider{Legs: []spider.Leg{test.leg.Leg()}}, xmlPage(test.body)).items, test.want)
		})
	}
}

func TestXMLFeedCallsFunctions(t *testing.T) {
	o := legs.XMLFeed{
		AdaptResponse: func(page *spider.Page) ([]byte, error) {
			_, body, _ := strings.Cut(string(page.Body), "junk")
			return []byte(body), nil
		},
		ParseNode: func(_ context.Context, page *spider.Page, node extract.Selection, out *spider.Output) error {
			name := node.XPath("name/text()").Get()
			out.Item(map[string]string{"name": name})
			out.Follow("/p/"+node.Attr("id"), "")
			if name == "é" {
				return errors.New("no é")
			}
			return nil
		},
		ProcessResults: func(page *spider.Page, results spider.Results) spider.Results {
			return func(yield func(crawl.Result, error) bool) {
				for res, err := range results {
					if res.Request != nil {
						res.Request.Priority = 5
					}
					if !yield(res, err) {
						return
					}
				}
			}
		},
	}
	page := newPage("http://shop.example/x", "junk"+strings.Replace(priceList, "</list>", `<item id="3"><name>C</name></item></list>`, 1), nil)
	got, err := tryRead(t, spider.Spider{Legs: []spider.Leg{o.Leg()}}, page)
	if err == nil || !strings.Contains(err.Error(), "leg xml_feed: no é") {
		t.Errorf("error %v", err)
	}
	equal(t, "items", got.items, []string{`{"name":"A & B"}`, `{"name":"é"}`, `{"name":"C"}`})
	equal(t, "requests", got.urls(), []string{"http://shop.example/p/1", "http://shop.example/p/2", "http://shop.example/p/3"})
	equal(t, "priority", got.requests[2].Priority, 5)

	o.AdaptResponse = func(*spider.Page) ([]byte, error) { return nil, errors.New("not today") }
	if _, err := tryRead(t, spider.Spider{Legs: []spider.Leg{o.Leg()}}, page); err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("error %v", err)
	}
	o.AdaptResponse = func(*spider.Page) ([]byte, error) { return nil, nil }
	equal(t, "items of nothing", read(t, spider.Spider{Legs: []spider.Leg{o.Leg()}}, page).items, nil)
}

func TestXMLFeedsThatWereCut(t *testing.T) {
	o := legs.XMLFeed{Fields: legs.FieldList{{Name: "name", CSS: "name::text"}}}
	got := read(t, spider.Spider{Legs: []spider.Leg{o.Leg()}}, xmlPage(priceList[:len(priceList)-20]))
	equal(t, "items", got.items, []string{`{"name":"A & B"}`})
	equal(t, "broken", got.stats["leg/xml_feed/broken_count"], 1)
}

func TestXMLFeedTellsWhatIsWrongWithASelector(t *testing.T) {
	o := legs.XMLFeed{ParseNode: func(_ context.Context, _ *spider.Page, node extract.Selection, _ *spider.Output) error {
		node.CSS("li[")
		return nil
	}}
	for name, adapt := range map[string]func(*spider.Page) ([]byte, error){"own": nil, "adapted": func(p *spider.Page) ([]byte, error) { return p.Body, nil }} {
		o.AdaptResponse = adapt
		if _, err := tryRead(t, spider.Spider{Legs: []spider.Leg{o.Leg()}}, xmlPage(priceList)); err == nil || !strings.Contains(err.Error(), "li[") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestXMLFeedMistakesAreToldAtOnce(t *testing.T) {
	wantMistakes(t, legs.XMLFeed{Itertag: "//item", Incomplete: "maybe"}.Leg(), "option itertag", "option incomplete", "option fields: there are none")
	wantMistakes(t, legs.XMLFeed{Fields: legs.FieldList{{Name: "a", XPath: "//["}}}.Leg(), "option fields.a")
}

func TestXMLFeedGolden(t *testing.T) {
	s := spider.Spider{Name: "news", Legs: []spider.Leg{legs.XMLFeed{Fields: legs.FieldList{
		{Name: "title", XPath: "title/text()"}, {Name: "link", XPath: "link/text()", Type: "url"}, {Name: "image", XPath: "media:content/@url"},
	}}.Leg()}}
	spidertest.Page{URL: "https://news.example/news.rss", File: "testdata/news.rss", GoldenFile: "testdata/xmlfeed.golden.json"}.Golden(t, s)
}

func TestXMLFeedCrawlsTheShop(t *testing.T) {
	got := crawlShop(t, 40, spider.Spider{
		StartURLs: []string{worldtest.Host + "/feed.xml", worldtest.Host + "/atom.xml"},
		Legs: []spider.Leg{
			legs.XMLFeed{Name: "rss", Fields: legs.FieldList{{Name: "rss", XPath: "title/text()"}}}.Leg(),
			legs.XMLFeed{Name: "atom", Itertag: "entry", Fields: legs.FieldList{{Name: "atom", XPath: "title/text()"}}}.Leg(),
		},
	})
	var want []string
	for n := 20; n < 40; n++ {
		want = append(want, fmt.Sprintf(`{"rss":"Product %d"}`, n), fmt.Sprintf(`{"atom":"Product %d"}`, n))
	}
	equal(t, "items", got.Items, sorted(want))
}
