package yamlspider_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/yamlspider"
)

// right is a spider without mistakes, to put one into.
const right = "name: a\nparse: [pagination]\n"

// A mistake is one in a file, and whether the schema finds it too.
type mistake struct {
	name, text string
	want       string // LINE:COLUMN: and the beginning of the problem
	schema     bool
}

func mistakes() []mistake {
	return []mistake{
		{"an unknown key", right + "start_url: [http://x/]\n", `3:1: there is no key "start_url"; did you mean "start_urls"?`, true},
		{"an unknown key like no other", right + "zzzzzz: 1\n", `3:1: there is no key "zzzzzz"; there are name, allowed_domains, `, true},
		{"no name", "parse: [pagination]\n", `1:1: the spider has no name: give it one, such as name: shop`, true},
		{"a name with a blank", "name: a b\nparse: [pagination]\n", `1:7: a name is letters, digits and . _ -`, true},
		{"a name that is too long", "name: " + strings.Repeat("a", 201) + "\nparse: [pagination]\n", `1:7: a name has at most 200 letters, and this one has 201 bytes`, false},
		{"an empty name", "name: ''\nparse: [pagination]\n", `1:7: a name is letters, digits and . _ -`, true},
		{"a name that is a number", "name: 5\nparse: [pagination]\n", `1:7: it wants a text, and got 5`, true},
		{"a key without a value", right + "start_urls:\n", `3:12: start_urls has no value: give it one, or leave it out`, true},
		{"an entry without a value", right + "start_urls: [http://x/, ]\nallowed_domains:\n  -\n", `5:4: an entry of allowed_domains has no value`, true},
		{"a mapping for a list", right + "start_urls: {a: b}\n", `3:13: start_urls wants a list, and got a mapping`, true},
		{"a list for a mapping", right + "settings: [a]\n", `3:11: settings wants a mapping (key: value), and got a list`, true},
		{"a text for a file", "name\n", `1:1: the file wants a mapping (key: value), and got the text "name"`, true},
		{"a key twice", right + "name: b\n", `3:1: "name" stands here for the second time; the first is in line 1`, false},
		{"an option twice", "name: a\nparse:\n  - pagination:\n      max_pages: 1\n      max_pages: 2\n", `5:7: "max_pages" stands here for the second time; the first is in line 4`, false},
		{"a text for a number", right + "handle_httpstatus_list: [404, all]\n", `3:31: handle_httpstatus_list wants a whole number, and got the text "all"`, true},
		{"a fraction for a whole number", right + "handle_httpstatus_list: [404.5]\n", `3:26: handle_httpstatus_list wants a whole number, and got 404.5`, true},
		{"an octal number", right + "handle_httpstatus_list: [0404]\n", `3:26: handle_httpstatus_list wants a whole number, and got 0404`, false},
		{"a number for a text", "name: a\nparse:\n  - regex_links: {allow: 5}\n", `3:26: allow wants a text (put it into quotes: "5"), and got 5`, true},
		{"a text for a truth", "name: a\nparse:\n  - regex_links: {unique: yes}\n", `3:27: unique wants true or false, and got the text "yes"`, true},
		{"a number for a mapping of texts", "name: a\nparse:\n  - regex_links: {headers: {A: 5}}\n", `3:32: A wants a text (put it into quotes: "5"), and got 5`, true},
		{"an unknown leg", "name: a\nparse:\n  - regexlinks: {}\n", `3:5: there is no leg "regexlinks"; did you mean "regex_links"?`, true},
		{"an unknown leg by its name alone", "name: a\nparse: [paginaton]\n", `2:9: there is no leg "paginaton"; did you mean "pagination"?`, true},
		{"a leg like no other", "name: a\nparse: [zzz]\n", `2:9: there is no leg "zzz"; there are `, true},
		{"options beside their leg", "name: a\nparse:\n  - regex_links:\n    allow: /p/\n", `4:5: a leg has one key, its kind (here regex_links), and the options stand below that`, true},
		{"a leg that is a list", "name: a\nparse:\n  - [pagination]\n", `3:5: a leg is its kind, with its options below it, and this is a list`, true},
		{"a leg that is nothing", "name: a\nparse:\n  - {}\n", `3:5: a leg is its kind, with its options below it`, true},
		{"options that are a list", "name: a\nparse:\n  - regex_links: [a]\n", `3:18: regex_links wants a mapping (key: value), and got a list`, true},
		{"an unknown option", "name: a\nparse:\n  - regex_links: {alow: /p/}\n", `3:19: there is no option "alow"; did you mean "allow"?`, true},
		{"an unknown option within one", "name: a\nparse:\n  - callback_rules: {rules: [{uri: /p/, callback: parse}]}\n", `3:31: there is no key "uri"; did you mean "url"?`, true},
		{"an unknown option of a sub-leg", "name: a\nparse:\n  - pagination:\n      legs:\n        - item_id: {fields: [a]}\n", `5:21: there is no option "fields"`, true},
		{"a wrong regular expression", "name: a\nparse:\n  - regex_links:\n      allow:\n        - /p/\n        - '/p/('\n", `5:9: regex_links: option allow: `, false},
		{"a wrong regular expression that stands alone", "name: a\nparse:\n  - regex_links: {allow: '/p/('}\n", `3:26: regex_links: option allow: `, false},
		{"a wrong selector", "name: a\nparse:\n  - pagination: {next: 'li.next a::attr(href'}\n", `3:24: pagination: option next: `, false},
		{"a selector in no language", "name: a\nparse:\n  - pagination: {next: {css3: a}}\n", `3:25: there is no key "css3"; did you mean "css"?`, true},
		{"two selectors for one", "name: a\nparse:\n  - pagination: {next: {css: a, xpath: //a}}\n", `3:24: pagination: option next: `, true},
		{"an empty selector", "name: a\nparse:\n  - pagination: {next: ''}\n", `3:24: next is empty: write a CSS selector`, true},
		{"an unknown option of a field", "name: a\nparse:\n  - fields:\n      fields: {b: {css: h1, tipe: int}}\n", `4:29: there is no key "tipe"; did you mean "type"?`, true},
		{"an unknown processor", "name: a\nparse:\n  - fields:\n      fields: {b: {css: h1, process: stripp}}\n", `4:38: process: there is no processor "stripp"`, true},
		{"a wrong selector of a field", "name: a\nparse:\n  - fields:\n      fields:\n        b: '['\n", `5:12: fields: option fields.b: `, false},
		{"a wrong selector of a field in a field", "name: a\nparse:\n  - fields:\n      fields:\n        b: {fields: {c: {css: '['}}}\n", `5:25: fields: option fields.b.fields.c: `, false},
		{"a wrong option in a list", "name: a\nparse:\n  - callback_rules:\n      rules:\n        - {url: /p/, callback: parse}\n        - {url: '(', callback: parse}\n", `6:17: callback_rules: option rules[1].url: `, false},
		{"a callback that is not there", "name: a\nparse:\n  - regex_links: {callback: product}\ncallbacks:\n  products: [pagination]\n", `3:29: regex_links: option callback: the spider has no callback "product"; there are parse, products`, false},
		{"a callback without legs", "name: a\nparse: [pagination]\ncallbacks: {b: []}\n", `3:16: callback b has no legs`, true},
		{"a callback that stands twice", right + "callbacks: {parse: [pagination]}\n", `3:20: the callback parse stands above, too: put its legs in one place`, false},
		{"a callback that reads nothing", right + "callbacks: {b: [item_id]}\n", `: spider "a": callback "b" reads no page`, false},
		{"a leg of a callback that begins a crawl", "name: a\nparse:\n  - sitemap: {sitemap_urls: http://x/sitemap.xml}\n", `3:5: sitemap begins a crawl, and legs of a callback do not: put it under legs`, false},
		{"two legs of a name", "name: a\nparse:\n  - pagination: {name: x}\n  - pagination: {name: x}\n", `4:24: two legs are named "x"; the first is in line 3`, false},
		{"a wrong name of a leg", "name: a\nparse:\n  - pagination: {name: x y}\n", `3:24: a name is letters, digits and . _ -`, true},
		{"nothing that reads a page", "name: a\nlegs: [item_id]\n", `:1:1: nothing reads a page: give the spider legs that do`, false},
		{"a name alone", "name: a\n", `:1:1: nothing reads a page`, false},
		{"a number for a field", "name: a\nparse:\n- fields: {fields: {t: 5}}\n", `:3:24: t wants a CSS selector (t: h1::text) or a mapping such as {xpath: //h1}, and got`, false},
		{"nothing for a field", "name: a\nparse:\n- fields: {fields: {t: }}\n", `3:24: t wants a CSS selector (t: h1::text)`, false},
		{"a list for a selector", "name: a\nparse:\n- pagination: {next: [a]}\n", `3:22: next wants a CSS selector (next: h1::text)`, false},
		{"a header's name", "name: a\nparse:\n- regex_links: {headers: {'a b': x}}\n", `:3:26: regex_links: option headers: "a b" is no name of a header`, false},
		{"a line end in a header", "name: a\nparse:\n- regex_links: {headers: {X: \"a\\nB: b\"}}\n", `:3:30: regex_links: option headers.X: it has a line end`, false},
		{"an unknown setting", right + "settings: {DOWNLOAD_DELEY: 2}\n", `3:28: setting DOWNLOAD_DELEY of the spider: there is none of that name; did you mean DOWNLOAD_DELAY?`, false},
		{"a wrong value of a setting", right + "settings: {DOWNLOAD_DELAY: quick}\n", `3:28: setting DOWNLOAD_DELAY of the spider: "quick" is not `, false},
		{"a domain that is a URL", right + "allowed_domains: [http://x.example/]\n", `3:19: allowed domain "http://x.example/": it is a URL; write "x.example"`, false},
		{"a start URL of another scheme", right + "start_urls: [ftp://x/]\n", `3:14: start URL "ftp:…": a crawl begins with http or https`, false},
		{"a start URL that is none", right + "start_urls: ['x.example/']\n", `3:14: start URL "x.example/"`, false},
		{"an argument that is not declared", right + "start_urls: ['http://x/{tag}']\n", `3:14: there is no argument "tag", and no other; declare it under args, or write %7Btag%7D for the braces themselves`, false},
		{"an argument whose name is none", right + "args: {a b: c}\n", `3:13: the name of an argument is letters, digits and _, and "a b" is not`, true},
		{"an argument that is a list", right + "args: {a: [b]}\n", `3:11: the default of an argument is one value, and got a list`, true},
		{"a contract without a URL", right + "contracts: [{items: 1}]\n", `3:12: spider "a": contract 1, for : it has no URL`, true},
		{"a contract of no callback", right + "contracts: [{url: 'http://x/', callback: b}]\n", `3:19: spider "a": contract 1, for http://x/: there is no callback "b"`, false},
		{"a contract that counts nothing", right + "contracts: [{url: 'http://x/', items: some}]\n", `3:39: it wants a number of 0 or more, or {min: 1, max: 16}, and got the text "some"`, true},
		{"a contract that no number keeps", right + "contracts: [{url: 'http://x/', items: {min: 2, max: 1}}]\n", `3:39: no number is from 2 to 1`, false},
		{"a merge key", "x: &x {a: 1}\n<<: *x\n", `2:1: merge keys (<<) are not read`, true},
		{"a tag", "name: !!str a\nparse: [pagination]\n", `1:7: tags such as !!str are not read`, false},
		{"a key that is a list", right + "[a]: b\n", `3:1: the file has a key that is a list; keys are words`, false},
		{"an alias within itself", "name: a\nparse:\n  - pagination: &x {legs: [{pagination: *x}]}\n", `3:28: it is nested more than 64 deep`, false},
		{"an unknown alias", "name: *a\n", `1:7: it is no YAML: unknown anchor 'a' referenced`, false},
		{"no YAML", "name: a\nparse: [pagination\n", `3:1: it is no YAML: `, false},
		{"a tab for blanks", "name: a\nparse:\n\t- pagination\n", `3:1: it is no YAML: while scanning for the next token: found character that cannot start any token; it is a tab: YAML is indented with spaces`, false},
		{"a text that begins with @", "name: a\nparse: @x\n", `2:8: it is no YAML: while scanning for the next token: found character that cannot start any token; put a text that begins with @,`, false},
		{"a regular expression in double quotes", "name: a\nparse: [regex_links: {allow: \"\\d\"}]\n", `2:31: it is no YAML: while scanning a quoted scalar: found unknown escape character; in double quotes a backslash begins an escape: write regular expressions in single quotes`, false},
		{"two documents", right + "---\n" + right, `3:1: a second YAML document: a file has one spider`, false},
		{"an empty file", "", `: it is empty: a spider has a name, start_urls and legs`, false},
		{"a comment alone", "# nothing\n", `: it is empty`, false},
		{"a file that is nothing", "~\n", `1:1: the file wants a mapping (key: value), and got nothing`, true},
		{"a control character", "name: a\x07\n", `1:8: it is no text in UTF-8`, false},
		{"no UTF-8", "name: a\nparse: [\xff]\n", `2:9: it is no text in UTF-8`, false},
	}
}

