package extract

import (
	"bytes"

	"github.com/skitterhq/skitter/shared/extract/xmltoken"
	"golang.org/x/net/html"
)

// xmlRoot is the Data of a document node whose tree is XML.
const xmlRoot = "xml"

// maxXMLNodes bounds the tree of a document, attributes included: as many take
// 100 MB, and a sitemap of 50,000 URLs has 750,000. What comes after them is
// left out, see [Document.Truncated]; a larger feed is read entry by entry, see
// [Document.XMLNodes].
const maxXMLNodes = 800_000

// parseXML builds the tree of an XML document in UTF-8. An element's and an
// attribute's Data and Key are the local name in its own case, the Namespace is
// the prefix as it is written. No element has a DataAtom, as none is HTML.
//
// Wrong XML gives what is there: an end tag closes what is open in its element,
// one that closes nothing is passed over, and what is open at the end is
// closed. truncated says that something came after the last node there may be.
func parseXML(doc []byte) (root *html.Node, truncated bool) {
	b := newXMLBuilder()
	for r := xmltoken.NewBytes(doc); ; {
		kind := r.Next()
		if kind == xmltoken.EOF {
			break
		}
		if b.nodes >= maxXMLNodes && kind != xmltoken.End && !(kind == xmltoken.Text && b.isLayout(r.Data())) {
			truncated = true
			break
		}
		b.take(kind, r)
	}
	b.flush()
	return b.root(), truncated
}

// Truncated reports whether the document is XML with more than 800,000
// elements, attributes, texts and comments, and was asked for something in it:
// selectors see those that stand first. [Document.XMLNodes] reads all of such a
// document.
func (d *Document) Truncated() bool { return d.truncated }

// An xmlBuilder has the elements whose end tags are awaited, the document
// first.
type xmlBuilder struct {
	open   []openXML
	names  map[xmltoken.Name]int // how many of each name are open
	spaces *xmlSpaces            // nil leaves prefixes as they are written
	text   []byte                // what came since the last tag
	nodes  int
	slab   []html.Node // nodes that are not used yet
}

type openXML struct {
	node *html.Node
	name xmltoken.Name // as it is written
}

func newXMLBuilder() *xmlBuilder {
	root := &html.Node{Type: html.DocumentNode, Data: xmlRoot}
	return &xmlBuilder{open: []openXML{{node: root}}, names: make(map[xmltoken.Name]int)}
}

func (b *xmlBuilder) root() *html.Node { return b.open[0].node }

// take adds the token that a reader has just given.
func (b *xmlBuilder) take(kind xmltoken.Kind, r *xmltoken.Reader) {
	if kind == xmltoken.Text {
		b.text = append(b.text, r.Data()...)
		return
	}
	b.flush()
	switch kind {
	case xmltoken.Start:
		b.start(r.Name(), r.Attrs())
	case xmltoken.End:
		b.end(r.Name())
	case xmltoken.Comment:
		b.add(html.Node{Type: html.CommentNode, Data: string(r.Data())})
	}
}

func (b *xmlBuilder) add(n html.Node) *html.Node {
	b.nodes++
	if len(b.slab) == 0 {
		b.slab = make([]html.Node, min(64+b.nodes, 1024))
	}
	node := &b.slab[0]
	b.slab = b.slab[1:]
	*node = n
	// An element that lies too deep is put beside its parent, so that whatever
	// recurses through the tree is safe. What it has in it stays in it.
	inside := len(b.open)
	if n.Type == html.ElementNode {
		inside = min(inside, maxNesting)
	}
	b.open[inside-1].node.AppendChild(node)
	return node
}

// flush adds the text that was collected.
func (b *xmlBuilder) flush() {
	if len(b.text) == 0 {
		return
	}
	if !b.isLayout(b.text) {
		b.add(html.Node{Type: html.TextNode, Data: string(b.text)})
	}
	b.text = b.text[:0]
}

// isLayout reports whether a text is blank and stands outside of the root element.
func (b *xmlBuilder) isLayout(text []byte) bool {
	return len(b.open) == 1 && len(bytes.TrimSpace(text)) == 0
}

func (b *xmlBuilder) start(name xmltoken.Name, attrs []xmltoken.Attr) {
	n := html.Node{Type: html.ElementNode, Data: name.Local, Namespace: b.spaces.element(name)}
	if len(attrs) > 0 {
		n.Attr = make([]html.Attribute, len(attrs))
		for i, a := range attrs {
			n.Attr[i] = html.Attribute{Namespace: b.spaces.attribute(a.Name), Key: a.Name.Local, Val: a.Value}
		}
		b.nodes += len(attrs)
	}
	b.open = append(b.open, openXML{b.add(n), name})
	b.names[name]++
}

func (b *xmlBuilder) end(name xmltoken.Name) {
	if b.names[name] == 0 {
		return
	}
	for closed := (xmltoken.Name{}); closed != name; {
		closed = b.open[len(b.open)-1].name
		b.names[closed]--
		b.open = b.open[:len(b.open)-1]
	}
}

// isXML reports whether a node belongs to a tree of parseXML.
func isXML(n *html.Node) bool {
	for n.Parent != nil {
		n = n.Parent
	}
	return n.Type == html.DocumentNode && n.Data == xmlRoot
}

// RemoveNamespaces takes the prefixes off the names of all elements and
// attributes of an XML document, and takes out what declares them, so that
// selectors need no prefixes. In an HTML document it does nothing.
func (d *Document) RemoveNamespaces() {
	if d.IsXML() {
		removeNamespaces(d.Root())
	}
}

func removeNamespaces(n *html.Node) {
	n.Namespace = ""
	kept := n.Attr[:0]
	for _, a := range n.Attr {
		if !declaresNamespace(a) {
			a.Namespace = ""
			kept = append(kept, a)
		}
	}
	n.Attr = kept
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		removeNamespaces(c)
	}
}

// declaresNamespace reports whether an attribute of XML is xmlns, or one such
// as xmlns:media.
func declaresNamespace(a html.Attribute) bool {
	return a.Namespace == "xmlns" || a.Namespace == "" && a.Key == "xmlns"
}
