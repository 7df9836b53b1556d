package extract_test

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/weburl"
)

func TestExtract(t *testing.T) {
	re := func(patterns ...string) (compiled []*regexp.Regexp) {
		for _, p := range patterns {
			compiled = append(compiled, regexp.MustCompile(p))
		}
		return compiled
	}
	const links = `<nav><a href="/nav">n</a></nav><main><a href="/p/1">1</a><a href="/p/2?x">2</a></main>
		<a href="http://sub.other.example/">o</a><a href="http://another.example/">a</a>`
	const nested = `<div><a href="/1">1</a><div><a href="/2">2</a><p><a href="/3">3</a></p></div></div>`
	tests := []struct {
		name string
		html string
		e    extract.LinkExtractor
		want []string
	}{
		{name: "URL-01: padding around an address", html: "<a href=\"\n\t http://other.example/x \n\">t</a>", want: []string{"http://other.example/x"}},
		{name: "URL-08: what is no page", html: `<a href="javascript:void(0)">1</a><a href=" JavaScript:x">2</a><a href="mailto:a@example.com">3</a><a href="tel:+1">4</a><img src="data:image/png;base64,/9j/4AAQ"><a href="/ok">5</a>`,
			e: extract.LinkExtractor{Tags: []string{"a", "img"}, Attrs: []string{"href", "src"}}, want: []string{"http://example.com/ok"}},
		{name: "URL-09: links in noscript", html: `<html><head><noscript><link href=x></noscript></head><body><noscript><a href="/n">menu</a></noscript>`, want: []string{"http://example.com/n"}},
		{name: "URL-16: entities are decoded once", html: `<a href="?&amp;p=2">2</a><a href="?a=1&copy=2">3</a>`, want: []string{"http://example.com/list?&p=2", "http://example.com/list?a=1&copy=2"}},
		{name: "URL-17: a bad link does not cost the page", html: `<a href="http://[oops/">1</a><a href="http://example.com:port/">2</a><a href="http://ex ample.com/">3</a><a href="/ok">4</a>`, want: []string{"http://example.com/ok"}},
		{name: "area elements, and no others", html: `<area href="/a"><link href="/l"><a name="x"><img src="/i">`, want: []string{"http://example.com/a"}},
		{name: "an address that is empty is the page's own", html: `<a href="">x</a><a href="#top">y</a>`, want: []string{"http://example.com/list"}},
		{name: "one page once", html: `<a href="/a">1</a><a href="/b">2</a><a href="/a#x">3</a>`, want: []string{"http://example.com/a", "http://example.com/b"}},
		{name: "one page as often as it is linked", html: `<a href="/a">1</a><a href="/a#x">3</a>`, e: extract.LinkExtractor{Repeated: true}, want: []string{"http://example.com/a", "http://example.com/a"}},
		{name: "of links with one canonical URL the first", html: `<a href="/a?b=2&a=1">1</a><a href="/a?a=1&b=2">2</a>`, want: []string{"http://example.com/a?b=2&a=1"}},
		{name: "canonical", html: `<a href="/a?b=2&a=1">1</a><a href="/a?a=1&b=2">2</a>`, e: extract.LinkExtractor{Canonicalize: true}, want: []string{"http://example.com/a?a=1&b=2"}},
		{name: "files that are no pages", html: `<a href="/a.PDF">1</a><a href="/a.tar.gz?x">2</a><a href="/s.xml.gz">3</a><a href="/v1.5">4</a><a href="/dir.zip/">5</a><a href="/a.">6</a><a href="/a.exe">7</a>`,
			want: []string{"http://example.com/s.xml.gz", "http://example.com/v1.5", "http://example.com/dir.zip/", "http://example.com/a."}},
		{name: "files of its own", html: `<a href="/a.pdf">1</a><a href="/b.HTML">2</a>`, e: extract.LinkExtractor{DenyExtensions: []string{"html"}}, want: []string{"http://example.com/a.pdf"}},
		{name: "all files", html: `<a href="/a.pdf">1</a>`, e: extract.LinkExtractor{DenyExtensions: []string{}}, want: []string{"http://example.com/a.pdf"}},
		{name: "other schemes", html: `<a href="ftp://example.com/x">1</a><a href="FILE:///x">2</a><a href="ws://example.com/">3</a><a href="https://example.com/">4</a>`,
			want: []string{"ftp://example.com/x", "file:///x", "https://example.com/"}},
		{name: "allow", html: links, e: extract.LinkExtractor{Allow: re(`/p/\d`, `nothing`)}, want: []string{"http://example.com/p/1", "http://example.com/p/2?x"}},
		{name: "deny wins", html: links, e: extract.LinkExtractor{Allow: re(`/p/`), Deny: re(`\?`)}, want: []string{"http://example.com/p/1"}},
		{name: "allowed domains", html: links, e: extract.LinkExtractor{AllowDomains: []string{"Other.example"}}, want: []string{"http://sub.other.example/"}},
		{name: "denied domains", html: links, e: extract.LinkExtractor{DenyDomains: []string{"example.com", "other.example"}}, want: []string{"http://another.example/"}},
		{name: "inside of a part", html: links, e: extract.LinkExtractor{Restrict: []*extract.Query{extract.MustCSS("main"), extract.MustCSS("a[href='/nav']")}}, want: []string{"http://example.com/p/1", "http://example.com/p/2?x", "http://example.com/nav"}},
		{name: "parts that lie in each other", html: nested, e: extract.LinkExtractor{Restrict: []*extract.Query{extract.MustXPath("//p"), extract.MustCSS("div")}}, want: []string{"http://example.com/3", "http://example.com/1", "http://example.com/2"}},
		{name: "parts that lie in each other, each time", html: nested, e: extract.LinkExtractor{Repeated: true, Restrict: []*extract.Query{extract.MustCSS("div")}}, want: []string{
			"http://example.com/1", "http://example.com/2", "http://example.com/3", "http://example.com/2", "http://example.com/3"}},
		{name: "a part that is a link itself, by its attribute", html: links, e: extract.LinkExtractor{Restrict: []*extract.Query{extract.MustCSS("nav a::attr(href)")}}, want: []string{"http://example.com/nav"}},
		{name: "text", html: `<a href="/a">one</a><a href="/b">more<br>
			pages</a><a href="/c"><img alt="more pages"></a>`, e: extract.LinkExtractor{RestrictText: re(`two`, `more pages`)}, want: []string{"http://example.com/b"}},
		{name: "text of the second link to a page", html: `<a href="/a"><img></a><a href="/a">next</a>`, e: extract.LinkExtractor{RestrictText: re(`next`)}, want: []string{"http://example.com/a"}},
		{name: "every attribute", html: `<area href="/a" data-more="/b"><b data-more="/c">2</b>`, e: extract.LinkExtractor{Attrs: []string{"*"}}, want: []string{"http://example.com/a", "http://example.com/b"}},
		{name: "every attribute save one", html: `<a href="/a" data-more="/b">1</a>`, e: extract.LinkExtractor{Attrs: []string{"*"}, DenyAttrs: []string{"href"}}, want: []string{"http://example.com/b"}},
		{name: "every tag save one, in which others are", html: `<div href="/d"><a href="/a">1</a><i href="/i">2</i></div>`, e: extract.LinkExtractor{Tags: []string{"*"}, DenyTags: []string{"div"}}, want: []string{"http://example.com/a", "http://example.com/i"}},
		{name: "a denied tag of the default ones", html: `<area href="/x"><a href="/a">1</a>`, e: extract.LinkExtractor{DenyTags: []string{"area"}}, want: []string{"http://example.com/a"}},
		{name: "a denied attribute of the default one", html: `<a href="/a">1</a>`, e: extract.LinkExtractor{DenyAttrs: []string{"href"}}},
		{name: "a value that is changed or dropped", html: `<a href="javascript:go('/x')">1</a><a href="/y">2</a>`,
			e: extract.LinkExtractor{ProcessValue: func(v string) (string, bool) {
				v, found := strings.CutPrefix(v, "javascript:go('")
				return strings.TrimSuffix(v, "')"), found
			}}, want: []string{"http://example.com/x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			doc := extract.NewDocument([]byte(test.html), "text/html", "http://example.com/list")
			var got []string
			for _, link := range test.e.Extract(doc) {
				got = append(got, link.URL)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLink(t *testing.T) {
	doc := document(`<a rel="NOFOLLOW,noopener" href="/a#f ö"> a <b>bold</b> word </a><a rel="noopener NoFollow" href="/b">b</a><a rel="nofollowed" href="/c"></a>`)
	want := []extract.Link{
		{URL: "http://example.com/a", Fragment: "f%20%C3%B6", Text: "a bold word", Nofollow: true},
		{URL: "http://example.com/b", Text: "b", Nofollow: true},
		{URL: "http://example.com/c"},
	}
	if diff := cmp.Diff(want, (&extract.LinkExtractor{}).Extract(doc)); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

func TestProcessValueGets(t *testing.T) {
	const page = `<base href="/dir/"><a href=" x?q=ü ">1</a><a href=" javascript:go('/x') ">2</a><a href="http://[oops">3</a><a href="">4</a>`
	for _, test := range []struct {
		name string
		keep bool
		want []string
	}{
		{"absolute addresses, and the rest as it is", false, []string{"http://example.com/dir/x?q=%C3%BC", "javascript:go('/x')", "http://[oops", "http://example.com/dir/"}},
		{"blanks at the end where they are kept", true, []string{"http://example.com/dir/x?q=%C3%BC ", "javascript:go('/x') ", "http://[oops", "http://example.com/dir/"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			e := extract.LinkExtractor{KeepBlanks: test.keep, ProcessValue: func(v string) (string, bool) {
				got = append(got, v)
				return v, false
			}}
			if links := e.Extract(document(page)); len(links) > 0 {
				t.Errorf("what is dropped is taken: %v", links)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestManyNestedPartsAreVisitedOnce is a page that would take the square of its
// size otherwise.
func TestManyNestedPartsAreVisitedOnce(t *testing.T) {
	values := 0
	e := extract.LinkExtractor{Restrict: []*extract.Query{extract.MustCSS("div")}, ProcessValue: func(v string) (string, bool) {
		values++
		return v, true
	}}
	e.Extract(document(strings.Repeat("<div>", 300) + strings.Repeat(`<a href="/x">x</a>`, 10)))
	if values != 10 {
		t.Errorf("10 links are looked at %d times", values)
	}
}

func TestLinksOfAPageInAnotherEncoding(t *testing.T) {
	body, err := base64.StdEncoding.DecodeString("PGEgaHJlZj0iL/Q/cT3v8Oji5fIiPnQ8L2E+")
	if err != nil {
		t.Fatal(err)
	}
	doc := extract.NewDocument(body, "text/html; charset=windows-1251", "http://example.com/")
	links := (&extract.LinkExtractor{}).Extract(doc)
	if len(links) != 1 || links[0].URL != "http://example.com/%D1%84?q=%EF%F0%E8%E2%E5%F2" {
		t.Errorf("got %v", links)
	}
}

func TestAddressesThatAreNoPagesAreCounted(t *testing.T) {
	doc := document(`<a href="http://[oops/">1</a><a href="mailto:x@example.com">2</a><a href="/denied.pdf">3</a>`)
	(&extract.LinkExtractor{}).Extract(doc)
	if n := doc.TakeNotPages(); n != 2 {
		t.Errorf("got %d, want 2", n)
	}
}

func TestMatches(t *testing.T) {
	e := extract.LinkExtractor{Allow: []*regexp.Regexp{regexp.MustCompile(`/p/`)}}
	for raw, want := range map[string]bool{
		"http://example.com/p/1":     true,
		"http://example.com/q/1":     false,
		"http://example.com/p/1.zip": false,
		"ws://example.com/p/1":       false,
	} {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Matches(u); got != want {
			t.Errorf("%s: got %v, want %v", raw, got, want)
		}
	}
}

func TestIgnoredExtensions(t *testing.T) {
	for _, ending := range extract.IgnoredExtensions() {
		u, err := weburl.Parse("http://example.com/x." + ending)
		if err != nil {
			t.Fatal(err)
		}
		if (&extract.LinkExtractor{}).Matches(u) {
			t.Errorf("a link to a %s file is followed", ending)
		}
	}
	if n := len(extract.IgnoredExtensions()); n != 91 {
		t.Errorf("there are %d endings, Scrapy has 91", n)
	}
}
