package yamlspider_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// started lists the URLs that a job of the spider starts with.
func started(t *testing.T, s spider.Spider, args map[string]string) []string {
	t.Helper()
	registry, err := spider.NewRegistry(s)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := registry.Get(s.Name)
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for res, err := range spider.NewChain(bound, new(stats.Collector)).Start(context.Background(), spider.Start{Args: args}, new(spider.Slice)) {
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, res.Request.URL)
	}
	return urls
}

func TestArgumentsStandInStartURLs(t *testing.T) {
	const text = `
name: a
args: {tag: humor, page: 2, site: https://quotes.example/}
start_urls:
  - '{site}'
  - '{site}tag/{tag}'
  - 'https://quotes.example/tag/{tag}/?page={page}&{keep me}'
parse: [pagination]
`
	tests := []struct {
		name string
		args map[string]string
		want []string
	}{
		{"their defaults", nil, []string{"https://quotes.example/", "https://quotes.example/tag/humor", "https://quotes.example/tag/humor/?page=2&{keep me}"}},
		{"what the job says", map[string]string{"tag": "love", "page": "3"}, []string{"https://quotes.example/", "https://quotes.example/tag/love", "https://quotes.example/tag/love/?page=3&{keep me}"}},
		{"a value stays in its place", map[string]string{"tag": "a/../b?c#d é{page}"}, []string{"https://quotes.example/", "https://quotes.example/tag/a%2F..%2Fb%3Fc%23d%20%C3%A9%7Bpage%7D", "https://quotes.example/tag/a%2F..%2Fb%3Fc%23d%20%C3%A9%7Bpage%7D/?page=2&{keep me}"}},
		{"a whole URL", map[string]string{"site": "http://other.example/"}, []string{"http://other.example/", "http://other.example/tag/humor", "https://quotes.example/tag/humor/?page=2&{keep me}"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := load(t, text)
			if err := s.CheckArgs(test.args); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, started(t, s, test.args)); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
		})
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	const text = `
name: a
args: {category: , site: http://x.example/}
start_urls: ['{site}', 'http://x.example/{category}']
parse: [pagination]
`
	tests := []struct {
		name, text string
		args       map[string]string
		want       string
	}{
		{"one that must be given", text, nil, "the argument category is missing: give it with -a category=VALUE"},
		{"one that is not there", text, map[string]string{"category": "a", "catgory": "b"}, `there is no argument "catgory"; did you mean "category"?`},
		{"a URL that is none", text, map[string]string{"category": "a", "site": "nowhere"}, `start URL "nowhere"`},
		{"a URL of another scheme", text, map[string]string{"category": "a", "site": "file:///etc/passwd"}, `start URL "file:…": a crawl begins with http or https`},
		{"a spider that takes none", right, map[string]string{"a": "b"}, `there is no argument "a", and no other`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := load(t, test.text).CheckArgs(test.args); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestContractsAreRead(t *testing.T) {
	s := load(t, right+`
args: {tag: x}
contracts:
  - url: http://x.example/
    args: {tag: y}
    items: 3
    requests: {min: 1}
    scrapes: [title, price]
  - {url: 'http://x.example/2', callback: parse, items: {max: 16}, cb_kwargs: {n: 9007199254740993}}
`)
	if len(s.Contracts) != 2 {
		t.Fatalf("got %v", s.Contracts)
	}
	c := s.Contracts[0]
	if diff := cmp.Diff([]string{"http://x.example/", "y", "3", "1 or more", "title price"},
		[]string{c.URL, c.Args["tag"], c.Items.String(), c.Requests.String(), strings.Join(c.Scrapes, " ")}); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
	if c := s.Contracts[1]; c.Items.String() != "0 to 16" || c.Requests.String() != "any number" || c.CallbackName() != "parse" {
		t.Errorf("got %+v", c)
	} else if n := c.CBKwargs["n"]; n == nil || n.(interface{ String() string }).String() != "9007199254740993" {
		t.Errorf("the number has lost digits: %v", n)
	}
}
