package legs

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/skitterhq/skitter/shared/extract"
)

// A Selector is a selector as text, in one of four languages: set one field. In
// JSON and YAML it is an object of one field, or a text, which is CSS:
//
//	next: li.next a::attr(href)
//	next: {xpath: '//a[@rel="next"]/@href'}
//
// The zero Selector is none.
type Selector struct {
	// CSS is a CSS selector with Scrapy's ::text and ::attr(name).
	CSS string `json:"css,omitempty"`

	// XPath is an XPath expression.
	XPath string `json:"xpath,omitempty"`

	// JMESPath is a JMESPath expression, for JSON.
	JMESPath string `json:"jmespath,omitempty"`

	// JSONPath is a JSONPath query (RFC 9535), for JSON.
	JSONPath string `json:"jsonpath,omitempty"`
}

// CSS is the selector of a CSS selector.
func CSS(selector string) Selector { return Selector{CSS: selector} }

// XPath is the selector of an XPath expression.
func XPath(expression string) Selector { return Selector{XPath: expression} }

// IsZero reports whether it is no selector.
func (s Selector) IsZero() bool { return s == Selector{} }

// Compile compiles the selector. That of none is nil. An XPath expression with
// variables is refused, as nobody gives them values.
func (s Selector) Compile() (*extract.Query, error) {
	languages := 0
	for _, text := range []string{s.CSS, s.XPath, s.JMESPath, s.JSONPath} {
		if text != "" {
			languages++
		}
	}
	switch {
	case languages > 1:
		return nil, errors.New("a selector is in one language: give one of css, xpath, jmespath and jsonpath")
	case s.CSS != "":
		return extract.CompileCSS(s.CSS)
	case s.XPath != "":
		q, err := extract.CompileXPath(s.XPath)
		if err == nil {
			err = q.CheckVariables()
		}
		return q, err
	case s.JMESPath != "":
		return extract.CompileJMESPath(s.JMESPath)
	case s.JSONPath != "":
		return extract.CompileJSONPath(s.JSONPath)
	}
	return nil, nil
}

// UnmarshalJSON reads a text or an object.
func (s *Selector) UnmarshalJSON(data []byte) error {
	var css string
	if json.Unmarshal(data, &css) == nil {
		if css == "" {
			return errNoSelector
		}
		*s = Selector{CSS: css}
		return nil
	}
	type fields Selector // without the method
	var f fields
	if err := decodeJSON(data, &f); err != nil {
		return err
	}
	if *s = Selector(f); s.IsZero() {
		return errNoSelector
	}
	return nil
}

var errNoSelector = errors.New("an empty selector: write a CSS selector, or one of css, xpath, jmespath and jsonpath")

// decodeJSON refuses what has no field, and keeps the digits of numbers.
func decodeJSON(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	return dec.Decode(v)
}
