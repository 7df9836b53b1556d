package legs

import (
	"context"
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/spider"
)

const nameFields = "fields"

// Fields gives an item for a page, or with each for every part of it that a
// selector finds. A field is a selector and what is made of what it finds.
//
// A page, or a part, in which no field's selector finds anything gives no item.
// Where a processor fails, or a value does not fit its type, the item is left
// out and the page fails with an error that names the field; its other items
// still count.
type Fields struct {
	// Name is the leg's name, unique in its spider.
	//
	// Default: fields.
	Name string `json:"name,omitempty"`

	// Each selects the parts of the page that are an item each. The fields
	// are looked for inside of a part.
	//
	// Default: none, the page is one item.
	Each Selector `json:"each,omitzero"`

	// Fields are those of the item, in their order.
	Fields FieldList `json:"fields"`

	// OmitMissing leaves fields that have no value out of the item.
	//
	// Default: false, they are null, and [] with all.
	OmitMissing bool `json:"omit_missing,omitempty"`

	// Incomplete says what becomes of an item that lacks a required field:
	// drop leaves it out, counted as leg/NAME/incomplete_count, and fail is
	// an error of the page.
	//
	// Default: drop.
	Incomplete string `json:"incomplete,omitempty"`

	// Only says which pages are read.
	Only Only `json:"only,omitzero"`
}

// Leg makes the leg.
func (o Fields) Leg() spider.Leg {
	name := nameOr(o.Name, nameFields)
	return spider.Leg{Name: name, SetSpider: func(top *spider.Spider) (spider.Leg, error) {
		var m mistakes
		r := fieldReader{each: m.selector("each", o.Each), fail: o.Incomplete == "fail", count: "leg/" + name + "/incomplete_count"}
		wanted := o.Only.compile(top, &m)
		m.add("incomplete", oneOf(nameOr(o.Incomplete, "drop"), "drop", "fail"))
		r.fields = compileFields("fields", o.Fields, o.OmitMissing, &m)
		return spider.Leg{Name: name, ProcessResponse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			if !wanted(page) {
				return nil
			}
			return r.read(page, out)
		}}, m.err()
	}}
}

// A fieldReader is Fields that are compiled.
type fieldReader struct {
	each   *query
	fields *fieldSet
	fail   bool
	count  string
}

// maxFieldErrors bounds the errors of a page's items: the first ones tell.
const maxFieldErrors = 20

func (r *fieldReader) read(page *spider.Page, out *spider.Output) error {
	if r.each == nil {
		return r.item(newReading(page), page, out)
	}
	var errs []error
	reading := newReading(page)
	for part := range r.each.in(page).Each() {
		if err := r.item(reading, part, out); err != nil && len(errs) < maxFieldErrors {
			errs = append(errs, err)
		}
		if out.Stopped() {
			break
		}
	}
	return errors.Join(errs...)
}

// item gives the item of the page or of a part of it.
func (r *fieldReader) item(reading *reading, scope scope, out *spider.Output) error {
	item, found, err := r.fields.read(reading, scope)
	switch {
	case isMissing(err) && (!found && r.fields.selects):
		return nil // a page of another kind has none of the fields
	case isMissing(err) && !r.fail:
		out.Count(r.count, 1)
		return nil
	case err != nil:
		return err
	case found || !r.fields.selects:
		out.Item(item)
	}
	return nil
}

// A missingField is the error of a required field without a value.
type missingField struct{ name string }

func (e *missingField) Error() string {
	return fmt.Sprintf("field %s is required, and has no value", e.name)
}

func isMissing(err error) bool {
	var missing *missingField
	return errors.As(err, &missing)
}
