package legs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

const rulesPage = `<a href="/category/1">Shoes</a> <a href="/product/1">Clog</a> <a href="/about">About</a>`

// shop has three rules: categories are followed, products are read, and what
// else there is is read and followed.
func shop() spider.Spider {
	yes := true
	return spider.Spider{
		Parse:     gives("parse"),
		Callbacks: map[string]spider.Callback{"product": gives("product"), "other": gives("other")},
		Errbacks:  map[string]spider.Errback{"sorry": gives("sorry")},
		Legs: []spider.Leg{legs.CrawlRules{Rules: []legs.Rule{
			{LinkOptions: extract.LinkOptions{Allow: []string{"/category/"}}},
			{LinkOptions: extract.LinkOptions{Allow: []string{"/product/"}}, Callback: "product", Errback: "sorry", CBKwargs: crawl.Values{"kind": "shoe"}, Priority: 5},
			{Callback: "other", Follow: &yes},
		}}.Leg()},
	}
}

func TestCrawlRulesFirstRuleThatTakesALinkWins(t *testing.T) {
	got := read(t, shop(), newPage("http://shop.example/", rulesPage, nil))
	equal(t, "requests", got.requests, []*crawl.Request{
		{URL: "http://shop.example/category/1", Callback: "crawl_rules.follow", Meta: crawl.Values{"rule": 0, "link_text": "Shoes", "rule_leg": "crawl_rules"}},
		{
			URL: "http://shop.example/product/1", Callback: "product", Errback: "sorry", CBKwargs: crawl.Values{"kind": "shoe"}, Priority: 5,
			Meta: crawl.Values{"rule": 1, "link_text": "Clog", "rule_leg": "crawl_rules"},
		},
		{URL: "http://shop.example/about", Callback: "other", Meta: crawl.Values{"rule": 2, "link_text": "About", "rule_leg": "crawl_rules"}},
	})
	equal(t, "Parse reads the start", got.items, []string{`{"by":"parse"}`})
}

func TestCrawlRulesFollowAsTheRuleSays(t *testing.T) {
	tests := []struct {
		name  string
		req   crawl.Request
		items string
		links int
	}{
		{"a start request", crawl.Request{}, "parse", 3},
		{"a rule without a callback", crawl.Request{Callback: "crawl_rules.follow", Meta: crawl.Values{"rule": json.Number("0"), "rule_leg": "crawl_rules"}}, "", 3},
		{"a rule with a callback", crawl.Request{Callback: "product", Meta: crawl.Values{"rule": json.Number("1"), "rule_leg": "crawl_rules"}}, "product", 0},
		{"a rule with a callback that is followed", crawl.Request{Callback: "other", Meta: crawl.Values{"rule": json.Number("2"), "rule_leg": "crawl_rules"}}, "other", 3},
		{"a request with a rule of the spider's own", crawl.Request{Callback: "product", Meta: crawl.Values{"rule": "red"}}, "product", 0},
		{"a start with a rule of the spider's own", crawl.Request{Meta: crawl.Values{"rule": 7}}, "parse", 3},
		{"a rule of another leg", crawl.Request{Callback: "other", Meta: crawl.Values{"rule": 2, "rule_leg": "more_rules"}}, "other", 0},
		{"a callback's own request", crawl.Request{Callback: "product"}, "product", 0},
		{"a callback's own request to Parse", crawl.Request{Callback: "parse"}, "parse", 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := read(t, shop(), newPage("http://shop.example/", rulesPage, &test.req))
			want := `{"by":"` + test.items + `"}`
			if test.items == "" {
				want = ""
			}
			equal(t, "items", strings.Join(got.items, ""), want)
			equal(t, "links", len(got.requests), test.links)
		})
	}
	_, err := tryRead(t, shop(), newPage("http://shop.example/", rulesPage, &crawl.Request{Callback: "product", Meta: crawl.Values{"rule": 7, "rule_leg": "crawl_rules"}}))
	if err == nil || !strings.Contains(err.Error(), "leg crawl_rules: meta has rule 7, and the rules are 0 to 2") {
		t.Errorf("a rule that is not there: got %v", err)
	}
	page := newPage("http://shop.example/", rulesPage, nil)
	page.Headers.Set("Content-Type", "application/json")
	equal(t, "what is not HTML", len(read(t, shop(), page).requests), 0)
}

