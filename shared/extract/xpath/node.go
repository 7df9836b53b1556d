package xpath

import (
	"cmp"
	"slices"
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
func (n Node) Text() string {
	if a := n.Attr(); a != nil {
		return a.Val
	}
	switch n.Tree.Type {
	case html.TextNode, html.CommentNode:
		return n.Tree.Data
	}
	if c := n.Tree.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var b strings.Builder
	for d := range n.Tree.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
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

func top(n *html.Node) *html.Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// inOrder sorts nodes by the order of the document and drops repeated ones.
func (ev *evaluation) inOrder(nodes NodeSet) NodeSet {
	if len(nodes) < 2 {
		return nodes
	}
	for _, n := range nodes {
		ev.number(top(n.Tree))
	}
	slices.SortFunc(nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(ev.order[a.Tree], ev.order[b.Tree]), cmp.Compare(a.attr, b.attr))
	})
	return slices.Compact(nodes)
}

// number gives all nodes of a tree their places in the order.
func (ev *evaluation) number(root *html.Node) {
	if ev.ordered[root] {
		return
	}
	if ev.order == nil {
		ev.order, ev.ordered = make(map[*html.Node]int), make(map[*html.Node]bool)
	}
	ev.ordered[root] = true
	ev.order[root] = len(ev.order)
	for n := range root.Descendants() {
		ev.order[n] = len(ev.order)
	}
}

// isFlat reports whether no node of a set in document order lies in another.
// What lies in a node comes right after it, so neighbours tell.
func isFlat(nodes NodeSet) bool {
	for i := 1; i < len(nodes); i++ {
		if isAncestor(nodes[i-1], nodes[i]) {
			return false
		}
	}
	return true
}

func isAncestor(a, b Node) bool {
	if a.attr != 0 {
		return false
	}
	n := b.Tree
	if b.attr == 0 {
		n = n.Parent
	}
	for ; n != nil; n = n.Parent {
		if n == a.Tree {
			return true
		}
	}
	return false
}
