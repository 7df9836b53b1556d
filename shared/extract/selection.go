package extract

import (
	"iter"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// A Selection is what a selector found, in the order of the page: elements,
// or with ::text pieces of text, or with ::attr(name) values of attributes.
// The zero Selection is empty.
type Selection struct {
	doc  *Document
	hits []hit
	err  error
}

// A hit is one thing that was found: a node, or an attribute of it.
type hit struct {
	node *html.Node
	attr string
}

// value is what Get and All give of a hit.
func (h hit) value() string {
	switch {
	case h.attr != "":
		v, _ := attribute(h.node, h.attr)
		return v
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

// CSS selects among what was selected and its descendants. As in Scrapy, the
// whole selector must match there: "ul li" finds no li whose ul is outside.
func (s Selection) CSS(selector string) Selection {
	if s.err != nil || s.doc == nil {
		return Selection{doc: s.doc, err: s.err}
	}
	q, err := compiled.get(selector)
	if err != nil {
		s.doc.blame(err)
		return Selection{doc: s.doc, err: err}
	}
	return s.Select(q)
}

// Select is CSS with a selector that is compiled already.
func (s Selection) Select(q *Query) Selection {
	found := Selection{doc: s.doc, err: s.err}
	for _, h := range s.hits {
		if h.attr == "" {
			found.hits = q.appendHits(found.hits, h.node)
		}
	}
	return found
}

// Get returns the value of the first thing selected: the text, the attribute's
// value, or the element's HTML. It is "" if nothing was selected.
func (s Selection) Get() string { return s.GetOr("") }

// GetOr is Get with another value for nothing.
func (s Selection) GetOr(missing string) string {
	if len(s.hits) == 0 {
		return missing
	}
	return s.hits[0].value()
}

// All returns the values of all that was selected, as Get gives them. It is
// empty and not nil if nothing was selected, so that it is [] in JSON.
func (s Selection) All() []string {
	values := make([]string, len(s.hits))
	for i, h := range s.hits {
		values[i] = h.value()
	}
	return values
}

// Text returns the text of the first thing selected as a reader sees it:
// without tags, scripts and style sheets, runs of blanks as one blank.
func (s Selection) Text() string {
	if len(s.hits) == 0 {
		return ""
	}
	return readerText(s.hits[0])
}

// Texts returns the text of each thing selected, as Text gives it.
func (s Selection) Texts() []string {
	texts := make([]string, len(s.hits))
	for i, h := range s.hits {
		texts[i] = readerText(h)
	}
	return texts
}

// Attr returns an attribute of the first element selected, "" if there is none.
func (s Selection) Attr(name string) string {
	for _, h := range s.hits {
		if h.node.Type == html.ElementNode {
			v, _ := attribute(h.node, strings.ToLower(name))
			return v
		}
	}
	return ""
}

// Each goes through what was selected, one at a time.
func (s Selection) Each() iter.Seq[Selection] {
	return func(yield func(Selection) bool) {
		for i := range s.hits {
			if !yield(Selection{doc: s.doc, hits: s.hits[i : i+1 : i+1]}) {
				return
			}
		}
	}
}

// Len returns how many things were selected.
func (s Selection) Len() int { return len(s.hits) }

// Err returns what is wrong with the selector, or with the one before it.
func (s Selection) Err() error { return s.err }

// Nodes returns the nodes that were selected; for ::attr, those that have the
// attribute.
func (s Selection) Nodes() []*html.Node {
	nodes := make([]*html.Node, len(s.hits))
	for i, h := range s.hits {
		nodes[i] = h.node
	}
	return nodes
}

// Goquery returns the selection for goquery, on the same tree.
func (s Selection) Goquery() *goquery.Selection {
	if s.doc == nil {
		return &goquery.Selection{}
	}
	return s.doc.Goquery().FindNodes(s.Nodes()...)
}
