package xpath

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func tree(t testing.TB, page string) *html.Node {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// steps evaluates an expression at a node and returns how many steps it took.
func steps(t testing.TB, expression string, at *html.Node) (Value, int, error) {
	return stepsOf(t, maxSteps, expression, at)
}

// stepsOf is steps for an evaluation that may take so many.
func stepsOf(t testing.TB, most int, expression string, at *html.Node) (Value, int, error) {
	e, err := Compile(expression)
	if err != nil {
		t.Fatal(err)
	}
	ev := evaluation{Options: Options{HTML: true}, left: most}
	v := e.root.eval(&focus{ev: &ev, node: At(at), position: 1, size: 1})
	return v, most - ev.left, ev.err
}

func first(root *html.Node, name string) *html.Node {
	for n := range root.Descendants() {
		if n.Data == name {
			return n
		}
	}
	return nil
}

func last(root *html.Node, name string) (found *html.Node) {
	for n := range root.Descendants() {
		if n.Data == name {
			found = n
		}
	}
	return found
}

func TestWhatLiesElsewhereOnThePageCostsNothing(t *testing.T) {
	const rows = 5000
	table := tree(t, strings.Repeat("<div>", 200)+"<table>"+strings.Repeat("<tr><th>h<td>1<td>2", rows))
	for expression, most := range map[string]int{
		"./td | ./th": 30, "(.//td | .//th)[1]/text()": 30, "preceding-sibling::tr[1] | following-sibling::tr[1]": 30,
	} {
		if _, taken, err := steps(t, expression, first(table, "tr").NextSibling); err != nil || taken > most {
			t.Errorf("%s takes %d steps, %v", expression, taken, err)
		}
	}
	for _, expression := range []string{
		"./td | ./th", "(.//td | .//th)[1]/text()", "count(ancestor::*)", "td/..", ".//text()/ancestor::tr", "ancestor::* | td",
		"preceding-sibling::tr[1] | following-sibling::tr[1]", "td[1] | ../tr[1]/th",
	} {
		row := first(table, "tr")
		for range 4 {
			row = row.NextSibling
		}
		v, taken, err := steps(t, expression, row)
		if err != nil || !toBool(v) || taken > 5000 {
			t.Errorf("%s takes %d steps, %v, %v", expression, taken, v, err)
		}
	}
}

func TestStepsFromManyNodesGrowWithThePage(t *testing.T) {
	const n = 5000
	for _, test := range []struct {
		page, expression, want string
	}{
		{strings.Repeat("<div>", 300) + strings.Repeat("<p>x y", n), "count(//p/ancestor::div)", "300"},
		{strings.Repeat("<div>", 300) + strings.Repeat("<p>x y", n), "count(//p//ancestor-or-self::*)", "5302"},
		{strings.Repeat("<p>x", n), "count(//p/following::p/preceding::p)", "4999"},
		{strings.Repeat("<p>x", n), "count(//p/following-sibling::p)", "4999"},
		{strings.Repeat("<p>x", n), "count(//p/preceding-sibling::p)", "4999"},
		{strings.Repeat("<p>x", n), "count(//p/preceding::text())", "4999"},
		{strings.Repeat("<p>x", n), "count(//p/..)", "1"},
		{strings.Repeat("<p>x", n), "count(//p[preceding-sibling::p])", "4999"},
		{strings.Repeat("<p>x", n), "count(//p[not(following-sibling::p) or preceding::p and //p])", "4999"},
		{strings.Repeat("<p>x", n), "count(//p[1] | //p[last()] | //p)", "5000"},
		{strings.Repeat("<p>x", n), "count(//p[last()]/ancestor::*[1])", "1"},
		{strings.Repeat("<p id=a>x", n), "count(id(//@id))", "5000"},
		{strings.Repeat("<b>x</b>", n), "count(set:difference(//b, //b[2]))", "4999"},
	} {
		v, taken, err := steps(t, test.expression, tree(t, test.page))
		if got := toString(v); err != nil || got != test.want || taken > 60*n {
			t.Errorf("%s = %s, want %s, takes %d steps, %v", test.expression, got, test.want, taken, err)
		}
	}
}

func TestAllThatCostsTimeIsCounted(t *testing.T) {
	nested := tree(t, "<body class='"+strings.Repeat("x", 40_000)+"'>"+strings.Repeat("<div>", 300)+strings.Repeat("<p>xx yy ", 3_000))
	text := tree(t, "<p>"+strings.Repeat("a ", 40_000))
	flat := tree(t, strings.Repeat("<p>1</p>", 2_000))
	for expression, page := range map[string]*html.Node{
		"//div[normalize-space()]":                                      nested,
		"//div[contains(., 'zz')]":                                      nested,
		"//div[. = 'zz']":                                               nested,
		"//div[. > 5]":                                                  nested,
		"//div[sum(ancestor::div) > 5]":                                 nested,
		"//div[string-length() > 5]":                                    nested,
		"//div[re:test(., 'zz')]":                                       nested,
		"//p[count(preceding-sibling::p) > 5]":                          nested,
		"//p[ancestor::div[position() < last()]]":                       nested,
		"//p[id('x')]":                                                  nested,
		"//p[contains(/html/body/@class, 'zz')]":                        nested,
		"//p[string-length('" + strings.Repeat("x", 20_000) + "') < 5]": nested,
		"set:distinct(//div)":                                           nested,
		"string-join(//p, string(/))":                                   nested,
		"//p < //p":                                                     flat,
		"//p[set:has-same-node(//p, /)]":                                flat,
		"re:replace(string(/), 'a', 'g', concat(string(/), string(/)))": text,
		"re:replace(string(/), '(a)(.*)', 'g', '" + strings.Repeat(`\2`, 500) + "')": text,
		"translate(string(/), string(/), '')":                                        text,
		"concat(/" + strings.Repeat(", /", 300) + ")":                                text,
	} {
		if v, taken, err := stepsOf(t, 500_000, expression, page); err == nil {
			t.Errorf("%.60s ends after %d steps: %.60v", expression, taken, v)
		}
	}
}

func TestNodesComeInTheOrderOfTheDocument(t *testing.T) {
	page := tree(t, `<div id=1><p id=2><b id=3></b><i id=4></i></p><div id=5><p id=6></p></div><p id=7></p></div><div id=8></div>`)
	for expression, want := range map[string]string{
		"//*[@id='7' or @id='2']/..":                           "div1",
		"//p/.. | //b":                                         "div1 b3 div5",
		"//i | //b | //div":                                    "div1 b3 i4 div5 div8",
		"//b/ancestor::*[@id]":                                 "div1 p2",
		"//p/ancestor::div":                                    "div1 div5",
		"//div/p":                                              "p2 p6 p7",
		"//p/preceding::*[@id]":                                "p2 b3 i4 div5 p6",
		"//div/following::*":                                   "p7 div8",
		"//i/preceding-sibling::* | //div[2]":                  "b3 div8",
		"//*[@id='7']/preceding-sibling::*":                    "p2 div5",
		"//*[@id='7']/preceding-sibling::*[1]":                 "div5",
		"//p/preceding-sibling::*[1]":                          "div5",
		"//p[@id]/following-sibling::*[last()]":                "p7",
		"(//i/@id | //i | //b/@id)/descendant-or-self::node()": "@3 i4 @4",
		"(//i/@id | //p/@id)/..":                               "p2 i4 p6 p7",
		"(//i/@id | //p/@id)/following::*":                     "b3 i4 div5 p6 p7 div8",
		"//div//*[1]":                                          "p2 b3 p6",
		"//@id[. > 6] | //@id[. < 3]":                          "@1 @2 @7 @8",
	} {
		v, _, err := steps(t, expression, page)
		if got := ids(v); got != want || err != nil {
			t.Errorf("%s\n got %s\nwant %s %v", expression, got, want, err)
		}
	}
}

func ids(v Value) string {
	set, _ := v.(NodeSet)
	var names []string
	for _, n := range set {
		switch {
		case n.attr != 0:
			names = append(names, "@"+n.Text())
		default:
			name := n.Tree.Data
			for _, a := range n.Tree.Attr {
				name += a.Val
			}
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// Whatever comes from many nodes by an axis is what comes from each.
func TestAStepFromManyNodesIsTheUnionOfSteps(t *testing.T) {
	page := tree(t, `<div a=1><p b=2>x<b c=3>y</b><!--c--></p><div d=4>t<p e=5><i>z</i></p></div>u<p f=6 g=7>v</p></div><div><ul><li><ul><li>w</ul><li>q</ul></div>`)
	starts := []string{"//p", "//div", "//*", "//@*", "//text()", "//p | //@*", "//li", "//div[1]//node()", "//node() | //@*"}
	for name := range axes {
		for _, start := range starts {
			for _, test := range []string{"node()", "*", "p", "text()", "node()[self::p or self::li]"} {
				step := name + "::" + test
				all, _, err := steps(t, "("+start+")/"+step, page)
				if err != nil {
					t.Fatal(err)
				}
				from, _, _ := steps(t, start, page)
				each := make(map[Node]bool)
				for _, n := range from.(NodeSet) {
					e, _ := Compile(step)
					v, err := e.Evaluate(n, Options{HTML: true})
					if err != nil {
						t.Fatal(err)
					}
					for _, found := range v.(NodeSet) {
						each[found] = true
					}
				}
				everything, _, _ := steps(t, "//node() | //@*", page)
				var want NodeSet
				for _, n := range append(NodeSet{At(page)}, everything.(NodeSet)...) {
					if each[n] {
						want = append(want, n)
					}
				}
				if got, _ := all.(NodeSet); !equalSets(got, want) {
					t.Errorf("(%s)/%s\n got %q\nwant %q", start, step, ids(got), ids(want))
				}
			}
		}
	}
}

func equalSets(a, b NodeSet) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func BenchmarkOrder(b *testing.B) {
	table := tree(b, "<table>"+strings.Repeat("<tr><th>h<td>1<td>2", 3000))
	for _, bench := range []struct {
		name, expression string
		at               *html.Node
	}{
		{"a union in a row", "./td | ./th", first(table, "tr")},
		{"what comes before a row", "count(preceding-sibling::tr)", last(table, "tr")},
		{"first cells", "//tr/*[1]", table},
		{"first of all", "//td[1]", table},
		{"from all cells up", "//td/..", table},
	} {
		b.Run(bench.name, func(b *testing.B) {
			e, err := Compile(bench.expression)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := e.Evaluate(At(bench.at), Options{HTML: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
