package legs_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

var productLinks = extract.LinkOptions{Allow: []string{`/p/\d+$`}}

// readsProduct gives the product's address and the argument that it came with.
func readsProduct(_ context.Context, page *spider.Page, out *spider.Output) error {
	out.Item(struct {
		URL  string `json:"url"`
		Kind any    `json:"kind"`
	}{page.Response.URL, page.CBKwargs()["kind"]})
	return nil
}

// productItems are what readsProduct gives of the products before n, once each.
func productItems(n int, kind string) []string {
	var items []string
	for _, path := range products(0, n) {
		items = append(items, fmt.Sprintf(`{"url":"%s%s","kind":%s}`, worldtest.Host, path, kind))
	}
	return sorted(items)
}

func TestAStartPageThatALegWouldFollowIsReadByTheLegsCallback(t *testing.T) {
	kwargs := crawl.Values{"kind": "shoe"}
	rule := legs.Rule{LinkOptions: productLinks, Callback: "product", CBKwargs: kwargs}
	followed := rule
	followed.Follow = new(true)
	onlyFollowed := legs.Rule{LinkOptions: productLinks}
	asParse := followed
	asParse.Callback = "parse"
	dropped := followed
	dropped.ProcessRequest = func(_ *spider.Page, req *crawl.Request) *crawl.Request {
		if req.URL == worldtest.Host+"/p/0" {
			return nil
		}
		return req
	}
	byRules := func(rules ...legs.Rule) legs.CrawlRules { return legs.CrawlRules{Rules: rules} }
	follow := legs.Follow{Callback: "product", CBKwargs: kwargs}
	const shoe, none = `"shoe"`, `null`
	tests := []struct {
		name  string
		pages int
		legs  []legs.Builder
		want  []string
	}{
		{"a rule that follows", 40, []legs.Builder{byRules(followed)}, productItems(40, shoe)},
		{"a rule that does not follow, and the start has links to all", 5, []legs.Builder{byRules(rule)}, productItems(5, shoe)},
		{"the first rule wins", 40, []legs.Builder{byRules(followed, legs.Rule{LinkOptions: productLinks, Callback: "other"})}, productItems(40, shoe)},
		{"a rule without a callback", 40, []legs.Builder{byRules(onlyFollowed, rule)}, nil},
		{"a rule whose request is dropped", 40, []legs.Builder{byRules(dropped)}, productItems(40, shoe)[1:]},
		{"links", 40, []legs.Builder{legs.RegexLinks{LinkOptions: productLinks, Follow: follow}}, productItems(40, shoe)},
		{"links and rules by URL", 40, []legs.Builder{
			legs.CallbackRules{Rules: []legs.CallbackRule{{URL: "/p/", Callback: "product"}}},
			legs.RegexLinks{LinkOptions: productLinks, Follow: legs.Follow{Callback: "product"}},
		}, productItems(40, none)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := spider.Spider{
				StartURLs: []string{worldtest.Host + "/p/0"},
				Callbacks: map[string]spider.Callback{"product": readsProduct, "other": gives("other")},
			}
			for _, leg := range test.legs {
				s.Legs = append(s.Legs, leg.Leg())
			}
			equal(t, "items", crawlShop(t, test.pages, s).Items, test.want)
		})
	}
	got := crawlShop(t, 40, spider.Spider{
		StartURLs: []string{worldtest.Host + "/p/0"}, Parse: readsProduct, Legs: []spider.Leg{byRules(asParse).Leg()},
	})
	equal(t, "Parse is the rule's callback, and reads the start once", len(got.Items), 40)
}

func TestAStartPageOfAnotherCallbackIsLeftAlone(t *testing.T) {
	s := spider.Spider{
		Callbacks: map[string]spider.Callback{"product": gives("product"), "other": gives("other")},
		Legs:      []spider.Leg{legs.CrawlRules{Rules: []legs.Rule{{LinkOptions: productLinks, Callback: "product"}}}.Leg()},
	}
	const url = "http://shop.example/p/1"
	for name, test := range map[string]struct {
		req  crawl.Request
		want []string
	}{
		"a start":                         {crawl.Request{URL: url, Progress: crawl.Progress{Start: true}}, []string{`{"by":"product"}`}},
		"a start with a callback":         {crawl.Request{URL: url, Progress: crawl.Progress{Start: true}, Callback: "other"}, []string{`{"by":"other"}`}},
		"a start with a rule":             {crawl.Request{URL: url, Progress: crawl.Progress{Start: true}, Meta: crawl.Values{"rule": 0, "rule_leg": "crawl_rules"}}, nil},
		"a start elsewhere":               {crawl.Request{URL: "http://shop.example/", Progress: crawl.Progress{Start: true}}, nil},
		"what a callback asked Parse for": {crawl.Request{URL: url}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			equal(t, "items", read(t, s, newPage(test.req.URL, "", &test.req)).items, test.want)
			if test.req.CBKwargs != nil || len(test.req.Meta) > 2 {
				t.Errorf("the request is changed: %+v", test.req)
			}
		})
	}
}
