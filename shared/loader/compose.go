package loader

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Identity returns the value as it is.
func Identity() Processor {
	return NewProcessor("identity", func(_ *Context, value any) (any, error) { return value, nil })
}

// TakeFirst returns the first value that is neither nil nor "", and nil if
// there is none. It is the usual output processor of a field with one value.
func TakeFirst() Processor {
	return NewProcessor("take_first", func(_ *Context, value any) (any, error) {
		for _, v := range listOf(value) {
			if v != nil && v != "" {
				return v, nil
			}
		}
		return nil, nil
	})
}

// Join returns the values as one text, with a separator between them. Scrapy's
// default separator is a blank. Values that are no text, number or boolean are
// an error.
func Join(separator string) Processor {
	return NewProcessor("join", func(_ *Context, value any) (any, error) {
		list := listOf(value)
		texts := make([]string, len(list))
		for i, v := range list {
			s, err := textOf(v)
			if err != nil {
				return nil, fmt.Errorf("value %d %w", i+1, err)
			}
			texts[i] = s
		}
		return strings.Join(texts, separator), nil
	})
}

// Unique leaves out the values that were there before. Values that are lists
// or objects are compared as a whole.
func Unique() Processor {
	return NewProcessor("unique", func(_ *Context, value any) (any, error) {
		if !isList(value) {
			return value, nil
		}
		kept := []any{}
		seen := make(map[any]bool)
		for _, v := range listOf(value) {
			key := v
			if v != nil && !reflect.ValueOf(v).Comparable() {
				key = [1]string{whole(v)} // no value of its own has this type
			}
			if !seen[key] {
				seen[key] = true
				kept = append(kept, v)
			}
		}
		return kept, nil
	})
}

// Compose runs processors one after the other, each on the whole result of the
// one before. It stops at a result of nil (Scrapy's stop_on_none) and returns
// nil.
func Compose(processors ...Processor) Processor { return compose(processors, true) }

// ComposeThroughNil is Compose that does not stop at nil: Scrapy's Compose with
// stop_on_none=False.
func ComposeThroughNil(processors ...Processor) Processor { return compose(processors, false) }

func compose(processors []Processor, stopOnNil bool) Processor {
	if err := firstErr(processors); err != nil {
		return broken("compose", err)
	}
	return NewProcessor("compose", func(c *Context, value any) (any, error) {
		var err error
		for _, p := range processors {
			if value == nil && stopOnNil {
				break
			}
			if value, err = p.Process(c, value); err != nil {
				return nil, err
			}
		}
		return value, nil
	})
}

// MapCompose runs the first processor on each value, the next on each of its
// results, and so on. Results of nil are left out, and those that are lists are
// spread. It returns a list.
func MapCompose(processors ...Processor) Processor {
	if err := firstErr(processors); err != nil {
		return broken("map_compose", err)
	}
	return NewProcessor("map_compose", func(c *Context, value any) (any, error) {
		return mapCompose(c, value, processors)
	})
}

func mapCompose(c *Context, value any, processors []Processor) (any, error) {
	values := listOf(value)
	for _, p := range processors {
		next := []any{}
		for _, v := range values {
			made, err := p.Process(c, v)
			if err != nil {
				return nil, err
			}
			next = append(next, listOf(made)...)
		}
		values = next
	}
	return values, nil
}

func firstErr(processors []Processor) error {
	errs := make([]error, len(processors))
	for i, p := range processors {
		errs[i] = p.err
	}
	return errors.Join(errs...)
}
