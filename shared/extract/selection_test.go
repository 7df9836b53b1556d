package extract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/extract"
)

const images = `<div id="images"> <a href="1.html" title="one">Name: 1<br><img src="1.jpg"></a><a href="2.html">Name: <b>2</b></a></div>
<ul class="outer menu"><li>a<ul><li class="in">b</li></ul></li></ul><p class="x">p1</p><p>p2</p><h2>h</h2><p id="last">p3</p><i class="c,d">i</i>`

func TestCSS(t *testing.T) {
	tests := []struct {
		name, selector string
		want           []string
	}{
		{"an element is its HTML", "b", []string{"<b>2</b>"}},
		{"a tag in capitals", "B", []string{"<b>2</b>"}},
		{"the text that stands directly in it", "a::text", []string{"Name: 1", "Name: "}},
		{"the text at any depth, its own included", "#images ::text", []string{" ", "Name: 1", "Name: ", "2"}},
		{"a star says the same", "#images *::text", []string{" ", "Name: 1", "Name: ", "2"}},
		{"the text of children alone", "#images > ::text", []string{"Name: 1", "Name: "}},
		{"an attribute", "a::attr(href)", []string{"1.html", "2.html"}},
		{"an attribute's name in capitals and blanks", "a::attr( HREF )", []string{"1.html", "2.html"}},
		{"an attribute that only some have", "a::attr(title)", []string{"one"}},
		{"an attribute at any depth, its own included", "#images ::attr(src)", []string{"1.jpg"}},
		{"an attribute at any depth, found on the element", "ul ::attr(class)", []string{"outer menu", "in"}},
		{"an attribute of any element", "::attr(src)", []string{"1.jpg"}},
		{"a group in the page's order", "b, img::attr(src), a::text", []string{"Name: 1", "1.jpg", "Name: ", "<b>2</b>", ""}[:4]},
		{"an element that two of a group match comes once", "b, #images b", []string{"<b>2</b>"}},
		{"text that two of a group match comes once", "b::text, #images ::text", []string{" ", "Name: 1", "Name: ", "2"}},
		{"a class among several", "ul.menu.outer > li::text", []string{"a"}},
		{"a class that is the beginning of another", ".men", []string{}},
		{"a class that is the end of another", ".enu", []string{}},
		{"a class with an escaped comma", `.c\,d::text`, []string{"i"}},
		{"text at any depth, and then text directly inside", "#images ::text, #images::text", []string{" ", "Name: 1", "Name: ", "2"}},
		{"a tag and an ID", "p#last::text", []string{"p3"}},
		{"a neighbour", "p + p::text", []string{"p2"}},
		{"a later sibling", "p.x ~ p::text", []string{"p2", "p3"}},
		{"signs without blanks", "h2+p::text", []string{"p3"}},
		{"a descendant that a nearer ancestor does not match", "ul > li li::text", []string{"b"}},
		{"an attribute with a comma and a bracket in quotes", `a[title="one"]::text, a[title="],x"]`, []string{"Name: 1"}},
		{"a pseudo-class", "p:not(.x):nth-of-type(2n)::text", []string{"p2"}},
		{"a pseudo-class with a group inside", "a:not([title], [x])::attr(href)", []string{"2.html"}},
		{"an escaped name", `#im\61ges > a::attr(title)`, []string{"one"}},
		{"nothing", "table", []string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := document(images).CSS(test.selector)
			if got.Err() != nil {
				t.Fatal(got.Err())
			}
			if diff := cmp.Diff(test.want, got.All()); diff != "" {
				t.Errorf("%s mismatch (-want +got):\n%s", test.selector, diff)
			}
		})
	}
}

