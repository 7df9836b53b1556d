package spider_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

func TestContractsAreCheckedWhenTheSpiderLoads(t *testing.T) {
	var w world
	for name, test := range map[string]struct {
		contract spider.Contract
		want     string // "" if it is right
	}{
		"a right one":        {spider.Contract{URL: pageURL, Items: spider.Between(1, 3), Requests: spider.Exactly(0), Scrapes: []string{"a"}}, ""},
		"of a callback":      {spider.Contract{URL: pageURL, Callback: "other"}, ""},
		"of legs":            {spider.Contract{URL: pageURL, Callback: "legs"}, ""},
		"without a URL":      {spider.Contract{}, "contract 1, for : it has no URL"},
		"with no URL":        {spider.Contract{URL: "/page"}, `"/page"`},
		"of mail":            {spider.Contract{URL: "mailto:a@b.example"}, "nothing fetches mailto URLs"},
		"unknown callback":   {spider.Contract{URL: pageURL, Callback: "othr"}, `there is no callback "othr"; there are legs, other, parse`},
		"bounds turned":      {spider.Contract{URL: pageURL, Items: spider.Between(3, 1)}, "no number is 3 to 1"},
		"less than nothing":  {spider.Contract{URL: pageURL, Requests: spider.Exactly(-1)}, "no number is -1 to 0"},
		"at least less":      {spider.Contract{URL: pageURL, Requests: spider.AtLeast(-1)}, "no number is -1 or more"},
		"a field of no name": {spider.Contract{URL: pageURL, Scrapes: []string{"a", ""}}, "has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := spider.NewRegistry(spider.Spider{
				Name: "test", Parse: w.gives("parse", nil),
				Callbacks:    map[string]spider.Callback{"other": w.gives("other", nil)},
				CallbackLegs: map[string][]spider.Leg{"legs": {{Name: "reader", ProcessResponse: w.gives("legs", nil)}}},
				Contracts:    []spider.Contract{test.contract},
			})
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestAllThatDoesNotHoldOfAContractIsTold(t *testing.T) {
	var w world
	s := &spider.Spider{Name: "test", Parse: w.gives("parse", nil), Errbacks: map[string]spider.Errback{"sorry": w.gives("sorry", nil)}}
	var items []crawl.Item
	for _, fields := range []map[string]any{{"n": 1}, {"n": 2, "price": 1}, {"n": 3, "price": nil}} {
		it, err := crawl.NewItem(fields)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	requests := []*crawl.Request{
		{URL: "http://a.example/", Errback: "sorry"}, {URL: "http://b.example/", Callback: "prase"},
		{URL: "http://c.example/", Callback: "prase", Errback: "sory"},
	}
	for name, test := range map[string]struct {
		contract spider.Contract
		want     []string
	}{
		"any number is right": {spider.Contract{}, nil},
		"all is right": {spider.Contract{
			Items: spider.Exactly(3), Requests: spider.AtLeast(3), Scrapes: []string{"n"},
			Check: func(*spider.Page, []crawl.Item, []*crawl.Request) error { return nil },
		}, nil},
		"all is wrong": {spider.Contract{
			Items: spider.AtLeast(4), Requests: spider.Between(0, 2), Scrapes: []string{"n", "sku", "price"},
			Check: func(_ *spider.Page, items []crawl.Item, _ []*crawl.Request) error {
				if len(items) == 3 {
					return errors.New("three is too many")
				}
				return nil
			},
		}, []string{
			"gave 3 items, expected 4 or more", "gave 3 requests, expected 0 to 2",
			`field "sku" is missing in 3 of 3 items, first in number 1`, `field "price" is missing in 2 of 3 items, first in number 1`,
			"three is too many",
		}},
		"a check that panics": {spider.Contract{
			Check: func(_ *spider.Page, items []crawl.Item, _ []*crawl.Request) error { _ = items[3]; return nil },
		}, []string{"panic: runtime error: index out of range [3] with length 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			page := newPage("", nil)
			page.Spider = s
			var got []string
			for _, err := range test.contract.Verify(page, items, requests) {
				if !strings.HasPrefix(err.Error(), "request for") {
					got = append(got, err.Error())
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	page := newPage("", nil)
	page.Spider = s
	var got []string
	for _, err := range new(spider.Contract).Verify(page, nil, requests) {
		got = append(got, err.Error())
	}
	equal(t, "callbacks that are not there", got, []string{
		`request for http://b.example/ names the callback "prase", which the spider does not have`,
		`request for http://c.example/ names the errback "sory", which the spider does not have`,
	})
}

func TestTheRequestOfAContractCarriesItsValuesAndIsNeverFiltered(t *testing.T) {
	c := spider.Contract{URL: pageURL, Callback: "other", CBKwargs: crawl.Values{"a": 1}, Meta: crawl.Values{"b": 2}}
	want := &crawl.Request{URL: pageURL, Callback: "other", CBKwargs: crawl.Values{"a": 1}, Meta: crawl.Values{"b": 2}, DontFilter: true}
	if diff := cmp.Diff(want, c.Request()); diff != "" {
		t.Error(diff)
	}
}
