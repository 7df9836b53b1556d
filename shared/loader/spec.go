package loader

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A Spec says how the fields of an item are made. The zero Spec takes every
// value as it is.
type Spec struct {
	// Fields are those with processors of their own, by name: of a struct, as
	// its json tags have it.
	Fields map[string]Field

	// In is the input processor of fields that have none.
	//
	// Default: Identity.
	In Processor

	// Out is the output processor of fields that have none.
	//
	// Default: Identity; TakeFirst for a struct's field that holds one value.
	Out Processor

	// Context has values for processors; see [Context].
	Context map[string]any
}

// A Field says how one field is made.
type Field struct {
	// In is run on what is added, each time: a []any. Its result is stored, if
	// it is neither nil nor "" nor an empty list.
	//
	// Default: the Spec's In.
	In Processor

	// Out makes the field's value of all that was stored: a []any. A result of
	// nil leaves the field unset.
	//
	// Default: the Spec's Out.
	Out Processor

	// Layouts are Go's layouts for a text that is to become a time.Time.
	//
	// Default: time.RFC3339.
	Layouts []string
}

// A Type makes loaders of items of one type. It does not change and is safe for
// concurrent use.
type Type[T any] struct {
	spec  Spec
	shape *shape // nil if T takes any field
}

// For checks a Spec against the type of its items: a struct, whose fields have
// the names of its json tags; crawl.Item, whose fields stand in the order in
// which they were first added; or a map with string keys. Names that the struct
// does not have and processors with wrong arguments are errors.
func For[T any](spec Spec) (*Type[T], error) {
	t := &Type[T]{spec: spec}
	var errs []error
	typ := reflect.TypeFor[T]()
	switch {
	case typ == reflect.TypeFor[crawl.Item]():
	case typ.Kind() == reflect.Map && typ.Key().Kind() == reflect.String:
	case typ.Kind() == reflect.Struct:
		t.shape = shapeOf(typ)
		for _, name := range slices.Sorted(maps.Keys(spec.Fields)) {
			if err := t.check(name); err != nil {
				errs = append(errs, err)
			}
		}
	default:
		return nil, fmt.Errorf("loader for %s: an item is a struct, a crawl.Item or a map with string keys", typ)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Fields)) {
		if err := errors.Join(spec.Fields[name].In.err, spec.Fields[name].Out.err); err != nil {
			errs = append(errs, fmt.Errorf("field %s: %w", name, err))
		}
	}
	errs = append(errs, spec.In.err, spec.Out.err)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("loader for %s: %w", typ, err)
	}
	return t, nil
}

// MustFor is For for a Spec that stands in a program. It panics if the Spec is
// wrong, which is then found when the program starts.
func MustFor[T any](spec Spec) *Type[T] {
	t, err := For[T](spec)
	if err != nil {
		panic(err)
	}
	return t
}

// check reports a field that the type does not have.
func (t *Type[T]) check(name string) error {
	if t.shape == nil {
		return nil
	}
	if _, ok := t.shape.field(name); ok {
		return nil
	}
	return fmt.Errorf("there is no field %q in %s; there are %s", name, reflect.TypeFor[T](), strings.Join(t.shape.names(), ", "))
}

func (t *Type[T]) in(name string) Processor {
	if p := t.spec.Fields[name].In; !p.IsZero() {
		return p
	}
	return t.spec.In
}

func (t *Type[T]) out(name string) Processor {
	if p := t.spec.Fields[name].Out; !p.IsZero() {
		return p
	}
	if t.spec.Out.IsZero() && t.shape != nil {
		if f, ok := t.shape.field(name); ok && f.single {
			return TakeFirst()
		}
	}
	return t.spec.Out
}

// New begins an item that is filled from a page, a document or a selection.
// The source may be nil for a loader that only gets values.
func (t *Type[T]) New(source Source) *Loader[T] {
	var none T
	return t.Update(source, none)
}

// Update begins with an item that is there. Its values are taken as collected
// already, without input processors, so what is added comes behind them; of a
// struct, those fields that are not zero. The item itself does not change.
func (t *Type[T]) Update(source Source, item T) *Loader[T] {
	l := &Loader[T]{
		state:   &state[T]{typ: t, initial: item, values: make(map[string][]any)},
		source:  source,
		context: Context{Values: t.spec.Context, doc: documentOf(source)},
	}
	l.state.begin()
	return l
}
