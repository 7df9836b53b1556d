package extract

import (
	"fmt"
	"strings"

	"github.com/skitterhq/skitter/shared/extract/xpath"
	"golang.org/x/net/html"
)

// A hit is one thing that was found: a node, an attribute of one, a JSON value,
// or what an XPath expression computes.
type hit struct {
	node *html.Node // nil for a value
	attr int        // of the node: the attribute's index, plus one
	data any        // the value, as package json decodes it; see number.go
}

// attribute returns the attribute that was found, nil if it is something else.
func (h hit) attribute() *html.Attribute {
	if h.node == nil || h.attr == 0 || h.attr > len(h.node.Attr) {
		return nil
	}
	return &h.node.Attr[h.attr-1]
}

func (h hit) isNode() bool { return h.node != nil && h.attr == 0 }

// text is what Get and All give of a hit.
func (h hit) text() string {
	switch {
	case h.node == nil:
		return jsonText(h.data)
	case h.attr > 0:
		if a := h.attribute(); a != nil {
			return a.Val
		}
		return ""
	case h.node.Type == html.TextNode:
		return h.node.Data
	}
	var b strings.Builder
	if isXML(h.node) {
		renderXML(&b, h.node)
		return b.String()
	}
	if err := html.Render(&b, h.node); err != nil {
		return "" // a tree that the caller has spoilt
	}
	return b.String()
}

// valueCopy is what Value and Values give of a hit; the caller may change it.
func (h hit) valueCopy() any {
	if h.node == nil {
		return withNumbers(h.data)
	}
	return h.text()
}

// plain is the text of a hit without any markup.
func (h hit) plain() string {
	if h.isNode() {
		return xpath.At(h.node).Text()
	}
	return h.text()
}

// isMissing reports whether a hit is JSON's null.
func (h hit) isMissing() bool { return h.node == nil && h.data == nil }

// element returns the node in which a selector of CSS looks for elements: the
// node itself, or the root of the markup that a text is.
func (d *Document) element(h hit) (*html.Node, error) {
	if h.isNode() && h.node.Type != html.TextNode {
		return h.node, nil
	}
	return d.embeddedMarkup(h)
}

// at returns the node at which an XPath expression is evaluated.
func (d *Document) at(h hit) (xpath.Node, error) {
	switch {
	case h.attribute() != nil:
		return xpath.AtAttr(h.node, h.attr-1), nil
	case h.node != nil:
		return xpath.At(rootElement(h.node)), nil
	}
	root, err := d.embeddedMarkup(h)
	return xpath.At(rootElement(root)), err
}

// rootElement is the element of a document, in place of which Scrapy evaluates
// expressions, and any other node itself.
func rootElement(n *html.Node) *html.Node {
	if n == nil || n.Type != html.DocumentNode {
		return n
	}
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode {
			return c
		}
	}
	return n
}

// embeddedMarkup parses a text that is HTML. It is nil for a value without
// text, and an error for one that has values in it.
func (d *Document) embeddedMarkup(h hit) (*html.Node, error) {
	if h.node == nil {
		switch h.data.(type) {
		case map[string]any, []any:
			return nil, errNotMarkup
		case string:
		default:
			return nil, nil
		}
	}
	text := h.text()
	if d.embedded.root == nil || d.embedded.text != text {
		d.embedded.text, d.embedded.root = text, parse([]byte(text))
	}
	return d.embedded.root, nil
}

// value returns the JSON value that a hit is, or that its text is. It is false
// if the text is no JSON.
//
// The error is that of a text whose JSON is too large.
func (d *Document) value(h hit) (v any, isJSON bool, err error) {
	if _, isText := h.data.(string); h.node == nil && !isText {
		return h.data, true, nil
	}
	text := h.plain()
	if d.embedded.json == nil || d.embedded.jsonText != text {
		if err := checkJSONSize([]byte(text)); err != nil {
			return nil, false, fmt.Errorf("the text is too large as JSON: %w", err)
		}
		v, err := decodeJSON([]byte(text))
		if err != nil {
			return nil, false, nil
		}
		d.embedded.jsonText, d.embedded.json = text, v
	}
	return d.embedded.json, true, nil
}

// An embedded is what was last read out of a text: a few selectors in a row are
// asked of one.
type embedded struct {
	text     string
	root     *html.Node
	jsonText string
	json     any
}
