package extract

import (
	"encoding/json"
	"fmt"

	"github.com/skitterhq/skitter/shared/extract/xpath"
	"golang.org/x/net/html"
)

// CSS selects by a CSS selector with Scrapy's ::text and ::attr(name); see
// [CompileCSS]. A selector that is wrong selects nothing, and the selection's
// Err tells why. Compiled selectors are kept, so that the same text is compiled
// once in a process.
func (d *Document) CSS(selector string) Selection { return d.all().CSS(selector) }

// XPath selects by an XPath expression; see [CompileXPath].
func (d *Document) XPath(expression string) Selection { return d.all().XPath(expression) }

// XPathWith is XPath with values for the expression's variables; see
// [Selection.XPathWith].
func (d *Document) XPathWith(expression string, vars map[string]any) Selection {
	return d.all().XPathWith(expression, vars)
}

// JMESPath selects by a JMESPath expression in a page that is JSON; see
// [CompileJMESPath]. A page that is none is an error, like a selector that is
// wrong.
func (d *Document) JMESPath(expression string) Selection { return d.inData(langJMESPath, expression) }

// JSONPath is JMESPath with a JSONPath expression; see [CompileJSONPath].
func (d *Document) JSONPath(expression string) Selection { return d.inData(langJSONPath, expression) }

func (d *Document) inData(l language, text string) Selection {
	q, err := query(l, text)
	if err != nil {
		d.blame(err)
		return Selection{doc: d, err: err}
	}
	return d.Select(q)
}

// Select selects by a selector that is compiled already.
func (d *Document) Select(q *Query) Selection {
	if q.language.isMarkup() {
		return d.all().Select(q)
	}
	v, err := d.json()
	if err != nil {
		if !d.dataLarge {
			err = fmt.Errorf("the page is no JSON: %w", err)
		}
		err = &SelectorError{Language: string(q.language), Selector: q.text, Err: err}
		d.blame(err)
		return Selection{doc: d, err: err}
	}
	return Selection{doc: d, hits: []hit{{data: v}}}.Select(q)
}

// all is the selection of the root.
func (d *Document) all() Selection {
	return Selection{doc: d, hits: []hit{{node: d.Root()}}}
}

// json returns the body's JSON value.
func (d *Document) json() (any, error) {
	if !d.dataRead {
		d.dataRead = true
		if err := checkJSONSize(d.UTF8()); err != nil {
			d.dataErr, d.dataLarge = fmt.Errorf("the page's JSON is too large: %w", err), true
			return nil, d.dataErr
		}
		d.data, d.dataErr = decodeJSON(d.UTF8())
	}
	return d.data, d.dataErr
}

// JSON decodes the body into v, as json.Unmarshal does. The page may be in any
// encoding. Numbers that go into an any are json.Number, with all digits.
func (d *Document) JSON(v any) error { return unmarshal(d.UTF8(), v) }

// find appends what a selector finds in a hit.
func (d *Document) find(hits []hit, h hit, q *Query, opt xpath.Options) ([]hit, error) {
	switch q.language {
	case langCSS:
		n, err := d.element(h)
		if n == nil || err != nil {
			return hits, err
		}
		return q.appendHits(hits, n), nil
	case langXPath:
		at, err := d.at(h)
		if at.Tree == nil || err != nil {
			return hits, err
		}
		opt.HTML = !isXML(at.Tree)
		v, err := q.xpath.Evaluate(at, opt)
		if err != nil {
			return hits, err
		}
		return appendXPath(hits, v), nil
	}
	v, isJSON, err := d.value(h)
	if err != nil || !isJSON {
		return hits, err
	}
	if q.language == langJSONPath {
		all, err := selectJSONPath(q.jsonpath, v)
		if err != nil {
			return hits, err
		}
		for _, found := range all {
			hits = append(hits, hit{data: found})
		}
		return hits, nil
	}
	found, err := q.jmespath.search(v)
	if err != nil {
		return hits, err
	}
	switch found := found.(type) {
	case nil:
	case []any:
		for _, element := range found {
			hits = append(hits, hit{data: element})
		}
	default:
		hits = append(hits, hit{data: found})
	}
	return hits, nil
}

func appendXPath(hits []hit, v xpath.Value) []hit {
	switch v := v.(type) {
	case xpath.NodeSet:
		for _, n := range v {
			hits = append(hits, hit{node: n.Tree, attr: n.AttrIndex() + 1})
		}
		return hits
	case bool:
		if v {
			return append(hits, hit{data: "1"})
		}
		return append(hits, hit{data: "0"})
	}
	return append(hits, hit{data: xpath.String(v)})
}

// xpathVariables makes XPath's values of Go's.
func xpathVariables(vars map[string]any) (map[string]xpath.Value, error) {
	values := make(map[string]xpath.Value, len(vars))
	for name, v := range vars {
		switch v := v.(type) {
		case string, bool, float64:
			values[name] = v
		case int:
			values[name] = float64(v)
		case int64:
			values[name] = float64(v)
		case json.Number:
			values[name] = string(v)
		case Selection:
			var set []xpath.Node
			for _, h := range v.hits {
				if h.isNode() {
					set = append(set, xpath.At(h.node))
				} else if h.attribute() != nil {
					set = append(set, xpath.AtAttr(h.node, h.attr-1))
				}
			}
			values[name] = xpath.NewNodeSet(set)
		default:
			return nil, fmt.Errorf("the variable $%s is a %T: a string, an int, a float64, a bool or a Selection is needed", name, v)
		}
	}
	return values, nil
}

// attributeName is an attribute's whole name.
func attributeName(a html.Attribute) string {
	if a.Namespace != "" {
		return a.Namespace + ":" + a.Key
	}
	return a.Key
}
