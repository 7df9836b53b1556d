package legs_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

const linksPage = `<a href="/product.php?id=1">1</a> <a href="/about">About</a>
<div id="more"><a href="/product.php?id=2">2</a></div>`

func TestRegexLinksFollowsWhatMatches(t *testing.T) {
	tests := []struct {
		name string
		leg  legs.RegexLinks
		want []string
	}{
		{"every link without options", legs.RegexLinks{}, []string{"/product.php?id=1", "/about", "/product.php?id=2"}},
		{"allow", legs.RegexLinks{LinkOptions: extract.LinkOptions{Allow: []string{`/product\.php\?`}}}, []string{"/product.php?id=1", "/product.php?id=2"}},
		{"deny", legs.RegexLinks{LinkOptions: extract.LinkOptions{Deny: []string{`id=1`}}}, []string{"/about", "/product.php?id=2"}},
		{"restrict_css", legs.RegexLinks{LinkOptions: extract.LinkOptions{RestrictCSS: []string{"#more"}}}, []string{"/product.php?id=2"}},
		{"only some URLs", legs.RegexLinks{Only: legs.Only{URLs: []string{"/list"}}}, []string{"/product.php?id=1", "/about", "/product.php?id=2"}},
		{"not these URLs", legs.RegexLinks{Only: legs.Only{URLs: []string{"/other"}}}, nil},
		{"not this callback", legs.RegexLinks{Only: legs.Only{Callbacks: []string{"book"}}}, nil},
		{"links that are processed", legs.RegexLinks{ProcessLinks: func(_ *spider.Page, links []extract.Link) []extract.Link {
			slices.Reverse(links)
			return links[:1]
		}}, []string{"/product.php?id=2"}},
		{"requests that are dropped", legs.RegexLinks{ProcessRequest: func(_ *spider.Page, req *crawl.Request) *crawl.Request {
			if req.URL == "http://shop.example/about" {
				return nil
			}
			return req
		}}, []string{"/product.php?id=1", "/product.php?id=2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := spider.Spider{Legs: []spider.Leg{test.leg.Leg()}, Callbacks: map[string]spider.Callback{"book": nothing}}
			var want []string
			for _, path := range test.want {
				want = append(want, "http://shop.example"+path)
			}
			equal(t, "requests", read(t, s, newPage("http://shop.example/list", linksPage, nil)).urls(), want)
		})
	}
}

func TestRegexLinksAsksAsItIsTold(t *testing.T) {
	follow := legs.Follow{
		Callback: "book", Errback: "sorry", CBKwargs: crawl.Values{"n": 1}, Meta: crawl.Values{"m": 2},
		Headers: map[string]string{"x-why": "so"}, Priority: 3, DontFilter: true,
	}
	s := spider.Spider{
		Callbacks: map[string]spider.Callback{"book": nothing},
		Errbacks:  map[string]spider.Errback{"sorry": nothing},
		Legs:      []spider.Leg{legs.RegexLinks{Follow: follow}.Leg()},
	}
	got := read(t, s, newPage("http://shop.example/", `<a href=a>a</a><a href=b>b</a>`, nil)).requests
	want := func(url string) *crawl.Request {
		return &crawl.Request{
			URL: url, Callback: "book", Errback: "sorry", CBKwargs: crawl.Values{"n": 1}, Meta: crawl.Values{"m": 2},
			Headers: http.Header{"X-Why": {"so"}}, Priority: 3, DontFilter: true,
		}
	}
	equal(t, "requests", got, []*crawl.Request{want("http://shop.example/a"), want("http://shop.example/b")})
	got[0].Meta["m"] = 9
	equal(t, "the other request's meta", got[1].Meta["m"], any(2))
}

func TestRegexLinksReadsHTMLAlone(t *testing.T) {
	for header, want := range map[string]int{
		"text/html": 3, "application/xhtml+xml; charset=utf-8": 3, "TEXT/HTML; charset": 3,
		"application/json": 0, "text/plain": 0, "application/xml": 0, "": 0,
	} {
		page := newPage("http://shop.example/list", linksPage, nil)
		page.Headers.Set("Content-Type", header)
		if got := len(read(t, spider.Spider{Legs: []spider.Leg{legs.RegexLinks{}.Leg()}}, page).requests); got != want {
			t.Errorf("Content-Type %q: %d links, want %d", header, got, want)
		}
	}
	for body, want := range map[string]int{"<!DOCTYPE html>" + linksPage: 3, "\n<HTML>" + linksPage: 3, "{}" + linksPage: 0} {
		page := newPage("http://shop.example/list", body, nil)
		page.Headers.Del("Content-Type")
		if got := len(read(t, spider.Spider{Legs: []spider.Leg{legs.RegexLinks{}.Leg()}}, page).requests); got != want {
			t.Errorf("body %.20q: %d links, want %d", body, got, want)
		}
	}
}

func TestRegexLinksMistakesAreToldAtOnce(t *testing.T) {
	wantMistakes(t, legs.RegexLinks{
		LinkOptions: extract.LinkOptions{Allow: []string{"("}, RestrictCSS: []string{"li["}},
		Follow:      legs.Follow{Callback: "novel", Errback: "sorry"},
		Only:        legs.Only{Callbacks: []string{"pages"}, URLs: []string{"["}},
	}.Leg(), `option allow: "("`, "option restrict_css", `option callback: the spider has no callback "novel"; there are book, parse`,
		`option errback: the spider has no errback "sorry"`, `option only.callbacks: the spider has no callback "pages"`, "option only.urls")
}
