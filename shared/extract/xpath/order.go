package xpath

import (
	"slices"

	"golang.org/x/net/html"
)

// NewNodeSet puts nodes into the order of the document, each once. It may
// reorder the slice.
func NewNodeSet(nodes []Node) NodeSet {
	all := collector{ev: &evaluation{left: maxSteps}}
	for _, n := range nodes {
		all.add(n)
	}
	return all.set()
}

// A collector brings nodes into the order of the document, each once.
//
// It numbers no document. Each node marks its ancestors up to the first that is
// marked, and only where marked nodes are siblings are they looked for among
// the children of their parent, from one of them in both directions. So it
// costs what lies between the nodes and not what the page has besides, and as
// many marks as the page has nodes at the most, however often a node comes.
type collector struct {
	ev      *evaluation
	ordered bool    // the nodes come in order, each once
	few     NodeSet // the nodes, as long as these are few
	marks   map[*html.Node]*mark
	roots   []*mark
}

// maxFew is how many nodes are kept in a list before marks are made.
const maxFew = 16

// A mark is a node that was added, or in which one lies.
type mark struct {
	node   *html.Node
	wanted bool  // the node itself
	attrs  []int // which of its attributes, as in Node
	under  *mark // the last of the marked children
	next   *mark // another child of the same parent
}

func (c *collector) add(n Node) {
	switch {
	case c.ordered || c.marks == nil && len(c.few) < maxFew:
		c.ev.visit()
		c.few = append(c.few, n)
		return
	case c.marks == nil:
		c.markFew()
	}
	c.mark(n)
}

func (c *collector) markFew() {
	c.marks = make(map[*html.Node]*mark)
	for _, n := range c.few {
		c.mark(n)
	}
	c.few = nil
}

func (c *collector) mark(n Node) {
	m := c.path(n.Tree)
	switch {
	case m == nil:
	case n.attr == 0:
		m.wanted = true
	case !slices.Contains(m.attrs, n.attr):
		c.ev.spend(len(m.attrs))
		m.attrs = append(m.attrs, n.attr)
	}
}

// path marks a node and what it lies in. It is nil where that takes too many
// steps.
func (c *collector) path(n *html.Node) *mark {
	if !c.ev.visit() {
		return nil
	}
	if m := c.marks[n]; m != nil {
		return m
	}
	first := &mark{node: n}
	for m := first; ; {
		c.marks[m.node] = m
		if !c.ev.spend(mapSteps) {
			return nil
		}
		if m.node.Parent == nil {
			c.roots = append(c.roots, m)
			return first
		}
		above, isMarked := c.marks[m.node.Parent]
		if !isMarked {
			above = &mark{node: m.node.Parent}
		}
		m.next, above.under = above.under, m
		if isMarked {
			return first
		}
		m = above
	}
}

// set returns the nodes in order.
func (c *collector) set() NodeSet {
	switch {
	case c.ev.err != nil:
		return nil
	case c.ordered || len(c.few) == 1:
		return c.few
	case c.marks == nil && areSiblings(c.few):
		return c.siblings(c.few)
	case c.marks == nil:
		c.markFew()
	}
	var all NodeSet
	for _, root := range c.roots {
		all = c.appendMarked(all, root)
	}
	if c.ev.err != nil {
		return nil
	}
	return all
}

func areSiblings(nodes NodeSet) bool {
	for _, n := range nodes {
		if n.attr != 0 || n.Tree.Parent == nil || n.Tree.Parent != nodes[0].Tree.Parent {
			return false
		}
	}
	return true
}

// siblings sorts a few children of one parent.
func (c *collector) siblings(nodes NodeSet) NodeSet {
	distinct := nodes[:0]
	for _, n := range nodes {
		if !slices.Contains(distinct, n) {
			distinct = append(distinct, n)
		}
	}
	if len(distinct) < 2 {
		return distinct
	}
	sorted := make(NodeSet, 0, len(distinct))
	c.amongSiblings(distinct[0].Tree, len(distinct),
		func(n *html.Node) bool { return slices.Contains(distinct, At(n)) },
		func(n *html.Node) { sorted = append(sorted, At(n)) })
	return sorted
}

// amongSiblings gives the count siblings that are wanted, of which one is
// given, in their order.
func (c *collector) amongSiblings(one *html.Node, count int, wanted func(*html.Node) bool, give func(*html.Node)) {
	var before, after []*html.Node
	back, forth := one.PrevSibling, one.NextSibling
	for 1+len(before)+len(after) < count && (back != nil || forth != nil) && c.ev.spend(2) {
		if back != nil {
			if wanted(back) {
				before = append(before, back)
			}
			back = back.PrevSibling
		}
		if forth != nil {
			if wanted(forth) {
				after = append(after, forth)
			}
			forth = forth.NextSibling
		}
	}
	for _, n := range slices.Backward(before) {
		give(n)
	}
	give(one)
	for _, n := range after {
		give(n)
	}
}

func (c *collector) appendMarked(all NodeSet, m *mark) NodeSet {
	if m.wanted {
		all = append(all, At(m.node))
	}
	slices.Sort(m.attrs)
	for _, attr := range m.attrs {
		all = append(all, Node{m.node, attr})
	}
	count := 0
	for under := m.under; under != nil; under = under.next {
		count++
	}
	switch count {
	case 0:
	case 1:
		all = c.appendMarked(all, m.under)
	default:
		c.amongSiblings(m.under.node, count,
			func(n *html.Node) bool { return c.marks[n] != nil },
			func(n *html.Node) { all = c.appendMarked(all, c.marks[n]) })
	}
	return all
}
