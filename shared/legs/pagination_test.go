package legs_test

import (
	"encoding/json"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

func TestPaginationFindsTheNextPage(t *testing.T) {
	zero := 0
	const list = `<div class="entry">1</div>`
	tests := []struct {
		name      string
		leg       legs.Pagination
		url, html string
		want      string
	}{
		{"an element", legs.Pagination{Next: legs.CSS("li.next a")}, "http://a.example/l", `<li class=next><a href=2>`, "http://a.example/2"},
		{"an attribute", legs.Pagination{Next: legs.CSS("li.next a::attr(href)")}, "http://a.example/l", `<li class=next><a href=/2>`, "http://a.example/2"},
		{"a text", legs.Pagination{Next: legs.CSS("b::text")}, "http://a.example/l", `<b>/2</b>`, "http://a.example/2"},
		{"no next link", legs.Pagination{Next: legs.CSS("li.next a")}, "http://a.example/l", `<a href=2>`, ""},
		{"an element without an address", legs.Pagination{Next: legs.CSS("b")}, "http://a.example/l", `<b>x</b>`, ""},
		{"a link to the page itself", legs.Pagination{Next: legs.CSS("a")}, "http://a.example/l", `<a href="#top">`, ""},
		{"a link to no page", legs.Pagination{Next: legs.CSS("a")}, "http://a.example/l", `<a href="javascript:next()">`, ""},
		{"rel=next without options", legs.Pagination{}, "http://a.example/l", `<a rel="nofollow Next" href=2>`, "http://a.example/2"},
		{"rel=next in the head", legs.Pagination{}, "http://a.example/l", `<link rel=next href=2><a rel=next href=3>`, "http://a.example/2"},
		{"no rel=next", legs.Pagination{}, "http://a.example/l", `<a rel=prev href=2>`, ""},
		{"a cursor", legs.Pagination{Next: legs.CSS("b::text"), NextParam: "after"}, "http://a.example/l?q=x&after=1", `<b>a/b =</b>`, "http://a.example/l?q=x&after=a%2Fb+%3D"},
		{"no cursor", legs.Pagination{Next: legs.CSS("b::text"), NextParam: "after"}, "http://a.example/l", ` `, ""},

		{"the first page has no number", legs.Pagination{PageParam: "page", MaxPages: 3}, "http://a.example/l", "", "http://a.example/l?page=2"},
		{"the number in its place", legs.Pagination{PageParam: "page", MaxPages: 3}, "http://a.example/l?a=%31&page=2&b=2#f", "", "http://a.example/l?a=%31&page=3&b=2"},
		{"max_pages", legs.Pagination{PageParam: "page", MaxPages: 3}, "http://a.example/l?page=3", "", ""},
		{"start and step", legs.Pagination{PageParam: "offset", Start: &zero, Step: 20, MaxPages: 3}, "http://a.example/l", "", "http://a.example/l?offset=20"},
		{"the last with start and step", legs.Pagination{PageParam: "offset", Start: &zero, Step: 20, MaxPages: 3}, "http://a.example/l?offset=20", "", "http://a.example/l?offset=40"},
		{"max_pages with start and step", legs.Pagination{PageParam: "offset", Start: &zero, Step: 20, MaxPages: 3}, "http://a.example/l?offset=40", "", ""},
		{"down to one", legs.Pagination{PageParam: "page", Step: -1, Until: legs.CSS("b")}, "http://a.example/l?page=5", "", "http://a.example/l?page=4"},
		{"while", legs.Pagination{PageParam: "page", While: legs.CSS("div.entry")}, "http://a.example/l?page=7", list, "http://a.example/l?page=8"},
		{"no more while", legs.Pagination{PageParam: "page", While: legs.CSS("div.entry")}, "http://a.example/l?page=7", "<p>", ""},
		{"until", legs.Pagination{PageParam: "page", Until: legs.CSS("p.none")}, "http://a.example/l?page=7", `<p class=none>`, ""},
		{"no number", legs.Pagination{PageParam: "page", MaxPages: 3}, "http://a.example/l?page=all", "", ""},
		{"a number that is too large", legs.Pagination{PageParam: "page", Until: legs.CSS("b")}, "http://a.example/l?page=9223372036854775807", "", ""},
		{"a pattern", legs.Pagination{PagePattern: `/page/(\d+)/`, MaxPages: 10}, "http://a.example/page/9/", "", "http://a.example/page/10/"},
		{"zeros in a pattern", legs.Pagination{PagePattern: `/page/(\d+)`, MaxPages: 1000}, "http://a.example/page/007", "", "http://a.example/page/008"},
		{"zeros that are used up", legs.Pagination{PagePattern: `/page/(\d+)`, MaxPages: 1000}, "http://a.example/page/099", "", "http://a.example/page/100"},
		{"the number 0", legs.Pagination{PagePattern: `/page/(\d+)`, MaxPages: 1000}, "http://a.example/page/0", "", "http://a.example/page/1"},
		{"zeros in a parameter", legs.Pagination{PageParam: "p", MaxPages: 1000}, "http://a.example/?p=09&q=1", "", "http://a.example/?p=10&q=1"},
		{"the end of a pattern", legs.Pagination{PagePattern: `/page/(\d+)/`, MaxPages: 10}, "http://a.example/page/10/", "", ""},
		{"a page that is no list", legs.Pagination{PagePattern: `/page/(\d+)/`, MaxPages: 10}, "http://a.example/p/10/", "", ""},
		{"only", legs.Pagination{Only: legs.Only{URLs: []string{"/list"}}}, "http://a.example/l", `<a rel=next href=2>`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := spider.Spider{Parse: nothing, Legs: []spider.Leg{test.leg.Leg()}}
			got := ""
			for _, req := range read(t, s, newPage(test.url, test.html, nil)).requests {
				got += req.URL
			}
			equal(t, test.url, got, test.want)
		})
	}
}

