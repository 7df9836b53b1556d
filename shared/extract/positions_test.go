package extract_test

import (
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/extract"
	"golang.org/x/net/html"
)

// Selectors by position give what cascadia gives, among few siblings and among
// many.
func TestPositionsAreCascadias(t *testing.T) {
	many := "<ul>" + strings.Repeat(`<li class="a">x<li>y<p>z</p><b>b</b>text<!-- c -->`, 30) + "</ul>"
	few := `<div><h1 id=1>a</h1> <p class="x a]b">b</p><p>c</p><h2>d</h2><p data-n="a:nth-child(2)">e</p></div><section><p>only</p></section>`
	page := few + many + "<div>" + many + few + "</div>"
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for _, selector := range []string{
		":nth-child(1)", ":nth-child(3)", "p:nth-child(2)", "li:nth-child(40)", ":nth-child(0)",
		":nth-child(odd)", "p:nth-child(EVEN)", ":nth-child(2n)", ":nth-child(2n + 1)", ":nth-child(-n+3)", ":nth-child(3n-1)", ":nth-child(n)", ":nth-child(+n+5)", ":NTH-child( -2n+50 )",
		":nth-last-child(1)", "li:nth-last-child(4)", ":nth-last-child(2n+1)", ":nth-last-child(-n+40)", ":nth-last-child(60)",
		"p:nth-of-type(2)", "li:nth-of-type(33)", "li:nth-of-type(3n)", ":nth-last-of-type(2)", "b:nth-last-of-type(-n+35)",
		":first-child", "p:last-child", ":first-of-type", "p:last-of-type", ":only-child", "p:only-of-type", "p:first-child:last-child",
		"li.a:nth-child(4n+1)", ":nth-child(4n+1).a", "p[class]:nth-of-type(1)", "p[class='x a]b']:nth-child(2)", `p[data-n="a:nth-child(2)"]:last-child`,
		"p:not(:first-child)", "li:not(:nth-child(2n)):not(.a)", "p:not(h1 + :nth-child(2))", ":not(li:nth-of-type(odd), p, h1 ~ :nth-child(3))", "p:not(:not(:last-child))",
		"div > :nth-child(2) ~ p", "ul li:nth-child(4n+1) + :nth-child(even)", "h1:nth-child(1) ~ :nth-last-child(1)", "section > p:only-child", "ul > :not(:last-of-type) ~ :nth-last-of-type(3)",
	} {
		t.Run(selector, func(t *testing.T) {
			want := cascadia.QueryAll(root, cascadia.MustCompile(selector))
			q := extract.MustCSS(selector)
			if diff := cmp.Diff(rendered(t, want), rendered(t, q.MatchAll(root))); diff != "" || len(want) != len(q.Filter(want)) {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, n := range want {
				if !q.Match(n) {
					t.Errorf("%s does not match by itself", rendered(t, []*html.Node{n}))
				}
			}
			if n := extract.NewDocument([]byte(page), "text/html", "").Select(q).Len(); n != len(want) {
				t.Errorf("%d are selected, want %d", n, len(want))
			}
		})
	}
}

func rendered(t *testing.T, nodes []*html.Node) []string {
	t.Helper()
	var all []string
	for _, n := range nodes {
		var b strings.Builder
		if err := html.Render(&b, n); err != nil {
			t.Fatal(err)
		}
		all = append(all, b.String())
	}
	return all
}
