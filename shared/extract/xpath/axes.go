package xpath

import (
	"strings"

	"golang.org/x/net/html"
)

type axis int

const (
	child axis = iota
	descendant
	descendantOrSelf
	self
	parent
	ancestor
	ancestorOrSelf
	followingSibling
	precedingSibling
	following
	preceding
	attribute
	namespace
)

var axes = map[string]axis{
	"child": child, "descendant": descendant, "descendant-or-self": descendantOrSelf, "self": self,
	"parent": parent, "ancestor": ancestor, "ancestor-or-self": ancestorOrSelf,
	"following-sibling": followingSibling, "preceding-sibling": precedingSibling,
	"following": following, "preceding": preceding, "attribute": attribute, "namespace": namespace,
}

// walk gives the nodes on an axis of a node, the nearest first, until yield
// returns false.
func (ev *evaluation) walk(a axis, n Node, yield func(Node) bool) {
	give := func(t *html.Node) bool { return ev.visit() && (t.Type == html.DoctypeNode || yield(Node{Tree: t})) }
	if n.attr != 0 {
		ev.walkFromAttribute(a, n, yield)
		return
	}
	t := n.Tree
	switch a {
	case child:
		for c := t.FirstChild; c != nil && give(c); c = c.NextSibling {
		}
	case descendantOrSelf:
		_ = give(t) && inside(t, give)
	case descendant:
		inside(t, give)
	case self:
		give(t)
	case parent:
		_ = t.Parent != nil && give(t.Parent)
	case ancestorOrSelf:
		for ; t != nil && give(t); t = t.Parent {
		}
	case ancestor:
		for t = t.Parent; t != nil && give(t); t = t.Parent {
		}
	case followingSibling:
		for t = t.NextSibling; t != nil && give(t); t = t.NextSibling {
		}
	case precedingSibling:
		for t = t.PrevSibling; t != nil && give(t); t = t.PrevSibling {
		}
	case following:
		ev.following(t, give)
	case preceding:
		for ; t != nil; t = t.Parent {
			for s := t.PrevSibling; s != nil; s = s.PrevSibling {
				if !backwards(s, give) {
					return
				}
			}
		}
	case attribute:
		for i := range t.Attr {
			if !ev.visit() || !ev.declares(&t.Attr[i]) && !yield(AtAttr(t, i)) {
				return
			}
		}
	case namespace: // the prefixes of a tree are what is written, so there are no such nodes
	}
}

func (ev *evaluation) following(t *html.Node, give func(*html.Node) bool) {
	for ; t != nil; t = t.Parent {
		for s := t.NextSibling; s != nil; s = s.NextSibling {
			if !give(s) || !inside(s, give) {
				return
			}
		}
	}
}

// walkFromAttribute is walk for an attribute, whose parent is its element.
func (ev *evaluation) walkFromAttribute(a axis, n Node, yield func(Node) bool) {
	element := Node{Tree: n.Tree}
	switch a {
	case self, descendantOrSelf:
		yield(n)
	case parent:
		yield(element)
	case ancestor:
		ev.walk(ancestorOrSelf, element, yield)
	case ancestorOrSelf:
		if yield(n) {
			ev.walk(ancestorOrSelf, element, yield)
		}
	case preceding:
		ev.walk(preceding, element, yield)
	case following:
		goOn := true
		ev.walk(descendant, element, func(n Node) bool { goOn = yield(n); return goOn })
		if goOn {
			ev.walk(following, element, yield)
		}
	}
}

// inside gives what lies in a node, in the order of the document.
func inside(n *html.Node, give func(*html.Node) bool) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !give(c) || !inside(c, give) {
			return false
		}
	}
	return true
}

// backwards gives what lies in a node and the node, against the order.
func backwards(n *html.Node, give func(*html.Node) bool) bool {
	for c := n.LastChild; c != nil; c = c.PrevSibling {
		if !backwards(c, give) {
			return false
		}
	}
	return give(n)
}

// declares reports whether an attribute of XML declares a namespace, which is
// no attribute for XPath.
func (ev *evaluation) declares(a *html.Attribute) bool {
	return !ev.HTML && (a.Namespace == "xmlns" || a.Namespace == "" && a.Key == "xmlns")
}

type testKind int

const (
	named testKind = iota // an element, or on the attribute axis an attribute
	anyNode
	textNode
	commentNode
	noNode
)

// A test is what a step asks of a node.
type test struct {
	kind   testKind
	prefix string
	local  string // "" for any
	joined string // prefix and local name
}

func (ev *evaluation) passes(t *test, a axis, n Node) bool {
	switch t.kind {
	case anyNode:
		return true
	case textNode:
		return n.attr == 0 && n.Tree.Type == html.TextNode
	case commentNode:
		return n.attr == 0 && n.Tree.Type == html.CommentNode
	case noNode:
		return false
	}
	if (a == attribute) != (n.attr != 0) || n.attr == 0 && n.Tree.Type != html.ElementNode {
		return false
	}
	prefix, local := n.names()
	switch {
	case t.local == "" && t.prefix == "":
		return true
	case ev.HTML && t.prefix == "" && isForeign(prefix) && n.attr == 0:
		return local == t.local || strings.EqualFold(local, t.local) && strings.ToLower(t.local) == t.local
	case prefix == t.prefix:
		return t.local == "" || t.local == local
	}
	// HTML parsers do not know prefixes: the name of <g:price> is g:price.
	return t.prefix != "" && prefix == "" && (local == t.joined || t.local == "" && strings.HasPrefix(local, t.prefix+":"))
}

func isForeign(prefix string) bool { return prefix == "svg" || prefix == "math" }