func TestPaginationReadsTheLinkHeader(t *testing.T) {
	for header, want := range map[string]string{
		`<?page=2>; rel="next", <?page=9>; rel=last`:                                          "http://a.example/api?page=2",
		`<?page=9>; rel=last, <http://b.example/x>;title="a, <b>; rel=next";rel="first next"`: "http://b.example/x",
		`<?page=2>; rel=prev; rel=next`:                                                       "",
		`<?page=2; rel=next`:                                                                  "",
		`nonsense`:                                                                            "",
		`<mailto:a@b.example>; rel=next`:                                                      "",
	} {
		page := newPage("http://a.example/api?page=1", "[]", nil)
		page.Headers.Set("Content-Type", "application/json")
		page.Headers.Set("Link", header)
		got := ""
		for _, req := range read(t, spider.Spider{Parse: nothing, Legs: []spider.Leg{legs.Pagination{}.Leg()}}, page).requests {
			got += req.URL
		}
		equal(t, header, got, want)
	}
}

func TestPaginationKeepsTheCallback(t *testing.T) {
	s := spider.Spider{
		Callbacks: map[string]spider.Callback{"list": nothing, "other": nothing},
		Errbacks:  map[string]spider.Errback{"sorry": nothing},
		Legs:      []spider.Leg{legs.Pagination{MaxPages: 3}.Leg()},
	}
	const html = `<a rel=next href=2>`
	first := crawl.Request{Callback: "list", Errback: "sorry", CBKwargs: crawl.Values{"shelf": "a"}, Meta: crawl.Values{"own": 1}}
	second := read(t, s, newPage("http://a.example/1", html, &first)).requests[0]
	equal(t, "the second page", second, &crawl.Request{
		URL: "http://a.example/2", Callback: "list", Errback: "sorry", CBKwargs: crawl.Values{"shelf": "a"}, Meta: crawl.Values{"pagination_page": 2},
	})
	third := crawl.Request{Meta: crawl.Values{"pagination_page": json.Number("3")}}
	equal(t, "after the third of three", len(read(t, s, newPage("http://a.example/3", html, &third)).requests), 0)

	s.Legs = []spider.Leg{legs.Pagination{Follow: legs.Follow{Callback: "other", Priority: 2}}.Leg()}
	equal(t, "another callback", read(t, s, newPage("http://a.example/1", html, &first)).requests[0],
		&crawl.Request{URL: "http://a.example/2", Callback: "other", Errback: "sorry", Priority: 2})
}

func TestPaginationMistakesAreToldAtOnce(t *testing.T) {
	one := 1
	wantMistakes(t, legs.Pagination{Next: legs.CSS("li["), While: legs.CSS("["), Until: legs.CSS("]"), Start: &one, MaxPages: -1}.Leg(),
		"option next: css selector", "option while: css", "option until: css", "option start: start and step go with", "option max_pages: it is -1")
	wantMistakes(t, legs.Pagination{Next: legs.CSS("a"), PageParam: "p", MaxPages: 2}.Leg(), "option next: there is one way to turn pages")
	wantMistakes(t, legs.Pagination{PageParam: "p"}.Leg(), "option max_pages: numbers have no end")
	wantMistakes(t, legs.Pagination{PagePattern: `\d+`, MaxPages: 2}.Leg(), `option page_pattern: "\\d+" has 0 groups`)
	wantMistakes(t, legs.Pagination{PagePattern: `(`, MaxPages: 2}.Leg(), "option page_pattern: error parsing regexp")
	wantMistakes(t, legs.Pagination{NextParam: "after"}.Leg(), "option next_param: it takes what next selects")
	wantMistakes(t, legs.Pagination{Next: legs.Selector{CSS: "a", XPath: "//a"}}.Leg(), "option next: a selector is in one language")
}

func TestPaginationOfAnAPI(t *testing.T) {
	tests := []struct {
		name       string
		leg        legs.Pagination
		body, want string
	}{
		{"an address", legs.Pagination{Next: legs.Selector{JMESPath: "next"}}, `{"next": "/api?page=2"}`, "http://a.example/api?page=2"},
		{"null", legs.Pagination{Next: legs.Selector{JMESPath: "next"}}, `{"next": null}`, ""},
		{"a cursor that is a number", legs.Pagination{Next: legs.Selector{JSONPath: "$.after"}, NextParam: "after"}, `{"after": 9007199254740993}`, "http://a.example/api?page=1&after=9007199254740993"},
		{"no cursor", legs.Pagination{Next: legs.Selector{JSONPath: "$.after"}, NextParam: "after"}, `{"after": null}`, ""},
		{"while there are entries", legs.Pagination{PageParam: "page", While: legs.Selector{JMESPath: "books[0]"}}, `{"books": [1]}`, "http://a.example/api?page=2"},
		{"no more entries", legs.Pagination{PageParam: "page", While: legs.Selector{JMESPath: "books[0]"}}, `{"books": []}`, ""},
		{"an empty list", legs.Pagination{PageParam: "page", While: legs.Selector{JMESPath: "books"}}, `{"books": []}`, ""},
		{"until it says so", legs.Pagination{PageParam: "page", Until: legs.Selector{JMESPath: "last || null"}}, `{"last": true}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			for _, req := range read(t, spider.Spider{Parse: nothing, Legs: []spider.Leg{test.leg.Leg()}}, typed("application/json", test.body)).requests {
				got += req.URL
			}
			equal(t, test.body, got, test.want)
		})
	}
}
