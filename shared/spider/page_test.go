package spider_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
)

func TestAPageThatIsTooLargeIsFlaggedAndCounted(t *testing.T) {
	for _, test := range []struct {
		name  string
		limit int64
		want  int64
	}{
		{"above the limit", 20, 1},
		{"below it", 1000, 0},
		{"without one", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var w world
			s := spider.Spider{Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
				out.FollowLinks((&extract.LinkExtractor{}).Extract(page.Document()), "")
				return nil
			}}
			page := newPage(`<p>words and words</p><a href="/a">a</a>`, nil)
			page.LimitParse(test.limit)
			links := 0
			for _, err := range w.chain(t, s).Process(context.Background(), page) {
				if err != nil {
					t.Fatal(err)
				}
				links++
			}
			if n := w.stats.Take()["response/tokenized_count"]; n != test.want || page.HasFlag(crawl.FlagTokenized) != (test.want > 0) || links != 1 {
				t.Errorf("counted %d times, flags %v, %d links", n, page.Flags, links)
			}
		})
	}
}

func TestXMLThatIsCutIsFlaggedAndCountedOnce(t *testing.T) {
	for name, test := range map[string]struct{ nodes, want int }{"too large": {800_000, 1}, "not too large": {10, 0}} {
		t.Run(name, func(t *testing.T) {
			var w world
			s := spider.Spider{Parse: func(_ context.Context, page *spider.Page, _ *spider.Output) error {
				page.XPath("/r/b")
				return nil
			}}
			page := newPage("<r>"+strings.Repeat("<a/>", test.nodes)+"<b/></r>", nil)
			page.Headers.Set("Content-Type", "text/xml")
			for range 2 {
				for _, err := range w.chain(t, s).Process(context.Background(), page) {
					t.Fatal(err)
				}
			}
			if n := w.stats.Take()["response/truncated_count"]; n != int64(test.want) || page.HasFlag(crawl.FlagTruncated) != (n > 0) {
				t.Errorf("counted %d times, flags %v", n, page.Flags)
			}
		})
	}
}

func TestPageSelects(t *testing.T) {
	page := newPage(`<p id=x>1</p>`, nil)
	got := page.XPath("//p/text()").Get() + page.XPathWith("//p[@id=$id]/text()", map[string]any{"id": "x"}).Get() + page.CSS("p").Attr("id")
	if got != "11x" {
		t.Errorf("got %q", got)
	}
	if err := page.JSON(new(any)); err == nil || !strings.Contains(err.Error(), "the JSON of "+page.Response.URL+": invalid character") {
		t.Errorf("got %v", err)
	}
	data := newPage(`{"a": [1.10]}`, nil)
	var v struct{ A []float64 }
	if err := data.JSON(&v); err != nil || len(v.A) != 1 || data.JMESPath("a[0]").Get()+data.JSONPath("$.a[0]").Get() != "1.101.10" {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestASelectorThatIsWrongFailsThePage(t *testing.T) {
	for selector, read := range map[string]func(*spider.Page){
		`css selector "p["`:              func(p *spider.Page) { p.CSS("p[") },
		`xpath selector "//p["`:          func(p *spider.Page) { p.XPath("//p[") },
		`jmespath selector "a": the pag`: func(p *spider.Page) { p.JMESPath("a") },
		`re selector "("`:                func(p *spider.Page) { p.CSS("p").Re("(") },
	} {
		var w world
		s := spider.Spider{Parse: func(_ context.Context, page *spider.Page, _ *spider.Output) error {
			read(page)
			return nil
		}}
		var got error
		for _, err := range w.chain(t, s).Process(context.Background(), newPage(`<p>1</p>`, nil)) {
			got = err
		}
		if got == nil || !strings.Contains(got.Error(), selector) {
			t.Errorf("got %v, want %s", got, selector)
		}
	}
}
