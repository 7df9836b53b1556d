package yamlspider

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// A field is one that a mapping can fill.
type field struct {
	name  string
	index []int
	typ   reflect.Type
}

// fields lists what JSON knows of a struct, embedded structs' fields included.
func fields(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			for _, inner := range fields(f.Type) {
				inner.index = slices.Concat([]int{i}, inner.index)
				all = append(all, inner)
			}
		case name == "":
			all = append(all, field{f.Name, []int{i}, f.Type})
		default:
			all = append(all, field{name, []int{i}, f.Type})
		}
	}
	return all
}

func names(fields []field) []string {
	var all []string
	for _, f := range fields {
		all = append(all, f.name)
	}
	return all
}

// oneIsAList reports whether a single value stands for a list of one: where the
// entries are single values.
func oneIsAList(t reflect.Type) bool {
	e := t.Elem()
	if e == reflect.TypeFor[word]() {
		return true
	}
	if reflect.PointerTo(e).Implements(reflect.TypeFor[nodeReader]()) {
		return false
	}
	if reflect.PointerTo(e).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return true // process: strip
	}
	switch e.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// takesNull reports whether a value may be left open.
func takesNull(t reflect.Type) bool {
	return t.Kind() == reflect.Interface || t == reflect.TypeFor[arg]() || t == reflect.TypeFor[setting]()
}
