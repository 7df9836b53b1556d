package legs_test

import (
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

func TestCallbackRulesTakeTheFirstThatMatches(t *testing.T) {
	s := spider.Spider{
		Parse:        gives("parse"),
		Callbacks:    map[string]spider.Callback{"product": gives("product"), "page": gives("page")},
		CallbackLegs: map[string][]spider.Leg{"category": {{Name: "reader", ProcessResponse: gives("category")}}},
		Legs: []spider.Leg{legs.CallbackRules{Rules: []legs.CallbackRule{
			{URL: `/product\.php`, Callback: "product"},
			{URL: `/category\.php`, Callback: "category"},
			{URL: `\.php`, Callback: "page"},
		}}.Leg()},
	}
	tests := []struct {
		name, url string
		req       *crawl.Request
		want      []string
	}{
		{"first rule", "http://a.example/product.php?id=1", nil, []string{"parse", "product"}},
		{"a callback of legs", "http://a.example/category.php", nil, []string{"parse", "category"}},
		{"last rule", "http://a.example/other.php", nil, []string{"parse", "page"}},
		{"none", "http://a.example/", nil, []string{"parse"}},
		{"the response's address counts", "http://a.example/product.php", &crawl.Request{URL: "http://a.example/category.php"}, []string{"parse", "product"}},
		{"no callback reads a page twice", "http://a.example/product.php", &crawl.Request{Callback: "product"}, []string{"product"}},
		{"another callback does not keep the rule back", "http://a.example/product.php", &crawl.Request{Callback: "page"}, []string{"page", "product"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			for _, by := range test.want {
				want = append(want, `{"by":"`+by+`"}`)
			}
			equal(t, "items", read(t, s, newPage(test.url, "", test.req)).items, want)
		})
	}
}

func TestCallbackRulesMistakesAreToldAtOnce(t *testing.T) {
	wantMistakes(t, legs.CallbackRules{}.Leg(), "option rules: there are none")
	wantMistakes(t, legs.CallbackRules{Name: "mine", Rules: []legs.CallbackRule{
		{URL: "(", Callback: "book"}, {URL: "", Callback: "novel"}, {URL: "x"},
	}}.Leg(), "option rules[0].url: error parsing regexp", "option rules[1].url: it is empty",
		`option rules[1].callback: the spider has no callback "novel"; there are book, parse`, "option rules[2].callback: it is empty")
}
