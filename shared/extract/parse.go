package extract

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// parse builds the tree of a page in UTF-8. Scripting is off, as nothing runs
// scripts here, so the content of noscript is markup.
func parse(body []byte) *html.Node {
	root, err := html.ParseWithOptions(bytes.NewReader(body), html.ParseOptionEnableScripting(false))
	if err != nil {
		return parseFlat(body, maxNesting)
	}
	return root
}

// maxNesting is how deep the tree is of what html.Parse refuses. It is below
// the 512 at which html.Parse gives up, so that what recurses through the one
// is safe in the other.
const maxNesting = 400

// maxFlatBytes is how much of a page that is read by the tokenizer alone goes
// into a tree.
const maxFlatBytes = 4 << 20

// largeNesting is how deep the tree of such a page is: what looks up from each
// element takes time in proportion to it.
const largeNesting = 100

// parseFlat builds a tree of what html.Parse refuses, which is markup nested
// deeper than 512 elements, and of what is too large for it. Elements nest as
// their tags do, without the standard's repairs. One that would lie too deep
// becomes a child of the body, and nesting begins anew there. All elements,
// attributes and text are kept up to a bound that what html.Parse refuses keeps
// within, so selectors and links find what is there.
func parseFlat(body []byte, nesting int) *html.Node {
	root := &html.Node{Type: html.DocumentNode}
	b := flatBuilder{nesting: nesting, open: []openElement{{node: root}}, names: make(map[string]int)}
	t := newTokenReader(body)
	tags := 0
	for tokens := 0; tokens < 2*maxTags && tags < maxTags; tokens++ {
		token := t.next()
		switch token {
		case html.ErrorToken:
			return root
		case html.TextToken:
			if text := t.content(); len(text) > 0 {
				b.add(&html.Node{Type: html.TextNode, Data: string(text)})
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tags++
			b.start(b.element(t), token == html.SelfClosingTagToken)
		case html.EndTagToken:
			tags++
			b.end(string(t.name))
		case html.CommentToken:
			b.add(&html.Node{Type: html.CommentNode, Data: string(t.z.Text())})
		case html.DoctypeToken:
			b.add(&html.Node{Type: html.DoctypeNode, Data: string(t.z.Text())})
		}
	}
	return root
}

// A flatBuilder has the elements whose end tags are awaited, the document
// first.
type flatBuilder struct {
	open []openElement
	top  int // of open: the body, or what stands for it

	// names counts the open elements of each name, so that a million end tags
	// that close nothing are passed over without a search.
	names map[string]int

	nodes []html.Node // for elements to come: made by the dozen, in less time

	attributes int // in the tree
	nesting    int // how deep the tree may be
}

type openElement struct {
	node  *html.Node
	depth int // in the tree
}

// add makes a node the last child of the innermost open element.
func (b *flatBuilder) add(n *html.Node) { b.open[len(b.open)-1].node.AppendChild(n) }

// element makes an element of a start tag.
func (b *flatBuilder) element(t *tokenReader) *html.Node {
	if len(b.nodes) == 0 {
		b.nodes = make([]html.Node, 64)
	}
	n := &b.nodes[0]
	b.nodes = b.nodes[1:]
	*n = html.Node{Type: html.ElementNode, Data: t.atom.String(), DataAtom: t.atom}
	if t.atom == 0 {
		n.Data = string(t.name)
	}
	for b.attributes < maxAttributes {
		key, value, ok := t.attribute()
		if !ok {
			break
		}
		n.Attr = append(n.Attr, html.Attribute{Key: attributeKey(key), Val: string(value)})
		b.attributes++
	}
	return n
}

// attributeKey is a key as a string, without a copy if it is one of HTML's.
func attributeKey(key []byte) string {
	if a := atom.Lookup(key); a != 0 {
		return a.String()
	}
	return string(key)
}

func (b *flatBuilder) start(n *html.Node, selfClosing bool) {
	parent := b.open[len(b.open)-1]
	if parent.depth >= b.nesting {
		parent = b.open[b.top]
	}
	parent.node.AppendChild(n)
	if selfClosing || isVoid(n.DataAtom) {
		return
	}
	if b.top < 2 && len(b.open) < 3 && (n.DataAtom == atom.Html || n.DataAtom == atom.Body) {
		b.top = len(b.open)
	}
	b.open = append(b.open, openElement{n, parent.depth + 1})
	b.names[n.Data]++
}

// end closes the nearest open element of that name, and what is open in it. One
// that closes nothing is passed over. The body stays open, as pages go on after
// its end tag.
func (b *flatBuilder) end(name string) {
	if b.names[name] == 0 {
		return
	}
	for i := len(b.open) - 1; i > b.top; i-- {
		closed := b.open[i].node.Data
		b.names[closed]--
		b.open = b.open[:i]
		if closed == name {
			return
		}
	}
}

// isVoid reports whether elements of that name have no content. Source: HTML
// Standard, "Void elements".
func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input,
		atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// attribute returns the value of an element's attribute, and whether it has it.
func attribute(n *html.Node, name string) (string, bool) {
	if i := attributeIndex(n, name); i >= 0 {
		return n.Attr[i].Val, true
	}
	return "", false
}

func attributeIndex(n *html.Node, name string) int {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return i
		}
	}
	if n.DataAtom == 0 { // XML, whose names keep their case
		for i := range n.Attr {
			if strings.EqualFold(n.Attr[i].Key, name) {
				return i
			}
		}
	}
	return -1
}
