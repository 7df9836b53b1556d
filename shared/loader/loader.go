package loader

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
)

// A Loader fills one item. It is used by one goroutine at a time.
//
// The Add and Replace methods return nothing: what goes wrong in them is kept,
// and told by [Loader.Load].
type Loader[T any] struct {
	*state[T] // shared by nested loaders

	source  Source
	context Context
}

// state is what an item has so far.
type state[T any] struct {
	typ     *Type[T]
	initial T
	order   []string
	values  map[string][]any
	errs    []error
}

// maxErrors bounds the errors of one item: the first ones tell.
const maxErrors = 20

func (s *state[T]) blame(err error) {
	if err != nil && len(s.errs) < maxErrors {
		s.errs = append(s.errs, err)
	}
}

// begin takes the values of the item that was there.
func (s *state[T]) begin() {
	fields, err := fieldsOf(s.initial, s.typ.shape)
	s.blame(err)
	for _, f := range fields {
		s.store(f.Name, listOf(f.Value))
	}
}

func (s *state[T]) store(field string, values []any) {
	if _, ok := s.values[field]; !ok {
		s.order = append(s.order, field)
	}
	s.values[field] = append(s.values[field], values...)
}

// SetContext sets a value of the context for the processors of this loader and
// of those that are nested in it from now on.
func (l *Loader[T]) SetContext(name string, value any) {
	values := maps.Clone(l.context.Values)
	if values == nil {
		values = make(map[string]any)
	}
	values[name] = value
	l.context.Values = values
}

// AddValue takes a value, or each value of a list or of an extract.Selection,
// through the processors given and then through the field's input processor,
// and stores what that gives behind what the field has. Nothing is stored of
// nil.
func (l *Loader[T]) AddValue(field string, value any, processors ...Processor) {
	l.give(field, value, processors, false)
}

// ReplaceValue is AddValue in place of what the field has. A value of nil
// replaces nothing.
func (l *Loader[T]) ReplaceValue(field string, value any, processors ...Processor) {
	l.give(field, value, processors, true)
}

// AddFields adds the values of an object to the fields of the same names: a
// map, a struct or a crawl.Item. It is Scrapy's add_value(None, …).
func (l *Loader[T]) AddFields(object any) {
	for _, f := range l.fieldsIn(object) {
		l.AddValue(f.Name, f.Value)
	}
}

// ReplaceFields is AddFields in place of what the fields have.
func (l *Loader[T]) ReplaceFields(object any) {
	for _, f := range l.fieldsIn(object) {
		l.ReplaceValue(f.Name, f.Value)
	}
}

func (l *Loader[T]) fieldsIn(object any) []crawl.Field {
	item, err := crawl.NewItem(object)
	if err != nil {
		l.blame(err)
		return nil
	}
	fields, err := item.Fields()
	l.blame(err)
	return fields
}

// GetValue takes a value through processors, which are run one after the other
// on the whole of it, and stores nothing. At nil it ends.
func (l *Loader[T]) GetValue(value any, processors ...Processor) (any, error) {
	return l.process("", value, processors)
}

func (l *Loader[T]) process(field string, value any, processors []Processor) (any, error) {
	c := l.contextOf(field)
	if s, ok := value.(extract.Selection); ok {
		if s.Err() != nil {
			return nil, located(s.Err(), field, "")
		}
		value = s.Values()
		if c.doc == nil {
			c.doc = s.Document()
		}
	}
	for _, p := range processors {
		if value == nil {
			return nil, nil
		}
		made, err := p.Process(c, value)
		if err != nil {
			return nil, located(err, field, "processor")
		}
		value = made
	}
	return value, nil
}

func (l *Loader[T]) contextOf(field string) *Context {
	c := l.context
	c.Field = field
	return &c
}

// located adds to a processor's error where it was run.
func located(err error, field, stage string) error {
	of := (*Error)(nil)
	if !errors.As(err, &of) {
		if field == "" {
			return err
		}
		return fmt.Errorf("field %s: %w", field, err)
	}
	at := *of
	at.Field, at.Stage = field, stage
	return &at
}

func (l *Loader[T]) give(field string, value any, processors []Processor, replace bool) {
	if err := l.typ.check(field); err != nil {
		l.blame(err)
		return
	}
	value, err := l.process(field, value, processors)
	if err != nil {
		l.blame(err)
		return
	}
	if value == nil {
		return
	}
	made, err := l.typ.in(field).Process(l.contextOf(field), slices.Clone(listOf(value)))
	if err != nil {
		l.blame(located(err, field, "input processor"))
		return
	}
	if replace {
		l.values[field] = l.values[field][:0:0]
	}
	if !isEmpty(made) {
		l.store(field, listOf(made))
	}
}

// GetCollectedValues returns what is stored for a field, as the input processor
// has made it.
func (l *Loader[T]) GetCollectedValues(field string) []any {
	return slices.Clone(l.values[field])
}

// GetOutputValue returns what the field's output processor makes of the values
// stored. It changes nothing.
func (l *Loader[T]) GetOutputValue(field string) (any, error) {
	if err := l.typ.check(field); err != nil {
		return nil, err
	}
	list := append([]any{}, l.values[field]...)
	made, err := l.typ.out(field).Process(l.contextOf(field), list)
	if err != nil {
		return nil, located(err, field, "output processor")
	}
	return made, nil
}

// Load makes the item of what was collected: Scrapy's load_item. Fields whose
// output is nil, or that were never added, stay as they were. With an error,
// which tells all that went wrong since the loader was made, the item has those
// fields that are right.
func (l *Loader[T]) Load() (T, error) {
	item := l.initial
	errs := slices.Clone(l.errs)
	var made []crawl.Field
	for _, name := range l.order {
		value, err := l.GetOutputValue(name)
		if err != nil {
			errs = append(errs, err)
		} else if value != nil {
			made = append(made, crawl.Field{Name: name, Value: value})
		}
	}
	errs = append(errs, l.fill(&item, made))
	return item, errors.Join(errs...)
}

// fill sets the fields of an item.
func (l *Loader[T]) fill(item *T, fields []crawl.Field) error {
	var errs []error
	if open, ok := any(item).(*crawl.Item); ok {
		for _, f := range fields {
			if err := checkJSON(f.Value); err != nil {
				errs = append(errs, &Error{Field: f.Name, Value: f.Value, Err: err})
				continue
			}
			errs = append(errs, open.Set(f.Name, f.Value))
		}
		return errors.Join(errs...)
	}
	dst := reflect.ValueOf(item).Elem()
	if dst.Kind() == reflect.Map {
		dst.Set(copyOf(dst)) // the item that was there is the caller's
	}
	for _, f := range fields {
		if dst.Kind() == reflect.Map {
			if err := checkJSON(f.Value); err != nil {
				errs = append(errs, &Error{Field: f.Name, Value: f.Value, Err: err})
				continue
			}
		}
		if err := setField(dst, l.typ.shape, f, l.typ.spec.Fields[f.Name].Layouts); err != nil {
			errs = append(errs, &Error{Field: f.Name, Value: f.Value, Err: err})
		}
	}
	return errors.Join(errs...)
}
