package extract

import (
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// anyName stands for every tag or attribute.
const anyName = "*"

// Extract returns the links of a page in the page's order. An address that is
// no URL is passed over, and counted; see [Document.TakeNotPages].
func (e *LinkExtractor) Extract(d *Document) []Link {
	x := extraction{LinkExtractor: e, doc: d}
	x.anyTag = slices.Contains(e.Tags, anyName)
	x.anyAttr = slices.Contains(e.Attrs, anyName)
	if !e.Repeated {
		x.seen = newHashSet()
	}
	switch {
	case len(e.Restrict) > 0:
	case d.Tokenized():
		x.stream(d.UTF8())
		return x.links
	default:
		x.visit(d.Root())
		return x.links
	}
	for _, q := range e.Restrict {
		for _, n := range d.Select(q).Nodes() {
			x.visitPart(n)
		}
	}
	return x.links
}

// An extraction is one run of an extractor over a page.
type extraction struct {
	*LinkExtractor
	doc             *Document
	anyTag, anyAttr bool
	seen            *hashSet            // of canonical URLs; nil keeps repeated ones
	parts           map[*html.Node]bool // that were visited
	links           []Link
}

// visitPart visits a part of the page, unless it lies in one that was visited:
// a hostile page nests hundreds of parts, and each would be visited as often.
func (x *extraction) visitPart(part *html.Node) {
	if x.seen != nil {
		for n := part; n != nil; n = n.Parent {
			if x.parts[n] {
				return
			}
		}
		if x.parts == nil {
			x.parts = make(map[*html.Node]bool)
		}
		x.parts[part] = true
	}
	x.visit(part)
}

func (x *extraction) visit(n *html.Node) {
	if n.Type == html.ElementNode && x.isTag(n) {
		for i := range n.Attr {
			if x.isAttr(n.Attr[i].Key) {
				x.take(n, n.Attr[i].Val)
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		x.visit(c)
	}
}

func (x *extraction) isTag(n *html.Node) bool {
	switch {
	case x.Tags == nil:
		if n.DataAtom != atom.A && n.DataAtom != atom.Area && (n.DataAtom != 0 || n.Data != "a" && n.Data != "area") {
			return false
		}
	case !x.anyTag && !slices.Contains(x.Tags, n.Data):
		return false
	}
	return x.DenyTags == nil || !slices.Contains(x.DenyTags, n.Data)
}

func (x *extraction) isAttr(name string) bool {
	switch {
	case x.Attrs == nil:
		if name != "href" {
			return false
		}
	case !x.anyAttr && !slices.Contains(x.Attrs, name):
		return false
	}
	return x.DenyAttrs == nil || !slices.Contains(x.DenyAttrs, name)
}

func (x *extraction) take(n *html.Node, value string) {
	if x.ProcessValue != nil {
		var ok bool
		if value, ok = x.ProcessValue(x.processed(value)); !ok {
			return
		}
	}
	u, ok := x.doc.Page(value)
	if !ok || !x.Matches(u) {
		return
	}
	var text string
	if len(x.RestrictText) > 0 {
		if text = readerText(hit{node: n}); !findsAny(x.RestrictText, text) {
			return
		}
	}
	link := Link{URL: u.WithoutFragment().String(), Fragment: u.Fragment()}
	if x.Canonicalize {
		link.URL = weburl.Canonical(u)
	}
	if x.isRepeated(u) {
		return
	}
	link.Text = text
	if len(x.RestrictText) == 0 {
		link.Text = readerText(hit{node: n})
	}
	if rel, found := attribute(n, "rel"); found {
		link.Nofollow = isNofollow(rel)
	}
	x.links = append(x.links, link)
}

// processed is what ProcessValue gets of an attribute.
func (x *extraction) processed(value string) string {
	trimmed := strings.Trim(value, " \t\n\f\r")
	end := ""
	if x.KeepBlanks {
		end = value[strings.LastIndex(value, trimmed)+len(trimmed):]
	}
	if u, err := x.doc.Resolve(trimmed); err == nil && Fetchable(u) {
		return u.String() + end
	}
	return trimmed + end
}

// isRepeated notes a URL and reports whether it was noted before.
func (x *extraction) isRepeated(u weburl.URL) bool {
	return x.seen != nil && !x.seen.add(weburl.Canonical(u))
}

// isNofollow finds the word in a rel, whose words are separated by blanks, and
// in practice by commas.
func isNofollow(rel string) bool {
	words := strings.FieldsFunc(rel, func(r rune) bool { return r == ',' || r < 0x80 && isSpace(byte(r)) })
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, "nofollow") })
}
