package extract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/extract"
)

// The fuzz tests compile and evaluate: whatever comes, nothing panics, and what
// is wrong is an error that begins with the language's name.
func fuzz(f *testing.F, compile func(string) (*extract.Query, error), name string, page func() *extract.Document, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// A panic is what makes the fuzzer keep an input that hangs.
		defer time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("%q takes too long", text)) }).Stop()
		q, err := compile(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), name+" selector ") {
				t.Errorf("the error does not say what is wrong: %v", err)
			}
			return
		}
		d := page()
		found := d.Select(q)
		found.Text()
		found.Values()
		if len(found.All()) != found.Len() {
			t.Error("not as many values as hits")
		}
		for part := range found.Each() {
			part.Select(q)
		}
	})
}

func fuzzPage() *extract.Document {
	return extract.NewDocument([]byte(`<html lang=en><body><h1 id=h>T</h1><ul class="a b"><li>1<li title='x "y"'>2</ul><svg><path d=M></svg><!-- c --></body></html>`), "text/html", "http://example.com/")
}

func FuzzCSS(f *testing.F) {
	fuzz(f, extract.CompileCSS, "css", fuzzPage,
		"ul > li::text", "li::attr(title)", "a[b='c'], *", ":is(h1, ul) ~ li", "li:nth-child(2n+1)", "div:has(> p)", "svg|path", `a\`, "::text", "a[", ":not(", "p:contains('x", "a|", "|", "*|*", "li:nth-child(-99999999999999999999n)", "\x00", ">", ",,", "a:is(b::text)", ":not(:not(:not(a)))", `#\31 `, "é.ü")
}

func FuzzXPath(f *testing.F) {
	fuzz(f, extract.CompileXPath, "xpath", fuzzPage,
		"//li/@title", "count(//li)", "//li[2]", "(//li)[last()]", "//*[has-class('a')]", "re:match(//h1, '(.)', 'g')", "set:distinct(//li)", "//li[position() mod 2 = 1] | //@*", "substring('abc', 0 div 0, -1 div 0)", "1 div 0", "string()", "- - 1", "//li[0.5]", "//li[1e9]", "a[", "..//..", "//namespace::*", "ancestor::*[1]/following::node()", "id('h')", "translate('a', 'a', '')", "$x", "lang('en')", "//li[99999999999999999999]", "processing-instruction('x')", "//li[.='1' and not(@title) or 2 > '1']", "\x00", "'", "re:replace('a', 'a', '', '\\9')", "substring('é', 1, 1)")
}

func FuzzJMESPath(f *testing.F) {
	fuzz(f, extract.CompileJMESPath, "jmespath", func() *extract.Document { return jsonDocument(answer) },
		"list[?p > `1.10`].id", "map.*.v", "sort_by(list, &p)", "max_by(list, &id)", "`9007199254740993`", "id == `9007199254740993`", "list[::0]", "list[::-1]", "to_number('1e999')", "contains(list, map)", "`{\"a\": 1.10}`", "a[", "&a", "@", "'", "`", "`\\``", "\"", "length(@)", "map(&p, list)", "let $x = id in $x", "group_by(list, &html)", "price / `0`", "pad_left(html, id)", "find_first(html, 'a', `-1`, `-2`)", "sum(list[].id)", "zip(list, list)", "from_items(items(map))", "split(html, '', `1`)", "\x00", "abs(-price)", "-html", "big * big", "not_null(none)", "reverse(list)", "merge(map, map)", "type(&a)", "to_string(&a)", "join(',', keys(map))", "&a == &b")
}

func FuzzJSONPath(f *testing.F) {
	fuzz(f, extract.CompileJSONPath, "jsonpath", func() *extract.Document { return jsonDocument(answer) },
		"$", "$.list[*].p", "$..v", "$.list[?@.p > 1.5].id", "$[::-1]", "$.list[::0]", "$..[?@.id]", "$.list[-1]", "$['id']", "$[", "a", "$.list[?length(@.p) == 1]", "$.list[?match(@.id, '.*')]", "$.list[?@.p == $.price]", "\x00", "$.list[9007199254740993]", "$..*")
}
