package extract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/extract"
)

func TestWhatCSSHasBeyondCascadia(t *testing.T) {
	page := extract.NewDocument([]byte(`<h1>1</h1><h2 class="x">2</h2><div><p>a</p></div><div><b><p>b</p></b></div>`+
		`<fb:like>like</fb:like><svg><path d="M"/></svg><h3 title="(:is(h1)">3</h3>`), "text/html", "")
	feed := extract.NewDocument([]byte(`<rss xmlns:media="u"><item><title>t</title><media:title>m</media:title></item></rss>`), "text/xml", "")
	for _, test := range []struct {
		doc      *extract.Document
		selector string
		want     []string
	}{
		{page, ":is(h1, h2)::text", []string{"1", "2"}},
		{page, ":where(h1, .x)::text", []string{"1", "2"}},
		{page, "h2:is(.x, .y)::text", []string{"2"}},
		{page, ":is(h1, :is(h2, h3))::text", []string{"1", "2", "3"}},
		{page, "h1:not(:is(h1, h2))::text", []string{}},
		{page, "div:has(> p) p::text", []string{"a"}},
		{page, "div:has(p) p::text", []string{"a", "b"}},
		{page, "div:not(:has(> p)) p::text", []string{"b"}},
		{page, `h3[title="(:is(h1)"]::text`, []string{"3"}},
		{page, `h3:contains("3)")::text`, []string{}},
		{page, `fb\:like::text`, []string{"like"}},
		{page, "svg|path::attr(d)", []string{"M"}},
		{page, "*|path::attr(d)", []string{"M"}},
		{page, "|path::attr(d)", []string{}},
		{feed, "media|title::text", []string{"m"}},
		{feed, "|title::text", []string{"t"}},
		{feed, "title::text", []string{"t", "m"}},
		{feed, "media|*::text", []string{"m"}},
		{feed, "item > media|title:last-child::text", []string{"m"}},
	} {
		t.Run(test.selector, func(t *testing.T) {
			got := test.doc.CSS(test.selector)
			if diff := cmp.Diff(test.want, got.All()); diff != "" || got.Err() != nil {
				t.Errorf("(-want +got)\n%s%v", diff, got.Err())
			}
		})
	}
}

func TestCSSThatIsNotKnown(t *testing.T) {
	for selector, want := range map[string]string{
		"div:has(+ p)":     `css selector "div:has(+ p)": :has(+ p) is not known`,
		"div:has(> p > b)": ":has(> p > b) is not known; :has(a) and :has(> a) are, and XPath says all else",
		"div:is()":         "a selector is missing in :is()",
		"div:is(p":         `a ')' is missing`,
		"ns|":              `the name of an element is missing after "ns|"`,
		"p:hover-ish":      "unknown pseudoclass",
		"div:scope":        "unknown pseudoclass",
	} {
		if _, err := extract.CompileCSS(selector); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", selector, err, want)
		}
	}
}

func TestRe(t *testing.T) {
	d := extract.NewDocument([]byte(`<p>Price: 10 &amp; 12 &lt;b&gt; &pound;3</p><p>Price: 20</p><script>a = "&eacute;&nosuch;&lt;&#233;&#xe9;&amp;&AMP;&gt"</script>`), "text/html", "")
	for _, test := range []struct {
		name       string
		selection  extract.Selection
		expression string
		want       []string
	}{
		{"whole matches", d.CSS("p::text"), `\d+`, []string{"10", "12", "3", "20"}},
		{"groups", d.CSS("p::text"), `(\w+): (\d)(\d)`, []string{"Price", "1", "0", "Price", "2", "0"}},
		{"a group that takes no part", d.CSS("p::text"), `(Price)|(x)`, []string{"Price", "", "Price", ""}},
		{"the group extract, once", d.CSS("p::text"), `(?P<extract>\d)\d`, []string{"1", "2"}},
		{"the group extract beside others", d.CSS("p::text"), `(P)r(?P<extract>.)`, []string{"i", "i"}},
		{"of markup", d.CSS("p"), `^<p>\w+`, []string{"<p>Price", "<p>Price"}},
		{"entities", d.CSS("script::text"), `"(.*)"`, []string{"é&lt;éé&amp;&AMP;>"}},
		{"nothing", d.CSS("p"), `nothing`, []string{}},
		{"of nothing", d.CSS("q"), `.`, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.selection.Re(test.expression)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	p := d.CSS("p::text")
	if got := p.ReFirst(`\d\d`) + p.ReFirst("x") + p.ReFirstOr("x", "-") + p.ReFirstOr("20", "-"); got != "10-20" {
		t.Errorf("the first ones are %q", got)
	}
	if err := d.TakeErr(); err != nil {
		t.Error(err)
	}
	if got := p.ReFirstOr("(", "-"); got != "-" {
		t.Errorf("a wrong expression gives %q", got)
	}
	if err := d.TakeErr(); err == nil || !strings.Contains(err.Error(), `re selector "(": error parsing regexp: missing closing )`) {
		t.Errorf("a wrong expression gives the error %v", err)
	}
}

func TestAttrs(t *testing.T) {
	d := extract.NewDocument([]byte(`<a HREF="/x" class="c d" data-n=1>t</a><svg><use xlink:href="#u"/></svg>`), "text/html", "")
	if diff := cmp.Diff(map[string]string{"href": "/x", "class": "c d", "data-n": "1"}, d.CSS("a").Attrs()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := d.CSS("a").Attr("HREF") + d.CSS("use").Attr("xlink:href") + d.CSS("use").Attrs()["xlink:href"]; got != "/x#u#u" {
		t.Errorf("got %q", got)
	}
	if got := d.CSS("q").Attrs(); got == nil || len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestDrop(t *testing.T) {
	d := extract.NewDocument([]byte(`<div>a<p>b<script>c</script></p>d<p id=x>e</p></div>`), "text/html", "")
	d.CSS("script, p:first-of-type").Drop()
	d.XPath("//div/text()[.='d']").Drop()
	d.CSS("p::attr(id)").Drop()
	d.XPath("/html").XPath("/").Drop()
	if got := d.CSS("div").Get(); got != `<div>a<p id="x">e</p></div>` {
		t.Errorf("got %s", got)
	}
}
