package yamlspider_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/yamlspider"
)

func load(t *testing.T, text string) spider.Spider {
	t.Helper()
	s, err := yamlspider.Load("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// legNames lists the legs of a registered spider, as they run.
func legNames(t *testing.T, s spider.Spider) map[string][]string {
	t.Helper()
	registry, err := spider.NewRegistry(s)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := registry.Get(s.Name)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	add := func(name string, legs []spider.Leg) {
		for _, l := range legs {
			all[name] = append(all[name], l.Name)
		}
	}
	add("", bound.Legs)
	for name, legs := range bound.CallbackLegs {
		add(name, legs)
	}
	return all
}

// A sitemap has a callback of its own name.
func TestLegsOfOneKindHaveNamesAndCallbacksOfTheirOwn(t *testing.T) {
	s := load(t, `
name: a
parse: [pagination]
legs:
  - sitemap: {sitemap_urls: http://x.example/1.xml}
  - sitemap: {sitemap_urls: http://x.example/2.xml}
  - regex_links: {callback: sitemap-2, legs: [item_id: {legs: [item_id]}]}
  - regex_links: {callback: deeper, legs: [sitemap: {name: deeper}]}
`)
	want := map[string][]string{"": {"sitemap", "sitemap-2", "regex_links", "item_id", "item_id-2", "regex_links-2", "deeper"}, "parse": {"pagination"}}
	if diff := cmp.Diff(want, legNames(t, s)); diff != "" {
		t.Errorf("legs (-want, +got):\n%s", diff)
	}
}

// A counted leg counts how often one is made.
type counted struct {
	Name string `json:"name,omitempty"`

	made *int
}

func (c *counted) Leg() spider.Leg {
	*c.made++
	name := c.Name
	if name == "" {
		name = "counted"
	}
	return spider.Leg{Name: name, ProcessResponse: func(context.Context, *spider.Page, *spider.Output) error { return nil }}
}

func TestEachLegOfManyIsNamedAtOnce(t *testing.T) {
	made := 0
	reader := yamlspider.Reader{Kinds: []legs.Kind{{Name: "counted", New: func() legs.Builder { return &counted{made: &made} }}}}
	const n = 500
	s, err := reader.Load("a.yaml", []byte("name: a\nlegs:\n- counted: {name: counted-7}\n"+strings.Repeat("- counted\n", n)))
	if err != nil {
		t.Fatal(err)
	}
	if last := s.Legs[n].Name; last != "counted-501" {
		t.Errorf("the last leg is %s", last)
	}
	if made > 3*n {
		t.Errorf("%d legs were made %d times", n, made)
	}
}

func TestAWholeSpiderIsRead(t *testing.T) {
	s := load(t, `
name: books
allowed_domains: [books.example]
start_urls: https://books.example/
settings: {DOWNLOAD_DELAY: 2s, ROBOTSTXT_OBEY: false, DEPTH_LIMIT: 3}
handle_httpstatus_list: [404]
parse:
  - regex_links: {allow: /book/, callback: book}
  - pagination
callbacks:
  book:
    - regex_links:
        deny: [/cart, /login]
        legs:
          - regex_links: {name: deeper}
          - item_id: {legs: [canonicalize]}
legs:
  - item_id:
`)
	if s.Name != "books" || !slices.Equal(s.AllowedDomains, []string{"books.example"}) || !slices.Equal(s.StartURLs, []string{"https://books.example/"}) || !slices.Equal(s.HandleStatusList, []int{404}) {
		t.Errorf("got %+v", s)
	}
	if diff := cmp.Diff(map[string]any{"DOWNLOAD_DELAY": "2s", "ROBOTSTXT_OBEY": false, "DEPTH_LIMIT": 3}, s.Settings); diff != "" {
		t.Errorf("settings (-want, +got):\n%s", diff)
	}
	want := map[string][]string{
		"":      {"item_id-2"},
		"parse": {"regex_links", "pagination"},
		"book":  {"regex_links-2", "deeper", "item_id", "canonicalize"},
	}
	if diff := cmp.Diff(want, legNames(t, s)); diff != "" {
		t.Errorf("legs (-want, +got):\n%s", diff)
	}
}
