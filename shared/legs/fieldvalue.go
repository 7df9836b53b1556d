package legs

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/loader"
	"github.com/skitterhq/skitter/shared/spider"
)

// A reading is one page that is being read.
type reading struct {
	page    *spider.Page
	context *loader.Context
}

func newReading(page *spider.Page) *reading {
	return &reading{page: page, context: loader.NewContext(page.Document())}
}

// read makes an object of the fields, and reports whether a selector found
// something. All fields are read, also behind one that is missing, so that a
// page of another kind is told from an incomplete item. A value that does not fit
// is told rather than one that is missing, which is no error by itself.
func (s *fieldSet) read(r *reading, in scope) (object object, found bool, failed error) {
	object = make([]member, 0, len(s.fields))
	for i := range s.fields {
		f := &s.fields[i]
		value, selected, err := f.read(r, in)
		found = found || selected
		if err == nil && value == nil && f.Required {
			err = &missingField{f.Name}
		}
		if err != nil {
			if failed == nil || isMissing(failed) && !isMissing(err) {
				failed = err
			}
			continue
		}
		if value == nil {
			value = f.Default
		}
		switch {
		case value != nil:
		case s.omit:
			continue
		case f.All:
			value = []any{}
		}
		object = append(object, member{f.Name, value})
	}
	return object, found, failed
}

// read returns the field's value, nil if it has none, and whether its selector,
// or one inside of it, found something.
func (f *field) read(r *reading, in scope) (value any, found bool, err error) {
	switch {
	case f.Value != nil:
		value = f.Value
	case f.from != nil:
		value = f.from(r.page)
	case f.inner != nil:
		return f.objects(r, in)
	default:
		selected := f.query.in(in)
		found = selected.Len() > 0
		value = f.values(selected)
	}
	for _, p := range f.process {
		if value == nil {
			break
		}
		if value, err = p.Process(r.context, value); err != nil {
			return nil, found, fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	if f.query == nil {
		return value, false, nil
	}
	return f.chosen(value), found, nil
}

// values are what a selector found.
func (f *field) values(s extract.Selection) any {
	if !f.text {
		return s.Values()
	}
	texts := s.Texts()
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
	}
	return values
}

// chosen takes the first value, or all of them, that are not empty.
func (f *field) chosen(value any) any {
	list, isList := value.([]any)
	if !isList {
		if isEmpty(value) {
			return nil
		}
		if f.All {
			return []any{value}
		}
		return value
	}
	if f.All {
		if len(list) == 0 {
			return nil
		}
		return list
	}
	for _, v := range list {
		if !isEmpty(v) {
			return v
		}
	}
	return nil
}

func isEmpty(v any) bool { return v == nil || v == "" }

// objects makes the field's objects: of what its selector finds, or of where it
// is itself.
func (f *field) objects(r *reading, in scope) (value any, found bool, err error) {
	if f.query == nil {
		o, found, err := f.inner.read(r, in)
		if err != nil || !found && f.inner.selects {
			return nil, found, inField(f.Name, err)
		}
		if f.All {
			return []any{o}, found, nil
		}
		return o, found, nil
	}
	var all []any
	var missing error
	for part := range f.query.in(in).Each() {
		o, inside, err := f.inner.read(r, part)
		switch {
		case isMissing(err) && f.All:
			found = true
			if missing == nil {
				missing = err
			}
			continue
		case err != nil:
			return nil, true, inField(f.Name, err)
		case !inside && f.inner.selects:
			continue
		case !f.All:
			return o, true, nil
		}
		found = true
		all = append(all, o)
	}
	if all == nil || missing != nil {
		return nil, found, inField(f.Name, missing)
	}
	return all, true, nil
}

// inField adds the name of the object to an error of a field in it.
func inField(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("in %s: %w", name, err)
}

// An object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, fmt.Errorf("field %s: %w", m.name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
