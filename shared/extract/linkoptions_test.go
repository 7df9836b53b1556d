package extract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/extract"
)

func TestLinkOptions(t *testing.T) {
	const page = `<nav><a href="/about">About</a></nav>
		<main><a href="/p/1?b=2&a=1">First <b>page</b></a><a href="/p/1?a=1&b=2">Again</a><a href="/p/2.PDF">Paper</a>
		<a href="/login">Log in</a><img src="/i.png" alt="/alt"><a href="javascript:go('/hidden')">Hidden</a></main>
		<a href="https://sub.bücher.example/">Books</a>`
	const site = "http://example.com"
	tests := []struct {
		name, options string
		want          []string
	}{
		{"the default", `{}`, []string{site + "/about", site + "/p/1?b=2&a=1", site + "/login", "https://sub.xn--bcher-kva.example/"}},
		{"allow", `{"allow":["/p/\\d"]}`, []string{site + "/p/1?b=2&a=1"}},
		{"deny wins", `{"allow":["/p/","/login"],"deny":["b=2"]}`, []string{site + "/login"}},
		{"allow_domains, in any spelling", `{"allow_domains":["BÜCHER.example"]}`, []string{"https://sub.xn--bcher-kva.example/"}},
		{"deny_domains", `{"deny_domains":["example.com"]}`, []string{"https://sub.xn--bcher-kva.example/"}},
		{"deny_extensions of its own", `{"allow":["/p/"],"deny_extensions":["html"]}`, []string{site + "/p/1?b=2&a=1", site + "/p/2.PDF"}},
		{"no deny_extensions", `{"allow":["2"],"deny_extensions":[]}`, []string{site + "/p/1?b=2&a=1", site + "/p/2.PDF"}},
		{"restrict_css", `{"restrict_css":["nav","a[href*=login]"]}`, []string{site + "/about", site + "/login"}},
		{"restrict_xpaths", `{"restrict_xpaths":["//a[contains(@href,'login')]","//nav"]}`, []string{site + "/login", site + "/about"}},
		{"both", `{"restrict_css":["nav"],"restrict_xpaths":["//main/a[2]/@href"]}`, []string{site + "/p/1?a=1&b=2", site + "/about"}},
		{"restrict_xpaths that select no element", `{"restrict_xpaths":["count(//a)","//a/text()","//nothing"]}`, nil},
		{"restrict_text is found in what a reader sees", `{"restrict_text":["^First page$","(?i)LOG"]}`, []string{site + "/p/1?b=2&a=1", site + "/login"}},
		{"restrict_text looks at each link to a page", `{"restrict_text":["Again"]}`, []string{site + "/p/1?a=1&b=2"}},
		{"tags and attrs", `{"tags":["img"],"attrs":["src","alt"],"deny_extensions":[]}`, []string{site + "/i.png", site + "/alt"}},
		{"every attribute save one", `{"tags":["img"],"attrs":["*"],"deny_attrs":["src"]}`, []string{site + "/alt"}},
		{"every tag save one", `{"tags":["*"],"attrs":["*"],"deny_tags":["a"]}`, []string{site + "/alt"}},
		{"canonicalize", `{"allow":["b=2"],"canonicalize":true}`, []string{site + "/p/1?a=1&b=2"}},
		{"not unique", `{"allow":["b=2"],"unique":false}`, []string{site + "/p/1?b=2&a=1", site + "/p/1?a=1&b=2"}},
		{"process_value takes the first group", `{"process_value":"^javascript:go\\('(.*?)'"}`, []string{site + "/hidden"}},
		{"process_value takes all without a group", `{"process_value":"^.*/p/1"}`, []string{site + "/p/1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var options extract.LinkOptions
			if err := json.Unmarshal([]byte(test.options), &options); err != nil {
				t.Fatal(err)
			}
			e, err := options.Compile()
			if err != nil {
				t.Fatal(err)
			}
			for _, limit := range []int64{extract.DefaultParseMaxsize, 1} { // 1 is read by the tokenizer
				doc := extract.NewDocument([]byte(page), "text/html", site+"/")
				doc.LimitParse(limit)
				if diff := cmp.Diff(test.want, urls(e.Extract(doc))); diff != "" {
					t.Errorf("parsed up to %d bytes, mismatch (-want +got):\n%s", limit, diff)
				}
			}
		})
	}
}

func TestLinkOptionsThatAreWrongAreNamed(t *testing.T) {
	_, err := extract.LinkOptions{
		Allow:          []string{"fine", "("},
		Deny:           []string{"(?!x)"},
		AllowDomains:   []string{"https://example.com/"},
		DenyDomains:    []string{""},
		RestrictCSS:    []string{"a["},
		RestrictXPaths: []string{"//a[", "//a[@id=$id]"},
		RestrictText:   []string{"*"},
		DenyTags:       []string{"<a>"},
		Tags:           []string{},
		DenyExtensions: []string{".pdf"},
		ProcessValue:   `\1`,
	}.Compile()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`option allow: "(": missing closing )`,
		`option deny: "(?!x)": invalid or unsupported Perl syntax: "(?!" (regular expressions here have no look-ahead and no look-behind; deny can say what must not be there)`,
		`option allow_domains: "https://example.com/": no domain; want one without scheme, port and path, such as example.com`,
		`option deny_domains: "": no domain`,
		`option restrict_css: css selector "a["`,
		`option restrict_xpaths: xpath selector "//a[":`,
		`option restrict_xpaths: xpath selector "//a[@id=$id]": variable $id has no value here`,
		`option restrict_text: "*": missing argument to repetition operator`,
		`option deny_tags: "<a>": no name in markup`,
		`option tags: an empty list finds no link; leave it out for the default`,
		`option deny_extensions: ".pdf": no ending of a file name; want one without a dot in front, such as pdf`,
		`option process_value: "\\1": invalid escape sequence`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %s; it is\n%v", want, err)
		}
	}
}

// TestLinkOptionsTravel keeps an empty list, which denies no ending, apart from
// none, which denies those of files.
func TestLinkOptionsTravel(t *testing.T) {
	for _, endings := range [][]string{nil, {}} {
		data, err := json.Marshal(extract.LinkOptions{DenyExtensions: endings})
		if err != nil {
			t.Fatal(err)
		}
		var got extract.LinkOptions
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if (got.DenyExtensions == nil) != (endings == nil) {
			t.Errorf("%s came back as %v", data, got.DenyExtensions)
		}
	}
}

func urls(links []extract.Link) (list []string) {
	for _, l := range links {
		list = append(list, l.URL)
	}
	return list
}
