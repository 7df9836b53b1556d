package extract

import (
	"iter"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/skitterhq/skitter/shared/extract/xpath"
	"golang.org/x/net/html"
)

// A Selection is what a selector found, in the order of the page: elements,
// pieces of text, attributes, or JSON values. The zero Selection is empty.
type Selection struct {
	doc  *Document
	hits []hit
	err  error
}

// CSS selects among what was selected and its descendants. As in Scrapy, the
// whole selector must match there: "ul li" finds no li whose ul is outside. In
// a text or a JSON string it selects in the HTML that the text is.
func (s Selection) CSS(selector string) Selection { return s.compiled(langCSS, selector) }

// XPath evaluates an XPath expression at each thing selected: ".//a" looks in
// it, "//a" in all of the page. In a JSON string it looks in the HTML that the
// string is.
func (s Selection) XPath(expression string) Selection { return s.compiled(langXPath, expression) }

// JMESPath evaluates a JMESPath expression on each thing selected: a JSON
// value, or a text that is JSON, such as that of a script element. In a text
// that is none it finds nothing.
func (s Selection) JMESPath(expression string) Selection { return s.compiled(langJMESPath, expression) }

// JSONPath is JMESPath with a JSONPath expression.
func (s Selection) JSONPath(expression string) Selection { return s.compiled(langJSONPath, expression) }

func (s Selection) compiled(l language, text string) Selection {
	if s.err != nil || s.doc == nil {
		return Selection{doc: s.doc, err: s.err}
	}
	q, err := query(l, text)
	if err != nil {
		s.doc.blame(err)
		return Selection{doc: s.doc, err: err}
	}
	return s.Select(q)
}

// Select selects by a selector that is compiled already.
func (s Selection) Select(q *Query) Selection { return s.selectWith(q, nil) }

// XPathWith is XPath with values for the expression's variables: $name stands
// for vars["name"], which is a string, a number, a bool, or a Selection of
// nodes. A value is never read as a part of the expression, so no quoting is
// needed.
func (s Selection) XPathWith(expression string, vars map[string]any) Selection {
	if s.err != nil || s.doc == nil {
		return Selection{doc: s.doc, err: s.err}
	}
	q, err := query(langXPath, expression)
	if err == nil {
		var values map[string]xpath.Value
		if values, err = xpathVariables(vars); err == nil {
			return s.selectWith(q, values)
		}
		err = &SelectorError{Language: string(langXPath), Selector: expression, Err: err}
	}
	s.doc.blame(err)
	return Selection{doc: s.doc, err: err}
}

func (s Selection) selectWith(q *Query, vars map[string]xpath.Value) Selection {
	found := Selection{doc: s.doc, err: s.err}
	steps := xpath.StepsAtNodes
	opt := xpath.Options{Vars: vars, Steps: &steps}
	for _, h := range s.hits {
		hits, err := s.doc.find(found.hits, h, q, opt)
		if err != nil {
			err = &SelectorError{Language: string(q.language), Selector: q.text, Err: err}
			s.doc.blame(err)
			return Selection{doc: s.doc, err: err}
		}
		found.hits = hits
	}
	return found
}

// Get returns the value of the first thing selected: the text, the attribute's
// value, the element's HTML, or a JSON value: a string as it is, anything else
// as JSON. It is "" if nothing was selected.
func (s Selection) Get() string { return s.GetOr("") }

// GetOr is Get with another value for nothing, and for JSON's null.
func (s Selection) GetOr(missing string) string {
	if len(s.hits) == 0 || s.hits[0].isMissing() {
		return missing
	}
	return s.hits[0].text()
}

// All returns the values of all that was selected, as Get gives them. It is
// empty and not nil if nothing was selected, so that it is [] in JSON.
func (s Selection) All() []string {
	values := make([]string, len(s.hits))
	for i, h := range s.hits {
		values[i] = h.text()
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

// Value returns the first thing selected as what it is: a JSON value as package
// json decodes it, with numbers as json.Number, or a string as [Selection.Get]
// gives it. It is nil if nothing was selected.
func (s Selection) Value() any {
	if len(s.hits) == 0 {
		return nil
	}
	return s.hits[0].valueCopy()
}

// Values returns all that was selected, as Value gives it. It is empty and not
// nil if nothing was selected.
func (s Selection) Values() []any {
	values := make([]any, len(s.hits))
	for i, h := range s.hits {
		values[i] = h.valueCopy()
	}
	return values
}

// Attr returns an attribute of the first element selected, "" if there is none.
func (s Selection) Attr(name string) string {
	n := s.firstElement()
	if n == nil {
		return ""
	}
	for _, a := range n.Attr {
		if a.Namespace != "" && attributeName(a) == name {
			return a.Val
		}
	}
	if v, found := attribute(n, name); found {
		return v
	}
	v, _ := attribute(n, strings.ToLower(name))
	return v
}

// Attrs returns the attributes of the first element selected (Scrapy's attrib),
// those with a prefix under their whole name, such as xlink:href. It is empty
// and not nil if there are none.
func (s Selection) Attrs() map[string]string {
	attrs := make(map[string]string)
	if n := s.firstElement(); n != nil {
		for _, a := range n.Attr {
			attrs[attributeName(a)] = a.Val
		}
	}
	return attrs
}

func (s Selection) firstElement() *html.Node {
	for _, h := range s.hits {
		if h.isNode() && h.node.Type == html.ElementNode {
			return h.node
		}
	}
	return nil
}

// Drop takes what was selected out of the tree, so that later selectors do not
// find it: elements with all that is in them, and pieces of text. The root,
// attributes and JSON values stay.
func (s Selection) Drop() {
	for _, h := range s.hits {
		if h.isNode() && h.node.Parent != nil {
			h.node.Parent.RemoveChild(h.node)
		}
	}
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

// Document returns the page that was selected from; nil for the zero Selection.
func (s Selection) Document() *Document { return s.doc }

// Nodes returns the nodes that were selected; for attributes, those that have
// them. JSON values and what XPath computes have none.
func (s Selection) Nodes() []*html.Node {
	nodes := make([]*html.Node, 0, len(s.hits))
	for _, h := range s.hits {
		if h.node != nil {
			nodes = append(nodes, h.node)
		}
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
