package yamlspider

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/skitterhq/skitter/shared/legs"
)

// A decoder fills Go values from nodes, strictly, and reports all that is
// wrong. Fields are found by their JSON names, so the options of a leg are read
// as JSON reads them, but for one thing: a single value stands for a list of
// one, as in Scrapy (allow: /product/).
type decoder struct {
	*report
	kinds  []legs.Kind
	root   *yaml.Node
	values int
	depth  int
}

// A nodeReader reads itself from a node.
type nodeReader interface {
	readNode(d *decoder, n *yaml.Node)
}

func (d *decoder) at(n *yaml.Node, format string, args ...any) {
	d.add(n.Line, n.Column, format, args...)
}

// enter follows an alias, and refuses what is too much or not read. It returns
// nil for that.
func (d *decoder) enter(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch d.values++; {
	case d.values == maxValues+1:
		d.at(n, "the file has more than %d values, those of aliases counted each time", maxValues)
		return nil
	case d.values > maxValues:
		return nil
	case d.depth >= maxDepth:
		d.at(n, "it is nested more than %d deep", maxDepth)
		d.values = maxValues + 1 // an alias within itself has no end
		return nil
	case n.Style&yaml.TaggedStyle != 0:
		d.at(n, "tags such as %s are not read: leave it out, and put a text into quotes", n.Tag)
		return nil
	}
	return n
}

// decode fills v from a node. What names it in errors: "allow", "settings".
func (d *decoder) decode(n *yaml.Node, v reflect.Value, what string) {
	if n = d.enter(n); n == nil {
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	if v.CanAddr() {
		switch into := v.Addr().Interface().(type) {
		case nodeReader:
			into.readNode(d, n)
			return
		case *legs.Selector:
			d.selector(n, into, what)
			return
		case *legs.FieldList:
			d.itemFields(n, into, what)
			return
		case json.Unmarshaler:
			d.unmarshal(n, into, what)
			return
		case encoding.TextUnmarshaler:
			if err := into.UnmarshalText([]byte(n.Value)); n.Kind != yaml.ScalarNode || err != nil {
				d.at(n, "%s: %v", what, err)
			}
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(n, v.Elem(), what)
	case reflect.Struct:
		d.object(n, v, what)
	case reflect.Map:
		d.table(n, v, what)
	case reflect.Slice:
		d.list(n, v, what)
	case reflect.Interface:
		if value := d.plain(n); value != nil {
			v.Set(reflect.ValueOf(value))
		}
	default:
		d.scalar(n, v, what)
	}
}

// pairs gives the keys and values of a mapping, each key once.
func (d *decoder) pairs(n *yaml.Node, what string, give func(key string, at, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.at(n, "%s wants a mapping (key: value), and got %s", what, describe(n))
		return
	}
	lines := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		key := d.enter(at)
		switch {
		case key == nil:
		case key.ShortTag() == "!!merge":
			d.at(at, "merge keys (<<) are not read: write the values out, or use an alias for a whole value")
		case key.Kind != yaml.ScalarNode:
			d.at(at, "%s has a key that is %s; keys are words", what, describe(key))
		case lines[key.Value] > 0:
			d.at(at, "%q stands here for the second time; the first is in line %d", key.Value, lines[key.Value])
		default:
			lines[key.Value] = key.Line
			give(key.Value, at, value)
		}
	}
}

// object reads a struct by the JSON names of its fields.
func (d *decoder) object(n *yaml.Node, v reflect.Value, what string) {
	there := fields(v.Type())
	d.pairs(n, what, func(key string, at, value *yaml.Node) {
		for _, f := range there {
			if f.name == key {
				d.field(value, v, f)
				return
			}
		}
		d.at(at, "%s", unknown("key", key, names(there)))
	})
}

func (d *decoder) field(n *yaml.Node, v reflect.Value, f field) {
	if isNull(n) && !takesNull(f.typ) {
		d.at(n, "%s has no value: give it one, or leave it out", f.name)
		return
	}
	d.decode(n, v.FieldByIndex(f.index), f.name)
}

func (d *decoder) table(n *yaml.Node, v reflect.Value, what string) {
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, what, func(key string, _, value *yaml.Node) {
		element := reflect.New(v.Type().Elem()).Elem()
		if isNull(value) && !takesNull(element.Type()) {
			d.at(value, "%s has no value: give it one, or leave it out", key)
			return
		}
		d.decode(value, element, key)
		v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), element)
	})
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, what string) {
	content := n.Content
	if n.Kind != yaml.SequenceNode {
		if !oneIsAList(v.Type()) || n.Kind != yaml.ScalarNode || isNull(n) {
			d.at(n, "%s wants a list, and got %s", what, describe(n))
			return
		}
		content = []*yaml.Node{n}
	}
	v.Set(reflect.MakeSlice(v.Type(), len(content), len(content)))
	for i, c := range content {
		if isNull(c) && !takesNull(v.Type().Elem()) {
			d.at(c, "an entry of %s has no value", what)
			continue
		}
		d.decode(c, v.Index(i), what)
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, what string) {
	wants := ""
	switch kind := v.Kind(); {
	case kind == reflect.String:
		if isText(n) {
			v.SetString(n.Value)
			return
		}
		wants = "a text"
		if n.Kind == yaml.ScalarNode && !isNull(n) {
			wants += fmt.Sprintf(" (put it into quotes: %q)", n.Value)
		}
	case kind == reflect.Bool:
		if n.ShortTag() == "!!bool" {
			v.SetBool(strings.EqualFold(n.Value, "true"))
			return
		}
		wants = "true or false"
	case v.CanInt():
		if i, ok := integer(n); ok && !v.OverflowInt(i) {
			v.SetInt(i)
			return
		}
		wants = "a whole number"
	case v.CanFloat():
		if f, ok := number(n); ok {
			v.SetFloat(f)
			return
		}
		wants = "a number"
	default:
		d.at(n, "%s cannot be given in YAML", what)
		return
	}
	d.at(n, "%s wants %s, and got %s", what, wants, describe(n))
}

// plain is a node as JSON has it, with whole numbers that keep their digits.
func (d *decoder) plain(n *yaml.Node) any {
	d.depth++
	defer func() { d.depth-- }()
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		d.pairs(n, "it", func(key string, _, value *yaml.Node) {
			if value = d.enter(value); value != nil {
				m[key] = d.plain(value)
			}
		})
		return m
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			if c = d.enter(c); c != nil {
				list = append(list, d.plain(c))
			}
		}
		return list
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int":
		if i, ok := integer(n); ok {
			return int(i)
		}
	case "!!float":
		if f, ok := number(n); ok {
			return f
		}
	default:
		return n.Value
	}
	d.at(n, "%s is a number that is not read: write it in decimal digits, or put it into quotes", n.Value)
	return nil
}
