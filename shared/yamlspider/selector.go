package yamlspider

import (
	"reflect"

	"go.yaml.in/yaml/v4"

	"github.com/skitterhq/skitter/shared/legs"
)

// What package legs reads from JSON in more than one form is read here in the
// same forms, so that a mistake in it has its own line.

// selector reads a selector: a text, which is CSS, or a mapping.
func (d *decoder) selector(n *yaml.Node, into *legs.Selector, what string) {
	if isText(n) {
		into.CSS = d.someCSS(n, what)
		return
	}
	if n.Kind != yaml.MappingNode {
		d.noSelector(n, what)
		return
	}
	d.object(n, reflect.ValueOf(into).Elem(), what)
	if *into == (legs.Selector{}) && len(n.Content) == 0 {
		d.someCSS(n, what)
	}
}

func (d *decoder) noSelector(n *yaml.Node, what string) {
	d.at(n, "%s wants a CSS selector (%s: h1::text) or a mapping such as {xpath: //h1}, and got %s", what, what, describe(n))
}

func (d *decoder) someCSS(n *yaml.Node, what string) string {
	if n.Value == "" {
		d.at(n, "%s is empty: write a CSS selector, or one of css, xpath, jmespath and jsonpath", what)
	}
	return n.Value
}

// itemFields reads the fields of an item, in their order.
func (d *decoder) itemFields(n *yaml.Node, into *legs.FieldList, what string) {
	*into = legs.FieldList{}
	d.pairs(n, what, func(key string, _, value *yaml.Node) {
		f := legs.Field{Name: key}
		d.itemField(value, &f)
		*into = append(*into, f)
	})
}

func (d *decoder) itemField(n *yaml.Node, into *legs.Field) {
	if n = d.enter(n); n == nil {
		return
	}
	if isText(n) {
		into.CSS = d.someCSS(n, into.Name)
		return
	}
	if n.Kind != yaml.MappingNode {
		d.noSelector(n, into.Name)
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	d.object(n, reflect.ValueOf(into).Elem(), into.Name)
}
