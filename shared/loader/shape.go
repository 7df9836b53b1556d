package loader

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A shape is the fields of a struct, as encoding/json sees them.
type shape struct{ fields []structField }

type structField struct {
	name   string
	index  []int
	single bool // holds one value, not a list
}

func (s *shape) field(name string) (structField, bool) {
	i := slices.IndexFunc(s.fields, func(f structField) bool { return f.name == name })
	if i < 0 {
		return structField{}, false
	}
	return s.fields[i], true
}

func (s *shape) names() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return names
}

func shapeOf(t reflect.Type) *shape {
	s := new(shape)
	s.collect(t, nil, nil)
	return s
}

// collect takes the fields of a struct, and then those of the structs that are
// embedded in it, which it hides.
func (s *shape) collect(t reflect.Type, at []int, within []reflect.Type) {
	var embedded []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if tag == "-" {
			continue
		}
		if f.Anonymous && name == "" && embeds(f) {
			embedded = append(embedded, f)
			continue
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if _, hidden := s.field(name); !hidden {
			s.fields = append(s.fields, structField{name, append(slices.Clone(at), i), isSingle(f.Type)})
		}
	}
	within = append(slices.Clone(within), t)
	for _, f := range embedded {
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if !slices.Contains(within, inner) {
			s.collect(inner, append(slices.Clone(at), f.Index...), within)
		}
	}
}

// embeds reports whether the fields of an embedded field are the struct's own.
// A pointer to a type that is not exported cannot be set from here.
func embeds(f reflect.StructField) bool {
	if f.Type.Kind() == reflect.Pointer {
		return f.IsExported() && f.Type.Elem().Kind() == reflect.Struct
	}
	return f.Type.Kind() == reflect.Struct
}

// isSingle reports whether a type holds one value.
func isSingle(t reflect.Type) bool {
	if t.Implements(textUnmarshaler) || reflect.PointerTo(t).Implements(textUnmarshaler) || reflect.PointerTo(t).Implements(jsonUnmarshaler) {
		return true
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return t.Elem().Kind() == reflect.Uint8
	case reflect.Interface:
		return false
	case reflect.Pointer:
		return isSingle(t.Elem())
	}
	return true
}

// fieldsOf returns the values of an item: of a struct those that are not zero.
func fieldsOf(item any, s *shape) ([]crawl.Field, error) {
	if s == nil {
		v := reflect.ValueOf(item)
		if v.Kind() == reflect.Map && v.IsNil() {
			return nil, nil
		}
		made, err := crawl.NewItem(item)
		if err != nil {
			return nil, err
		}
		return made.Fields()
	}
	var fields []crawl.Field
	for _, f := range s.fields {
		v, err := reflect.ValueOf(item).FieldByIndexErr(f.index)
		if err == nil && !v.IsZero() {
			fields = append(fields, crawl.Field{Name: f.name, Value: v.Interface()})
		}
	}
	return fields, nil
}

// setField sets a field of a struct or a map.
func setField(dst reflect.Value, s *shape, f crawl.Field, layouts []string) error {
	c := conversion{layouts: layouts}
	if s == nil {
		return c.mapValue(dst, f.Name, f.Value)
	}
	at, ok := s.field(f.Name)
	if !ok {
		return fmt.Errorf("there is no such field; there are %s", strings.Join(s.names(), ", "))
	}
	made := reflect.New(dst.Type().FieldByIndex(at.index).Type).Elem()
	if err := c.set(made, f.Value); err != nil {
		return err
	}
	reached(dst, at.index).Set(made)
	return nil
}

// copyOf is a map with the same values.
func copyOf(m reflect.Value) reflect.Value {
	made := reflect.MakeMapWithSize(m.Type(), m.Len())
	for values := m.MapRange(); values.Next(); {
		made.SetMapIndex(values.Key(), values.Value())
	}
	return made
}

// reached is FieldByIndex that makes the embedded structs on the way, or copies
// those that are there, which another item may share.
func reached(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			own := reflect.New(v.Type().Elem())
			if !v.IsNil() {
				own.Elem().Set(v.Elem())
			}
			v.Set(own)
			v = own.Elem()
		}
		v = v.Field(i)
	}
	return v
}