func TestCrawlRulesOfTwoLegsKeepToTheirOwnPages(t *testing.T) {
	yes := true
	s := spider.Spider{
		Parse:     gives("parse"),
		Callbacks: map[string]spider.Callback{"product": gives("product")},
		Legs: []spider.Leg{
			legs.CrawlRules{Rules: []legs.Rule{{LinkOptions: extract.LinkOptions{Allow: []string{"/product/"}}, Callback: "product", Follow: &yes}}}.Leg(),
			legs.CrawlRules{Name: "site", Rules: []legs.Rule{
				{LinkOptions: extract.LinkOptions{Allow: []string{"/category/"}}},
				{LinkOptions: extract.LinkOptions{Allow: []string{"/about"}}, Callback: "product"},
			}}.Leg(),
		},
	}
	start := read(t, s, newPage("http://shop.example/", rulesPage, nil))
	equal(t, "the start", start.urls(), []string{"http://shop.example/product/1", "http://shop.example/category/1", "http://shop.example/about"})
	for i, want := range [][]string{
		{"http://shop.example/product/1"},
		{"http://shop.example/category/1", "http://shop.example/about"},
		nil,
	} {
		got := read(t, s, newPage("http://shop.example/x", rulesPage, start.requests[i]))
		equal(t, "the links of "+start.requests[i].URL, got.urls(), want)
	}
}

func TestCrawlRulesHooksChangeAndDrop(t *testing.T) {
	s := spider.Spider{Legs: []spider.Leg{legs.CrawlRules{Rules: []legs.Rule{
		{
			ProcessLinks: func(_ *spider.Page, links []extract.Link) []extract.Link { return links[:2] },
			ProcessRequest: func(page *spider.Page, req *crawl.Request) *crawl.Request {
				if strings.Contains(req.URL, "category") {
					return nil
				}
				req.Priority = len(page.Body)
				return req
			},
		},
		{},
	}}.Leg()}}
	got := read(t, s, newPage("http://shop.example/", rulesPage, nil)).requests
	var shown []string
	for _, r := range got {
		shown = append(shown, fmt.Sprint(strings.TrimPrefix(r.URL, "http://shop.example"), " ", r.Meta["rule"], " ", r.Priority))
	}
	equal(t, "a link that a rule left goes to the next, one whose request was dropped does not", shown,
		[]string{fmt.Sprint("/product/1 0 ", len(rulesPage)), "/about 1 0"})
}

func TestCrawlRulesOfOneValueServeTwoSpiders(t *testing.T) {
	callbacks := map[string]spider.Callback{"product": gives("product")}
	leg := legs.CrawlRules{Rules: []legs.Rule{{Callback: "product"}}}.Leg()
	registry, err := spider.NewRegistry(
		spider.Spider{Name: "a", Callbacks: callbacks, Legs: []spider.Leg{leg}},
		spider.Spider{Name: "b", Callbacks: callbacks, Legs: []spider.Leg{leg}},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range registry.Names() {
		s, _ := registry.Get(name)
		equal(t, name, len(s.Callbacks), 2)
	}
	equal(t, "the spider's own map", len(callbacks), 1)
}

func TestCrawlRulesMistakesAreToldAtOnce(t *testing.T) {
	wantMistakes(t, legs.CrawlRules{}.Leg(), "option rules: there are none")
	wantMistakes(t, legs.CrawlRules{Rules: []legs.Rule{
		{LinkOptions: extract.LinkOptions{Allow: []string{"("}, AllowDomains: []string{"a/b"}}},
		{Callback: "novel", Errback: "sorry"},
	}}.Leg(), `option rules[0].allow: "("`, `option rules[0].allow_domains: "a/b"`,
		`option rules[1].callback: the spider has no callback "novel"; there are book,`, `option rules[1].errback: the spider has no errback "sorry"`)
}
