package extract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/extract"
	"golang.org/x/net/html"
)

func xmlDocument(body string) *extract.Document {
	return extract.NewDocument([]byte(body), "application/xml", "http://example.com/feed.xml")
}

// outline writes a tree as XML, by its nodes alone.
func outline(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	name := func(prefix, local string) string { return strings.TrimPrefix(prefix+":"+local, ":") }
	walk = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			b.WriteString("'" + n.Data + "'")
		case html.CommentNode:
			b.WriteString("!" + n.Data + "!")
		case html.ElementNode:
			b.WriteString(name(n.Namespace, n.Data))
			for _, a := range n.Attr {
				b.WriteString(" " + name(a.Namespace, a.Key) + "=" + a.Val)
			}
		}
		if n.FirstChild != nil {
			b.WriteByte('(')
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c)
				if c.NextSibling != nil {
					b.WriteByte(' ')
				}
			}
			b.WriteByte(')')
		}
	}
	walk(n)
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), "("), ")")
}

func TestXMLTree(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"names keep their case, prefixes stay", `<rss xmlns:m="u"><m:Title lang="a" m:Role="b">x</m:Title></rss>`, "rss xmlns:m=u(m:Title lang=a m:Role=b('x'))"},
		{"elements that HTML thinks empty", `<item><link>http://a/</link><br/>x</item>`, "item(link('http://a/') br 'x')"},
		{"CDATA joins the text around it", `<a>1<![CDATA[<b>&amp;]]>2&lt;</a>`, "a('1<b>&amp;2<')"},
		{"the declaration of another encoding", "<?xml version='1.1' encoding='ebcdic'?><a>é</a>", "a('é')"},
		{"blank lines and a byte order mark", "\ufeff\n\n<?xml version='1.0'?><a/>", "a"},
		{"entities of HTML, and unknown ones", `<a>&eacute;&nbsp;&hellip;&what; &#233;&#xe9; AT&T &copy=1 &</a>`, "a('é\u00a0…&what; éé AT&T &copy=1 &')"},
		{"control characters", "<a b='\x01c'>\x00d\x08&#7;e</a>", "a b=c('de')"},
		{"line ends", "<a b='c\r\nd'>e\r\nf\rg</a>", "a b=c d('e\nf\ng')"},
		{"a less-than sign", "<a>1 < 2 <3 <<</a>", "a('1 < 2 <3 <<')"},
		{"end tags in the wrong order", "<a><b>1</a><c/>", "a(b('1')) c"},
		{"end tags that close nothing", "<a></b>1</c></a>", "a('1')"},
		{"cut off in a text", "<a><b>1</b><b>2", "a(b('1') b('2'))"},
		{"cut off in a tag", `<a><b>1</b><b c="d`, "a(b('1'))"},
		{"cut off in CDATA", `<a><![CDATA[1<`, "a('1<')"},
		{"cut off in a comment", `<a>1<!-- 2 <b/>`, "a('1' ! 2 <b/>!)"},
		{"attributes without quotes or value", `<a b=c d e='f'g=h/>`, "a b=c d= e=f g=h/"},
		{"an attribute twice", `<a b='1' b='2'/>`, "a b=1"},
		{"a quote that is not closed", `<a><b c="d>e</b><f g='h'/></a>`, "a(b c=d('e') f g=h)"},
		{"a tag that is not closed", `<a><b <c>1</c></a>`, "a(b(c('1')))"},
		{"comments and instructions", `<?xml-stylesheet href="x"?><a><!-- -- --><?php echo 1 ?>1<?x>2</a>`, "a(! -- ! '12')"},
		{"a document type with entities", `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "<b/>]>">]><a>&x;&y;</a>`, "a('&x;&y;')"},
		{"a document type without end", `<!DOCTYPE a [<!ENTITY x "><a>1</a>`, "a('1')"},
		{"nothing", " \n", ""},
		{"text alone", "hello", "'hello'"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := outline(xmlDocument(test.body).Root()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestXMLIsToldFromHTML(t *testing.T) {
	const feed, page = "<?xml version='1.0'?><rss><channel/></rss>", "<html><p>x</html>"
	tests := []struct {
		name, contentType, url, body string
		want                         bool
	}{
		{"by its type", "text/xml; charset=utf-8", "", "<p>x</p>", true},
		{"by a type of XML", "Application/Atom+XML", "", "<feed/>", true},
		{"XHTML is HTML", "application/xhtml+xml", "", "<?xml version='1.0'?>" + page, false},
		{"XHTML is HTML, also as XML", "application/xml", "", "<?xml version='1.0'?><!DOCTYPE html>" + page, false},
		{"by its address", "", "http://example.com/a.RSS?x", "<rss/>", true},
		{"a page with such an address", "", "http://example.com/a.xml", page, false},
		{"an address under another type", "text/html", "http://example.com/a.xml", "<rss/>", false},
		{"a file by its address", "application/octet-stream", "http://example.com/a.xml", "<rss/>", true},
		{"by its declaration", "", "http://example.com/", "\n" + feed, true},
		{"a feed that is said to be a page", "text/html", "http://example.com/", feed, true},
		{"a part of a page", "text/html", "http://example.com/", "<?xml version='1.0'?><div>x</div>", false},
		{"JSON that has a feed in it", "application/json", "http://example.com/a.xml", feed, false},
		{"nothing but a declaration", "", "", "<?xml version='1.0'?>", false},
		{"nothing", "", "http://example.com/a.xml", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := extract.NewDocument([]byte(test.body), test.contentType, test.url).IsXML(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestXMLInOtherEncodings(t *testing.T) {
	for name, body := range map[string]string{
		"declared":                   "<?xml version='1.0' encoding='windows-1250'?><a>\xe8\xf8</a>",
		"declared after blank lines": "\r\n <?xml version='1.0' encoding='windows-1250'?><a>\xe8\xf8</a>",
		"UTF-16":                     "\xff\xfe<\x00a\x00>\x00\x0d\x01\x59\x01<\x00/\x00a\x00>\x00",
	} {
		t.Run(name, func(t *testing.T) {
			if got := xmlDocument(body).CSS("a::text").Get(); got != "čř" {
				t.Errorf("got %q", got)
			}
		})
	}
}

const mediaFeed = `<?xml version="1.0"?>
<rss xmlns:media="http://search.yahoo.com/mrss/"><channel><item>
<pubDate>Mon</pubDate><guid isPermaLink="false">7</guid><media:title>T &amp; T</media:title><link>http://a/</link>
</item></channel></rss>`

func TestCSSOnXML(t *testing.T) {
	doc := xmlDocument(mediaFeed)
	for selector, want := range map[string]string{
		"pubDate::text":             "Mon",
		"pubdate::text":             "Mon",
		"pubDate:first-child::text": "Mon",
		"title::text":               "T & T",
		"guid::attr(isPermaLink)":   "false",
		"guid[ispermalink]::text":   "",
		"item > link":               "<link>http://a/</link>",
		"media":                     "",
		"item":                      strings.TrimSuffix(mediaFeed[strings.Index(mediaFeed, "<item>"):], "</channel></rss>"),
	} {
		if got := doc.CSS(selector).Get(); got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
	if got := doc.CSS("guid").Attr("isPermaLink"); got != "false" {
		t.Errorf("Attr: got %q", got)
	}
	if err := doc.TakeErr(); err != nil {
		t.Error(err)
	}
}

func TestXMLIsGivenAsXML(t *testing.T) {
	const want = `<a xmlns:m="u" b="&lt;&quot;&#10;"><m:c/>1 &amp;amp; 2 &lt;<!--x--></a>`
	if got := xmlDocument("<?xml version='1.0'?>" + want).CSS("a").Get(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRemoveNamespaces(t *testing.T) {
	doc := xmlDocument(`<f:feed xmlns:f="u" xmlns="v" xml:lang="de" xmlnsx="1"><f:entry/></f:feed>`)
	doc.RemoveNamespaces()
	if got, want := outline(doc.Root()), "feed lang=de xmlnsx=1(entry)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	page := extract.NewDocument([]byte("<svg><path/></svg>"), "text/html", "")
	page.RemoveNamespaces()
	if got := page.CSS("path").Nodes()[0].Namespace; got != "svg" {
		t.Errorf("in HTML the namespace is %q, want it left alone", got)
	}
}

// TestHostileXML is quick and bounded, whatever comes.
func TestHostileXML(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without the race detector does it")
	}
	const size = 1 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, body := range map[string]string{
		"elements without end":  fill("<a>"),
		"ever new elements":     fill("<a/>"),
		"less-than signs":       fill("<"),
		"instructions":          fill("<?a"),
		"declarations":          fill("<!a"),
		"document types":        fill("<!DOCTYPE a ["),
		"quotes":                fill(`<a b="`),
		"both quotes":           fill(`<a b="<a b='`),
		"comments":              fill("<!--"),
		"comments in a subset":  "<!DOCTYPE a [" + fill("<!--"),
		"CDATA":                 fill("<![CDATA["),
		"end tags":              "<b>" + fill("</a>"),
		"ampersands":            fill("&"),
		"entities":              fill("&amp;"),
		"attributes":            "<a " + fill("b=c "),
		"attributes of a name":  "<a " + fill("a b c d e f g h i "),
		"a tag without end":     "<a " + fill("b"),
		"end tags without end":  fill("</a"),
		"names within names":    fill("<a:b:c x:y:z='"),
		"deep and wide and odd": fill("<a><b></c></b>"),
	} {
		t.Run(name, func(t *testing.T) {
			doc := xmlDocument(body)
			begin := time.Now()
			root := doc.Root()
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			deepest, nodes := measure(root)
			if deepest > 512 || nodes > 900_000 {
				t.Errorf("the tree is %d deep and has %d nodes", deepest, nodes)
			}
		})
	}
}

func TestAttributesOfXMLAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "a%d ", i)
	}
	doc := xmlDocument("<a " + b.String() + "><b/></a>")
	if n := len(doc.XPath("/a/@*").All()); n != 10_000 || doc.CSS("b").Len() != 1 {
		t.Errorf("%d attributes", n)
	}
}

func TestXMLThatIsTooDeepKeepsItsTexts(t *testing.T) {
	for _, deep := range []int{10, 399, 400, 450, 2000} {
		item := strings.Repeat("<d>", deep) + `<t a="1">x<!--c--></t>` + strings.Repeat("</d>", deep)
		doc := xmlDocument("<r><item>" + item + "<after>y</after></item></r>")
		for expression, want := range map[string]string{
			"string(//t)": "x", "string(//item//t/text())": "x", "string(//t/@a)": "1", "string(//t/comment())": "c", "string(//item/after)": "y",
		} {
			if got := doc.XPath(expression).Get(); got != want {
				t.Errorf("%d deep: %s is %q, want %q", deep, expression, got, want)
			}
		}
		if deepest, _ := measure(doc.Root()); deepest > 402 {
			t.Errorf("the tree is %d deep", deepest)
		}
	}
}

func TestXMLThatIsCutTells(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without the race detector does it")
	}
	const most = 800_000
	for name, test := range map[string]struct {
		body string
		want bool
	}{
		"short":             {"<r><a/></r>", false},
		"all of it":         {"<r>" + strings.Repeat("<a/>", most-1) + "</r>\n", false},
		"one more":          {"<r>" + strings.Repeat("<a/>", most) + "</r>", true},
		"a text more":       {"<r>" + strings.Repeat("<a/>", most-1) + "x</r>", true},
		"an attribute more": {"<r>" + strings.Repeat("<a b='c'/>", most/2+1) + "</r>", true},
	} {
		t.Run(name, func(t *testing.T) {
			doc := xmlDocument(test.body)
			if doc.Truncated() {
				t.Error("it is read before it is asked")
			}
			if doc.XPath("/r"); doc.Truncated() != test.want {
				t.Errorf("got %v", !test.want)
			}
		})
	}
}

func measure(root *html.Node) (deepest, nodes int) {
	depth := 0
	for n := root; n != nil; {
		nodes++
		deepest = max(deepest, depth)
		if n.FirstChild != nil {
			n = n.FirstChild
			depth++
			continue
		}
		for n != nil && n.NextSibling == nil {
			n = n.Parent
			depth--
		}
		if n != nil {
			n = n.NextSibling
		}
	}
	return deepest, nodes
}

func TestTheSameXMLComesBack(t *testing.T) {
	doc := xmlDocument(mediaFeed)
	again := xmlDocument(doc.CSS("rss").Get())
	if diff := cmp.Diff(outline(doc.Root()), outline(again.Root())); diff != "" {
		t.Errorf("(-first +again)\n%s", diff)
	}
}

func FuzzXML(f *testing.F) {
	f.Add([]byte(mediaFeed), "text/xml")
	f.Add([]byte("<!DOCTYPE a [<!ENTITY x '&x;'>]><a b=\"c>&x;<![CDATA[]]</a"), "")
	f.Add([]byte("<a><b></a></b>< <?xml?>&#0;&#xD800;\xff"), "application/xml")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		doc := extract.NewDocument(body, contentType, "http://example.com/a.xml")
		if _, nodes := measure(doc.Root()); nodes > 3*len(body)+10 {
			t.Errorf("%d bytes became %d nodes", len(body), nodes)
		}
		if !doc.IsXML() {
			return
		}
		text := doc.CSS("*").Get()
		again := xmlDocument(text)
		if got := again.CSS("*").Get(); again.IsXML() && got != text {
			t.Errorf("%q is written as %q, and read again as %q", body, text, got)
		}
		doc.RemoveNamespaces()
	})
}

func TestDeclarationsOfNamespacesAreNoAttributesForXPath(t *testing.T) {
	d := xmlDocument(`<r xmlns="u" xmlns:p="v" p:a="1" b="2"><?pi x?></r>`)
	for expression, want := range map[string]string{
		"//@*": "1 2", "count(@*)": "2", "//@xmlns": "", "//@p:a": "1", "namespace-uri(/r)": "u", "namespace-uri(//@p:a)": "v",
		"//processing-instruction()": "", "count(//node())": "1",
	} {
		got := d.XPath(expression)
		if strings.Join(got.All(), " ") != want || got.Err() != nil {
			t.Errorf("%s = %q, want %q, %v", expression, got.All(), want, got.Err())
		}
	}
}
