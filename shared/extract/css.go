package extract

import (
	"slices"

	"golang.org/x/net/html"
)

// An alternative is one of the parts of a CSS selector that commas separate.
type alternative struct {
	steps []step
	want  target
	attr  string // the name in ::attr(name)

	// deep takes the text or attribute of all descendants, too ("div ::text").
	deep bool
}

// A target is what an alternative takes of an element that it matches.
type target int

const (
	wantElement target = iota
	wantText
	wantAttr
)

// A step is one compound, such as "li.tag", and how it stands to the step
// before it: ' ', '>', '+' or '~'.
type step struct {
	combinator byte
	compound   compound
}

// Match reports whether n is an element that the selector matches.
func (q *Query) Match(n *html.Node) bool { return q.matches(n, nil) }

func (q *Query) matches(n *html.Node, m *memory) bool {
	return n.Type == html.ElementNode && slices.ContainsFunc(q.css, func(a alternative) bool {
		return matchSteps(a.steps, n, nil, m) == matched
	})
}

// MatchAll returns the elements that match, of n and its descendants.
func (q *Query) MatchAll(n *html.Node) []*html.Node { return q.appendMatches(nil, n, newMemory()) }

func (q *Query) appendMatches(nodes []*html.Node, n *html.Node, m *memory) []*html.Node {
	if q.matches(n, m) {
		nodes = append(nodes, n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		nodes = q.appendMatches(nodes, c, m)
	}
	return nodes
}

// Filter returns those of the nodes that match.
func (q *Query) Filter(nodes []*html.Node) []*html.Node {
	var kept []*html.Node
	m := newMemory()
	for _, n := range nodes {
		if q.matches(n, m) {
			kept = append(kept, n)
		}
	}
	return kept
}

// appendHits appends what the selector finds in scope: a node, itself included.
func (q *Query) appendHits(hits []hit, scope *html.Node) []hit {
	w := walker{query: q, scope: scope, hits: hits, memory: newMemory()}
	if q.looksAtSiblings() {
		w.memory.seen = make(siblings)
	}
	w.visit(scope, inherited{})
	return w.hits
}

// looksAtSiblings reports whether the selector has a ~.
func (q *Query) looksAtSiblings() bool {
	return slices.ContainsFunc(q.css, func(a alternative) bool {
		return slices.ContainsFunc(a.steps, func(s step) bool { return s.combinator == '~' })
	})
}

type walker struct {
	query  *Query
	scope  *html.Node
	hits   []hit
	memory *memory
}

// inherited is what a deep alternative wants of all descendants.
type inherited struct {
	text  bool
	attrs []string
}

func (w *walker) visit(n *html.Node, deep inherited) {
	text := deep.text
	if n.Type == html.ElementNode {
		text = w.element(n, &deep)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.ElementNode:
			w.visit(c, deep)
		case c.Type == html.TextNode && text:
			w.hits = append(w.hits, hit{node: c})
		}
	}
}

// element takes what is wanted of an element itself, and reports whether the
// text that stands directly in it is wanted.
func (w *walker) element(n *html.Node, deep *inherited) (text bool) {
	element := false
	first := len(w.hits)
	for i := range w.query.css {
		a := &w.query.css[i]
		if matchSteps(a.steps, n, w.scope, w.memory) != matched {
			continue
		}
		switch {
		case a.want == wantElement && !element:
			element = true
			w.hits = append(w.hits, hit{node: n})
		case a.want == wantText:
			text = true
			deep.text = deep.text || a.deep
		case a.want == wantAttr && a.deep:
			deep.attrs = append(deep.attrs, a.attr)
		case a.want == wantAttr:
			w.attribute(n, a.attr, first)
		}
	}
	for _, name := range deep.attrs {
		w.attribute(n, name, first)
	}
	return text || deep.text
}

// attribute takes an attribute, once: what was taken of this element so far
// begins at first.
func (w *walker) attribute(n *html.Node, name string, first int) {
	i := attributeIndex(n, name)
	if i < 0 || slices.ContainsFunc(w.hits[first:], func(h hit) bool { return h.node == n && h.attr == i+1 }) {
		return
	}
	w.hits = append(w.hits, hit{node: n, attr: i + 1})
}