// A selector inside a selection sees nothing outside of it, as in Scrapy.
func TestNestedSelections(t *testing.T) {
	doc := document(`<ul><li class="a"><i>1</i><ul><li class="b"><i>2</i></li></ul></li></ul><p>x</p><p><b>y</b></p>`)
	tests := []struct {
		name, outer, inner string
		want               []string
	}{
		{"descendants", "li.a", "i::text", []string{"1", "2"}},
		{"the element itself", "li.b", "li i::text", []string{"2"}},
		{"an ancestor outside does not count", "li.b", "ul i", []string{}},
		{"an ancestor inside counts", "li.a", "ul i::text", []string{"2"}},
		{"a parent outside does not count", "li.b", "ul > li", []string{}},
		{"a sibling outside does not count", "p", "p + p b", []string{}},
		{"its own attribute", "li", "::attr(class)", []string{"a", "b", "b"}},
		{"its own text", "b", "::text", []string{"y"}},
		{"text has nothing inside", "b::text", "b", []string{}},
		{"an attribute has nothing inside", "li::attr(class)", "i", []string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := doc.CSS(test.outer).CSS(test.inner).All()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSelectorsThatAreWrong(t *testing.T) {
	tests := map[string]string{
		"":                  "missing",
		" , p":              "missing",
		"p,":                "missing",
		"p[":                `a ']' is missing`,
		"p)":                "closes nothing",
		`p[a="x]`:           `a '"' is missing`,
		"p >":               "nothing follows",
		"> p":               "nothing stands before",
		"p > > b":           "follows",
		"p::first-line":     "neither ::text nor ::attr(name)",
		"p::text b":         "must come last",
		"p::attr()":         "is not ::attr(name)",
		"p::attr(a":         "is not ::attr(name)",
		"p:no-such-pseudo":  "no-such-pseudo",
		"p..x":              "expected",
		"a:has(::attr(id))": "",
		`p\`:                "",
	}
	for selector, reason := range tests {
		t.Run(selector, func(t *testing.T) {
			doc := document("<p>x</p>")
			s := doc.CSS(selector)
			if s.Err() == nil || !strings.Contains(s.Err().Error(), reason) || !strings.Contains(s.Err().Error(), selector) {
				t.Errorf("got error %v, want one that names %q and has %q", s.Err(), selector, reason)
			}
			if s.Len() != 0 || s.Get() != "" || len(s.CSS("p").All()) != 0 || s.CSS("p").Err() == nil {
				t.Error("a wrong selector selected something")
			}
			if err := doc.TakeErr(); err == nil || doc.TakeErr() != nil {
				t.Error("the document does not tell of it once")
			}
		})
	}
}

func TestWrongSelectorsInALoopAreToldOnce(t *testing.T) {
	doc := document(strings.Repeat("<p>x</p>", 100))
	for p := range doc.CSS("p").Each() {
		p.CSS("b[")
	}
	if err := doc.TakeErr(); strings.Count(err.Error(), "b[") != 1 {
		t.Errorf("got %v", err)
	}
	for i := range 1000 {
		doc.CSS(fmt.Sprintf("x%d[", i))
	}
	if err := doc.TakeErr(); strings.Count(err.Error(), "\n") > 30 {
		t.Errorf("got %d lines of errors", strings.Count(err.Error(), "\n"))
	}
}

func TestMustCSSPanicsOnAWrongSelector(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it did not")
		}
	}()
	extract.MustCSS("p[")
}

func TestSelectionValues(t *testing.T) {
	doc := document(`<p class="A">one</p><p title="T">two</p>`)
	p := doc.CSS("p")
	texts := []string{}
	for one := range p.Each() {
		texts = append(texts, one.Text())
	}
	if diff := cmp.Diff([]string{"one", "two"}, texts); diff != "" {
		t.Errorf("Each mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(texts, p.Texts()); diff != "" {
		t.Errorf("Texts mismatch (-want +got):\n%s", diff)
	}
	for range p.Each() {
		break // stopping early is allowed
	}
	checks := []struct{ name, got, want string }{
		{"Get", p.Get(), `<p class="A">one</p>`},
		{"GetOr", p.GetOr("x"), `<p class="A">one</p>`},
		{"GetOr of nothing", doc.CSS("b").GetOr("x"), "x"},
		{"Attr is that of the first", p.Attr("CLASS"), "A"},
		{"Attr that is missing", p.Attr("title"), ""},
		{"Attr of nothing", doc.CSS("b").Attr("title"), ""},
		{"Text of nothing", doc.CSS("b").Text(), ""},
		{"Text of an attribute", doc.CSS("p::attr(title)").Text(), "T"},
		{"Goquery", p.Goquery().Last().Text(), "two"},
		{"Nodes", p.Nodes()[1].FirstChild.Data, "two"},
		{"the zero Selection", extract.Selection{}.CSS("p").Get(), ""},
		{"Goquery of the zero Selection", extract.Selection{}.Goquery().Text(), ""},
	}
	for _, c := range checks {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
	if doc.CSS("b").All() == nil {
		t.Error("All of nothing is nil, which is null in JSON")
	}
}

func TestTextAsAReaderSeesIt(t *testing.T) {
	tests := []struct{ name, html, want string }{
		{"plain", "<p>plain words</p>", "plain words"},
		{"blanks", "<p>\n  a \t b\n</p>", "a b"},
		{"no-break spaces", "<p>&nbsp;1&nbsp;000 £ </p>", "1 000 £"},
		{"letters with a no-break space's first byte", "<p>a©é</p>", "a©é"},
		{"inline elements do not part words", "<p>H<sub>2</sub>O, <b>b</b>old</p>", "H2O, bold"},
		{"custom elements are inline", "<p>a<my-x>b</my-x></p>", "ab"},
		{"blocks do", "<p><div>a</div><div>b</div>c<br>d</p>", ""},
		{"list items do", "<p></p><ul class=t><li>a</li><li>b</li></ul>", ""},
		{"scripts and style sheets are not seen", "<p>a<script>x</script><style>y</style><!-- z -->b</p>", "ab"},
		{"noscript is seen", "<p>a<noscript><i>b</i></noscript></p>", "a b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := document(test.html).CSS("p").Text(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := document("<ul><li>a</li><li>b</li></ul>x<br>y").CSS("body").Text(); got != "a b x y" {
		t.Errorf("blocks: got %q", got)
	}
	if got := document("<script>a  b</script>").CSS("script").Text(); got != "a b" {
		t.Errorf("a script that was asked for: got %q", got)
	}
}

func TestGoqueryHasTheSameTree(t *testing.T) {
	doc := document(`<p>one</p><p class="x">two</p>`)
	g := doc.Goquery()
	g.Find("p").First().Remove()
	if got := doc.CSS("p::text").All(); len(got) != 1 || got[0] != "two" {
		t.Errorf("got %q after goquery removed the first", got)
	}
	q := extract.MustCSS("body .x")
	if g.FindMatcher(q).Text() != "two" || !g.Find("p").IsMatcher(q) || g.Find("p").FilterMatcher(q).Length() != 1 {
		t.Error("a Query does not work as a goquery.Matcher")
	}
	if g.Url == nil || g.Url.String() != pageURL {
		t.Errorf("got URL %v, want %s", g.Url, pageURL)
	}
}

// A selector of k steps must not take the k-th power of the depth.
func TestDeepPageAndLongSelector(t *testing.T) {
	doc := document(strings.Repeat("<div>", 380) + "x")
	start := time.Now()
	if n := doc.CSS("p " + strings.Repeat("div ", 12) + "div").Len(); n != 0 {
		t.Errorf("got %d", n)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func FuzzCompileCSS(f *testing.F) {
	for _, s := range []string{"a::attr(href), p ::text", `a[title="],x"] > b + c ~ d`, `#im\61ges`, ":not(a, b):has(c)", `\`} {
		f.Add(s)
	}
	doc := document(images)
	f.Fuzz(func(t *testing.T, selector string) {
		if q, err := extract.CompileCSS(selector); err == nil {
			doc.Select(q).All()
			q.MatchAll(doc.Root())
		}
	})
}

const pageURL = "http://example.com/dir/page.html"

func document(html string) *extract.Document {
	return extract.NewDocument([]byte(html), "text/html; charset=utf-8", pageURL)
}
