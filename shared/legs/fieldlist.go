package legs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/loader"
)

// A Field is a field of an item: where its value stands, and what is made of
// it. In JSON and YAML a field is such an object, or a text, which is a CSS
// selector:
//
//	title: h1::text
//	price: {css: 'p.price::text', re: '[\d.]+', type: float}
//
// A value goes through re, process and type in this order; then default stands
// in for none.
type Field struct {
	// Name is the field's name. In JSON and YAML it is the key.
	Name string `json:"-"`

	// CSS selects by a CSS selector, with ::text and ::attr(name). An
	// element is its HTML, if type does not say otherwise.
	CSS string `json:"css,omitempty"`

	// XPath selects by an XPath expression.
	XPath string `json:"xpath,omitempty"`

	// JMESPath selects in JSON by a JMESPath expression.
	JMESPath string `json:"jmespath,omitempty"`

	// JSONPath selects in JSON by a JSONPath query.
	JSONPath string `json:"jsonpath,omitempty"`

	// From takes the value from the page itself: url, status, spider, job,
	// depth, or header, meta, cb_kwargs and arg with a name, as in "header
	// Last-Modified" and "meta link_text".
	From string `json:"from,omitempty"`

	// Value is the field's value, the same for all items.
	Value any `json:"value,omitempty"`

	// Fields make the field an object: they are looked for inside of what
	// its selector finds, or beside it if it has none.
	Fields FieldList `json:"fields,omitempty"`

	// All takes everything that is found, as a list.
	//
	// Default: false, the first that is not empty.
	All bool `json:"all,omitempty"`

	// Re is a regular expression: the values are what it matches, or what
	// its groups match.
	Re string `json:"re,omitempty"`

	// Process are processors by name, as item loaders have them: strip, join,
	// to_int, … They get all that was found.
	Process []loader.Processor `json:"process,omitempty"`

	// Type says what a value is: string, text (what a reader sees of an
	// element), int, float, price, bool, url (made absolute) or time (RFC
	// 3339). Numbers keep their digits.
	//
	// Default: string for what is selected in HTML and XML, and what stands
	// there in JSON.
	Type string `json:"type,omitempty"`

	// Default stands in for a value that is missing.
	Default any `json:"default,omitempty"`

	// Required makes the item incomplete if the field has no value.
	//
	// Default: false.
	Required bool `json:"required,omitempty"`
}

func (f Field) selector() Selector {
	return Selector{CSS: f.CSS, XPath: f.XPath, JMESPath: f.JMESPath, JSONPath: f.JSONPath}
}

// UnmarshalJSON reads a text or an object.
func (f *Field) UnmarshalJSON(data []byte) error {
	var css string
	if json.Unmarshal(data, &css) == nil {
		if css == "" {
			return errNoSelector
		}
		*f = Field{CSS: css}
		return nil
	}
	type fields Field // without the method
	var own fields
	if err := decodeJSON(data, &own); err != nil {
		return err
	}
	*f = Field(own)
	return nil
}

// A FieldList is the fields of an item in their order. In JSON and YAML it is an
// object, whose keys are the names.
type FieldList []Field

// UnmarshalJSON reads an object in the order of its keys.
func (l *FieldList) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return errors.New("fields are names with selectors, as in {title: 'h1::text'}")
	}
	list := FieldList{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		var f Field
		if err := f.UnmarshalJSON(value); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		f.Name = name.(string)
		list = append(list, f)
	}
	*l = list
	return nil
}