func TestMistakesAreToldWithTheirPlace(t *testing.T) {
	for _, m := range mistakes() {
		t.Run(m.name, func(t *testing.T) {
			_, err := yamlspider.Load("a.yaml", []byte(m.text))
			var all yamlspider.Mistakes
			if !errors.As(err, &all) {
				t.Fatalf("got %v, want %s", err, m.want)
			}
			want := "a.yaml:" + strings.TrimPrefix(m.want, ":")
			for _, got := range all {
				if strings.HasPrefix(got.Error(), want) {
					return
				}
			}
			t.Errorf("got\n%v\nwant\n%s", err, want)
		})
	}
}

func TestAllMistakesOfAFileAreToldWithExcerpts(t *testing.T) {
	_, err := yamlspider.Load("spiders/a.yaml", []byte(`name: a
start_urls: [ftp://x/]
parse:
  - regex_links:
      allow: '('
      uniqe: true
  - pagination: {next: '['}
`))
	want := `spiders/a.yaml:2:14: start URL "ftp:…": a crawl begins with http or https
     1 | name: a
>    2 | start_urls: [ftp://x/]
                      ^
spiders/a.yaml:6:7: there is no option "uniqe"; did you mean "unique"?
     4 |   - regex_links:
     5 |       allow: '('
>    6 |       uniqe: true
               ^
spiders/a.yaml:7:24: pagination: option next: `
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("(-want, +got):\n%s", cmp.Diff(want, fmt.Sprint(err)))
	}
}

