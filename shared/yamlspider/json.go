package yamlspider

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v4"
)

// unmarshal hands a value to what reads itself from JSON, its keys in their
// order.
func (d *decoder) unmarshal(n *yaml.Node, into json.Unmarshaler, what string) {
	before := len(d.found)
	text := d.appendJSON(nil, n)
	if len(d.found) > before {
		return
	}
	if err := into.UnmarshalJSON(text); err != nil {
		d.at(n, "%s: %v", what, strings.TrimPrefix(err.Error(), "json: "))
	}
}

func (d *decoder) appendJSON(text []byte, n *yaml.Node) []byte {
	d.depth++
	defer func() { d.depth-- }()
	switch n.Kind {
	case yaml.MappingNode:
		text = append(text, '{')
		d.pairs(n, "it", func(key string, _, value *yaml.Node) {
			if value = d.enter(value); value != nil {
				text = d.appendJSON(append(appendText(comma(text), key), ':'), value)
			}
		})
		return append(text, '}')
	case yaml.SequenceNode:
		text = append(text, '[')
		for _, c := range n.Content {
			if c = d.enter(c); c != nil {
				text = d.appendJSON(comma(text), c)
			}
		}
		return append(text, ']')
	}
	if isText(n) {
		return appendText(text, n.Value)
	}
	return append(text, marshaled(d.plain(n))...)
}

// comma goes before every value but the first.
func comma(text []byte) []byte {
	if last := text[len(text)-1]; last == '{' || last == '[' {
		return text
	}
	return append(text, ',')
}

func appendText(text []byte, value string) []byte { return append(text, marshaled(value)...) }

// marshaled is the JSON of a null, a truth, a number or a text, which has no
// error.
func marshaled(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
