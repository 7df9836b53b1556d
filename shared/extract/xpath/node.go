package xpath

import (
	"strings"

	"golang.org/x/net/html"
)

// A Node is a node of a tree, or an attribute of one.
type Node struct {
	Tree *html.Node
	attr int // index of the attribute, plus one
}

// At is the node of a tree.
func At(n *html.Node) Node { return Node{Tree: n} }

// AtAttr is the attribute of that index of an element.
func AtAttr(n *html.Node, index int) Node { return Node{n, index + 1} }

// Attr returns the attribute that the node is, nil if it is none.
func (n Node) Attr() *html.Attribute {
	if n.attr == 0 {
		return nil
	}
	return &n.Tree.Attr[n.attr-1]
}

// AttrIndex returns the index of the attribute that the node is, -1 if it is
// none.
func (n Node) AttrIndex() int { return n.attr - 1 }

// Text returns the node's string value: an attribute's value, a text, or all
// the text in an element.
func (n Node) Text() string { return n.text(func(int) bool { return true }) }

// text is Text that tells spend what it costs, and is "" as soon as spend says
// that it is too much.
func (n Node) text(spend func(steps int) bool) string {
	if a := n.Attr(); a != nil {
		return a.Val
	}
	switch n.Tree.Type {
	case html.TextNode, html.CommentNode:
		return n.Tree.Data
	}
	if c := n.Tree.FirstChild; c == nil || c.NextSibling == nil && c.Type == html.TextNode {
		return textOf(c)
	}
	var b strings.Builder
	for d := n.Tree.FirstChild; d != nil; d = nextInside(n.Tree, d) {
		cost := 1
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
			cost += len(d.Data) / bytesPerStep
		}
		if !spend(cost) {
			return ""
		}
	}
	return b.String()
}

func textOf(n *html.Node) string {
	if n == nil {
		return ""
	}
	return n.Data
}

// nextInside returns what comes after a node in the order of the document, nil
// where the element it lies in ends.
func nextInside(element, n *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	for n != element {
		if n.NextSibling != nil {
			return n.NextSibling
		}
		n = n.Parent
	}
	return nil
}

// names returns the prefix and the local name.
func (n Node) names() (prefix, local string) {
	if a := n.Attr(); a != nil {
		return a.Namespace, a.Key
	}
	if n.Tree.Type == html.ElementNode {
		return n.Tree.Namespace, n.Tree.Data
	}
	return "", ""
}