func TestAllMistakesOfALegAreTold(t *testing.T) {
	_, err := yamlspider.Load("a.yaml", []byte("name: a\nparse:\n  - callback_rules: {rules: [{url: '(', callback: b}]}\n"))
	var all yamlspider.Mistakes
	if !errors.As(err, &all) || len(all) != 2 || all[0].Column != 36 || all[1].Column != 51 {
		t.Errorf("got %v", err)
	}
}

func TestNoMoreMistakesAreToldThanHelp(t *testing.T) {
	_, err := yamlspider.Load("a.yaml", []byte(right+"allowed_domains:\n"+strings.Repeat("- 'http://x/'\n", 60)))
	var all yamlspider.Mistakes
	if !errors.As(err, &all) || len(all) != 21 || all[20].Error() != "a.yaml: and 40 more mistakes" {
		t.Errorf("got %d mistakes, the last: %v", len(all), all[len(all)-1])
	}
}

func TestExcerptsOfLongLinesAreShort(t *testing.T) {
	long := strings.Repeat("é", 5000)
	_, err := yamlspider.Load("a.yaml", []byte("name: a\nparse: [{regex_links: {deny: '"+long+"', alow: b}}]\n"))
	var all yamlspider.Mistakes
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	lines := strings.Split(all[0].Excerpt, "\n")
	shown, mark := []rune(lines[1]), strings.IndexByte(lines[2], '^')
	if len(all[0].Excerpt) > 500 || string(shown[mark:mark+4]) != "alow" {
		t.Errorf("got %s\nmark at %d", all[0].Excerpt, mark)
	}
}

