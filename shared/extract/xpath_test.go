package extract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/extract"
)

const xpathPage = `<html lang="en"><body><div id="m"><p>one <b>two</b></p><p class="x y">three</p>
<a href="/a">A</a><a href="/b" title="it's &quot;b&quot;">B</a></div><svg viewBox="0 0 1 1"><linearGradient id="g"/></svg></body></html>`

func TestXPath(t *testing.T) {
	d := extract.NewDocument([]byte(xpathPage), "text/html", "http://example.com/")
	div := d.CSS("div")
	for _, test := range []struct {
		name string
		got  extract.Selection
		want []string
	}{
		{"attributes", d.XPath("//a/@href"), []string{"/a", "/b"}},
		{"texts", d.XPath("//p/text()"), []string{"one ", "three"}},
		{"elements", d.XPath("//b"), []string{"<b>two</b>"}},
		{"a string", d.XPath("string(//p)"), []string{"one two"}},
		{"a number", d.XPath("count(//a)"), []string{"2"}},
		{"true", d.XPath("count(//a) = 2"), []string{"1"}},
		{"false", d.XPath("count(//a) = 3"), []string{"0"}},
		{"the root element is the context", d.XPath("@lang"), []string{"en"}},
		{"relative", div.XPath("./p/b/text()"), []string{"two"}},
		{"in it", div.XPath(".//b/text()"), []string{"two"}},
		{"absolute from a part", d.CSS("b").XPath("//a/@href"), []string{"/a", "/b"}},
		{"up from a text", d.XPath("//b/text()").XPath("../../../a[1]/@href"), []string{"/a"}},
		{"up from an attribute", d.CSS("a::attr(title)").XPath("../text()"), []string{"B"}},
		{"CSS after XPath", d.XPath("//div").CSS("p.x::text"), []string{"three"}},
		{"has-class", d.XPath("//p[has-class('x', 'y')]/text()"), []string{"three"}},
		{"re:test", d.XPath(`//a[re:test(@href, '^/[b-z]')]/text()`), []string{"B"}},
		{"SVG without a prefix", d.XPath("//svg/@viewBox"), []string{"0 0 1 1"}},
		{"SVG in lower case", d.XPath("//lineargradient/@id"), []string{"g"}},
		{"SVG as it is written", d.XPath("//linearGradient/@id"), []string{"g"}},
		{"a string variable", d.XPathWith("//a[@title=$t]/@href", map[string]any{"t": `it's "b"`}), []string{"/b"}},
		{"a number variable", d.XPathWith("//a[$n]/@href", map[string]any{"n": 2}), []string{"/b"}},
		{"a bool variable", d.XPathWith("//a[$on]/@href", map[string]any{"on": false}), []string{}},
		{"nodes as a variable", d.XPathWith("set:difference(//a, $seen)/@href", map[string]any{"seen": d.CSS("a[title]")}), []string{"/a"}},
		{"a variable is no code", d.XPathWith("//a[@title=$t]/@href", map[string]any{"t": `' or '1'='1`}), []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got.All()); diff != "" || test.got.Err() != nil {
				t.Errorf("(-want +got)\n%s%v", diff, test.got.Err())
			}
		})
	}
}

func TestXPathThatIsWrong(t *testing.T) {
	for _, test := range []struct {
		expression, want string
	}{
		{"", `xpath selector "": it is empty`},
		{"//a[", "it ends where a name or another step of a path is expected"},
		{"//a]", `an operator or the end is expected, not "]"`},
		{"//a b", `an operator or the end is expected, not "b"`},
		{"//a[@href='x]", `a ' is missing after "'x]"`},
		{"//a[contains(@href)]", "contains() takes 2 arguments, not 1"},
		{"//a[contain(@href, 'x')]", "unknown function contain(); the functions are boolean, ceiling, concat, contains,"},
		{"count('x')", "count() takes a set of nodes, not a string"},
		{"child:://a", `another step of a path is expected, not "//a"`},
		{"nope::a", `unknown axis "nope"`},
		{"//a/count(b)", "a function cannot be a step of a path"},
		{"//a | 'x'", "| joins nodes, not a string"},
		{"'x'[1]", "a string has no nodes to choose from"},
		{"//a[re:test(@href, '(')]", "missing closing ): `(`"},
		{"//a[re:test(@href, 'a', 'q')]", `unknown flag 'q' of a regular expression`},
		{"//a[#]", `"#]" is not understood`},
		{"$", `a name is missing after the $ of "$"`},
		{strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300), "it nests deeper than"},
		{strings.Repeat("1+", 20_000) + "1", "it is longer than"},
		{strings.Repeat("1+", 10_000) + "1", "operators in a row"},
	} {
		t.Run(test.expression[:min(len(test.expression), 30)], func(t *testing.T) {
			_, err := extract.CompileXPath(test.expression)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestXPathThatFailsOnThePage(t *testing.T) {
	for _, test := range []struct {
		expression string
		vars       map[string]any
		want       string
	}{
		{"//a[@id=$id]", nil, "the variable $id is not set"},
		{"//a[@id=$id]", map[string]any{"id": struct{}{}}, "the variable $id is a struct {}"},
		{"//a[re:test(@href, $p)]", map[string]any{"p": "("}, "re:test(): error parsing regexp"},
		{"count($n)", map[string]any{"n": "x"}, `a set of nodes is needed, not "x"`},
	} {
		t.Run(test.expression, func(t *testing.T) {
			d := extract.NewDocument([]byte(xpathPage), "text/html", "")
			got := d.XPathWith(test.expression, test.vars)
			if got.Err() == nil || !strings.Contains(got.Err().Error(), test.want) || d.TakeErr() == nil {
				t.Errorf("got %v, want %q", got.Err(), test.want)
			}
		})
	}
}

func TestAnExpensiveXPathEndsWithAnError(t *testing.T) {
	d := extract.NewDocument([]byte(strings.Repeat("<p>x", 20_000)), "text/html", "")
	got := d.XPath("count(//p[count(preceding-sibling::p) > 5])")
	if got.Err() == nil || !strings.Contains(got.Err().Error(), "it takes more than 10000000 steps") {
		t.Errorf("got %q, %v", got.Get(), got.Err())
	}
}

func TestNodesThatAreAVariableAreASet(t *testing.T) {
	d := extract.NewDocument([]byte("<div><div><p>x</p></div><p>y</p></div>"), "text/html", "")
	twice := d.CSS("div").CSS("p") // x, y, x
	got := d.XPathWith("count($p)", map[string]any{"p": twice})
	if twice.Len() != 3 || got.Get() != "2" {
		t.Errorf("%d selected, %s in the set", twice.Len(), got.Get())
	}
}
