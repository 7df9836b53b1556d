package crawl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// An Item is one record that a spider scraped: a JSON object whose fields keep
// the order in which they were written. The zero Item has no fields.
//
// An Item keeps its JSON as it came and reads the fields only when somebody
// asks, since most items pass through unread.
type Item struct {
	raw    []byte // compact JSON; nil once fields were changed
	fields []Field
	read   bool
}

// A Field is one named value of an item.
type Field struct {
	Name  string
	Value any
}

// NewItem makes an item of a value that encodes to a JSON object: a struct, a
// map, or an Item. A struct's fields keep their order; a map's are sorted.
func NewItem(v any) (Item, error) {
	switch v := v.(type) {
	case Item:
		return v, nil
	case *Item:
		if v != nil {
			return *v, nil
		}
	}
	raw, err := encode(v)
	if err != nil {
		return Item{}, fmt.Errorf("item of type %T: %w", v, err)
	}
	if len(raw) == 0 || raw[0] != '{' {
		return Item{}, fmt.Errorf("item of type %T is not a JSON object; use a struct, a map or crawl.Item", v)
	}
	return Item{raw: raw}, nil
}

// Fields returns the fields in order. The slice must not be changed.
func (i *Item) Fields() ([]Field, error) {
	if err := i.readFields(); err != nil {
		return nil, err
	}
	return i.fields, nil
}

// Get returns the value of a field, and whether it is there. Numbers are
// [json.Number] once the item has travelled.
func (i *Item) Get(name string) (any, bool) {
	if err := i.readFields(); err != nil {
		return nil, false
	}
	for _, f := range i.fields {
		if f.Name == name {
			return f.Value, true
		}
	}
	return nil, false
}

// Has reports whether a field has a value: it is there, and is neither null, nor
// a text of blanks alone, nor an empty list or object. 0 and false are values.
func (i *Item) Has(name string) bool {
	v, _ := i.Get(name)
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return strings.TrimSpace(v) != ""
	case []any:
		return len(v) > 0
	case []string:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// Set gives a field a value, in its old place or else at the end.
func (i *Item) Set(name string, value any) error {
	if err := i.readFields(); err != nil {
		return err
	}
	fields := append([]Field(nil), i.fields...)
	i.raw, i.fields = nil, fields
	for k := range fields {
		if fields[k].Name == name {
			fields[k].Value = value
			return nil
		}
	}
	i.fields = append(fields, Field{name, value})
	return nil
}

// Delete removes a field if it is there.
func (i *Item) Delete(name string) error {
	if err := i.readFields(); err != nil {
		return err
	}
	kept := make([]Field, 0, len(i.fields))
	for _, f := range i.fields {
		if f.Name != name {
			kept = append(kept, f)
		}
	}
	i.raw, i.fields = nil, kept
	return nil
}

// MarshalJSON writes the fields in their order.
func (i Item) MarshalJSON() ([]byte, error) {
	if i.raw != nil {
		return i.raw, nil
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for k, f := range i.fields {
		if k > 0 {
			b.WriteByte(',')
		}
		name, err := encode(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := encode(f.Value)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object; the fields are read when they are asked for.
func (i *Item) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return errors.New("an item is a JSON object")
	}
	*i = Item{raw: append([]byte(nil), data...)}
	return nil
}

func (i *Item) readFields() error {
	if i.read || i.raw == nil {
		i.read = true
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(i.raw))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("item: %w", err)
	}
	var fields []Field
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return fmt.Errorf("item: %w", err)
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("item, field %v: %w", name, err)
		}
		fields = append(fields, Field{name.(string), value})
	}
	i.fields, i.read = fields, true
	return nil
}

// encode writes JSON without escaping <, > and &, which feeds show to people.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// A Result is one thing that a callback gave: a request or an item, exactly
// one of them.
type Result struct {
	Request *Request
	Item    *Item
}