func TestExcerptsKeepATerminalSafe(t *testing.T) {
	_, err := yamlspider.Load("a.yaml", []byte("name: a\nparse: [\"x\u202ey\u0085\"]\n"))
	if err == nil || strings.ContainsAny(err.Error(), "\u202e\u0085") {
		t.Errorf("got %q", err)
	}
}

// Whoever writes such a file gets an error, soon, and costs nobody the memory.
// numbered repeats a form n times, with a number in each.
func numbered(form string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}

func TestMistakesOfLegsAreFoundUpToABound(t *testing.T) {
	_, err := yamlspider.Load("a.yaml", []byte("name: a\nlegs:\n"+strings.Repeat("- regex_links: {allow: '('}\n", 150)))
	var all yamlspider.Mistakes
	if !errors.As(err, &all) || len(all) != 21 || all[20].Error() != "a.yaml: and at least 80 more mistakes" {
		t.Errorf("got %v", err)
	}
}

func TestHostileFilesAreRefusedWithinBounds(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", "))
	}
	const most = yamlspider.MaxSize
	keys := func(form string) string {
		var b strings.Builder
		for i := 0; b.Len() < most-40; i++ {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"10 MB":          right + strings.Repeat("# comment\n", 1<<20),
		"an alias bomb":  right + "settings:\n  " + strings.ReplaceAll(bomb, "\n", "\n  ") + "\n",
		"a leg bomb":     "name: a\nparse: &a\n- pagination: &b {legs: [{pagination: {legs: *a}}, {pagination: *b}]}\n",
		"lists":          strings.Repeat("[", most),
		"block lists":    strings.Repeat("- ", most/2),
		"mappings":       strings.Repeat("{a: ", most/4),
		"question marks": strings.Repeat("? ", most/2),
		"many keys":      keys("k%d: 1\n"),
		"many settings":  right + "settings:\n" + keys("  K%d: 1\n"),
		"many legs":      "name: a\nparse:\n" + keys("- pagination: {name: n%d}\n"),
		"many of a kind": "name: a\nlegs:\n" + strings.Repeat("- regex_links: {allow: '('}\n", 4000),
		"no callbacks":   "name: a\ncallbacks:\n" + numbered("  c%d: [pagination]\n", 3000) + "legs:\n" + numbered("- regex_links: {callback: x%d}\n", 3000),
		"many anchors":   keys("k%d: &a x\n"),
		"long names":     "name: a\n" + strings.Repeat("k", most-100) + ": 1\n",
		"no line ends":   strings.Repeat("a: b: ", most/6),
		"quotes":         "name: \"" + strings.Repeat("x\n ", most/4),
		"tags":           strings.Repeat("!!a ", most/4),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := yamlspider.Load("a.yaml", []byte(text))
			if err == nil || len(err.Error()) > 30_000 {
				t.Errorf("got an error of %d bytes", len(fmt.Sprint(err)))
			}
			// Time is work, and work that is not linear allocates.
			if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 512<<20 {
				t.Errorf("%d MB were allocated", (after.TotalAlloc-before.TotalAlloc)>>20)
			}
		})
	}
}
