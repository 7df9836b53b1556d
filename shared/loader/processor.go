package loader

import (
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/extract"
)

// A Processor makes a value of another. Values are what JSON has (string,
// json.Number, bool, map[string]any, []any, nil for nothing) and whatever Go
// values a program adds.
//
// Processors are made by the functions of this package, by [NewProcessor] and
// its like, or by name ([Named]). The zero Processor does nothing, and as a
// field's processor it stands for the default one. A Processor does not change
// and is safe for concurrent use if its function is.
type Processor struct {
	name string
	run  func(c *Context, value any) (any, error)
	err  error
}

// NewProcessor makes a processor of a function, which gets the whole value: as
// a field's processor, a []any. The name is for errors.
func NewProcessor(name string, run func(c *Context, value any) (any, error)) Processor {
	return Processor{name: name, run: run}
}

// ForEach makes a processor that works on one value. Of a list it works on each
// value, at any depth: a result of nil is left out, and one that is a list is
// spread.
func ForEach(name string, run func(c *Context, value any) (any, error)) Processor {
	var each Processor
	each = NewProcessor(name, func(c *Context, value any) (any, error) {
		if !isList(value) {
			return run(c, value)
		}
		return mapCompose(c, value, []Processor{each})
	})
	return each
}

// Text makes a processor of a function from text to text, such as
// strings.ToUpper, that works as [ForEach]. Numbers and booleans are taken as
// their text, and stay what they are if the function does not change it.
func Text(name string, run func(string) string) Processor {
	return ForEach(name, func(_ *Context, value any) (any, error) {
		if value == nil {
			return nil, nil
		}
		s, err := textOf(value)
		if err != nil {
			return nil, err
		}
		if changed := run(s); changed != s {
			return changed, nil
		}
		return value, nil
	})
}

// Parse makes a processor of a function that reads a text, such as
// url.ParseRequestURI, and works as [ForEach]. Numbers and booleans are read as
// their text.
func Parse[T any](name string, run func(string) (T, error)) Processor {
	return ForEach(name, func(_ *Context, value any) (any, error) {
		if value == nil {
			return nil, nil
		}
		s, err := textOf(value)
		if err != nil {
			return nil, err
		}
		return run(s)
	})
}

// broken is a processor whose arguments are wrong, which is told where it is
// used.
func broken(name string, err error) Processor {
	return Processor{name: name, err: fmt.Errorf("processor %s: %w", name, err)}
}

// Err tells what is wrong with the arguments that the processor was made of,
// and is nil if nothing is. [For] tells it, too.
func (p Processor) Err() error { return p.err }

// String returns the processor's name.
func (p Processor) String() string {
	if p.name == "" {
		return "identity"
	}
	return p.name
}

// IsZero reports whether p is the zero Processor.
func (p Processor) IsZero() bool { return p.run == nil && p.err == nil }

// Process makes a value of another. An error is an [*Error] that names the
// processor and the value; of processors inside others, the innermost. The
// context may be nil, for processors that need none.
func (p Processor) Process(c *Context, value any) (any, error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.run == nil {
		return value, nil
	}
	made, err := p.run(c, value)
	if err == nil {
		return made, nil
	}
	if inner := (*Error)(nil); errors.As(err, &inner) {
		return nil, err
	}
	return nil, &Error{Processor: p.String(), Value: value, Err: err}
}

// An Error says what a processor could not do.
type Error struct {
	// Field is the field's name; empty outside a loader.
	Field string

	// Stage is "input processor", "output processor" or "processor" (one given
	// with a call). It is empty outside a loader, and for a value that does not
	// fit the field of a struct.
	Stage string

	// Processor is the processor's name; empty for a value that does not fit.
	Processor string

	// Value is what it was given.
	Value any

	// Err is what the processor says of the value.
	Err error
}

func (e *Error) Error() string {
	where := ""
	if e.Field != "" {
		where = "field " + e.Field + ", "
	}
	switch {
	case e.Processor == "":
		where += "value "
	case e.Stage == "":
		where += "processor " + e.Processor + " of "
	default:
		where += e.Stage + " " + e.Processor + " of "
	}
	return where + excerpt(e.Value) + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// A Context is what a processor can know besides its value.
type Context struct {
	// Field is the field's name; empty for a value that is for none.
	Field string

	// Values are those of the [Spec], and over them those that were set with
	// [Loader.SetContext]. They must not be changed.
	Values map[string]any

	doc *extract.Document
}

// NewContext returns the context of a page, for processors that are run outside
// of a loader. The page may be nil.
func NewContext(page *extract.Document) *Context { return &Context{doc: page} }

// Value returns a value of the context, nil if it is not there.
func (c *Context) Value(name string) any {
	if c == nil {
		return nil
	}
	return c.Values[name]
}

// Document returns the page that the loader reads, nil if it reads none.
func (c *Context) Document() *extract.Document {
	if c == nil {
		return nil
	}
	return c.doc
}
