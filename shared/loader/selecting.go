package loader

import (
	"errors"

	"github.com/skitterhq/skitter/shared/extract"
)

// A Source is what values are selected from: a *spider.Page, an
// *extract.Document or an extract.Selection.
type Source interface {
	CSS(selector string) extract.Selection
	Select(q *extract.Query) extract.Selection
}

var errNoSource = errors.New("there is no page to select from; make the loader with a page, a document or a selection")

// documentOf returns the page of a source, for the addresses on it.
func documentOf(source Source) *extract.Document {
	switch s := source.(type) {
	case *extract.Document:
		return s
	case interface{ Document() *extract.Document }:
		return s.Document()
	}
	return nil
}

// choose selects from the loader's source.
func (l *Loader[T]) choose(with func(Source) extract.Selection) (extract.Selection, error) {
	if l.source == nil {
		return extract.Selection{}, errNoSource
	}
	found := with(l.source)
	return found, found.Err()
}

// get returns the values of what was selected, after processors.
func (l *Loader[T]) get(field string, processors []Processor, with func(Source) extract.Selection) (any, error) {
	found, err := l.choose(with)
	if err != nil {
		return nil, err
	}
	return l.process(field, found.All(), processors)
}

// add gives a field the values of what was selected.
func (l *Loader[T]) add(field string, processors []Processor, replace bool, with func(Source) extract.Selection) {
	found, err := l.choose(with)
	if err != nil {
		l.blame(located(err, field, ""))
		return
	}
	l.give(field, found.All(), processors, replace)
}

// nested returns a loader of the same item that selects from what was selected.
func (l *Loader[T]) nested(with func(Source) extract.Selection) *Loader[T] {
	found, err := l.choose(with)
	l.blame(err)
	return &Loader[T]{state: l.state, source: found, context: l.context}
}

func byCSS(selector string) func(Source) extract.Selection {
	return func(s Source) extract.Selection { return s.CSS(selector) }
}

func byQuery(q *extract.Query) func(Source) extract.Selection {
	return func(s Source) extract.Selection { return s.Select(q) }
}

// AddCSS adds the values of what a CSS selector finds; see [Loader.AddValue].
// For Scrapy's re=, give [Re] as the first processor.
func (l *Loader[T]) AddCSS(field, selector string, processors ...Processor) {
	l.add(field, processors, false, byCSS(selector))
}

// ReplaceCSS is AddCSS in place of what the field has.
func (l *Loader[T]) ReplaceCSS(field, selector string, processors ...Processor) {
	l.add(field, processors, true, byCSS(selector))
}

// GetCSS returns what AddCSS would give to the field's input processor.
func (l *Loader[T]) GetCSS(selector string, processors ...Processor) (any, error) {
	return l.get("", processors, byCSS(selector))
}

// NestedCSS returns a loader of the same item that selects within what a CSS
// selector finds.
func (l *Loader[T]) NestedCSS(selector string) *Loader[T] { return l.nested(byCSS(selector)) }

// AddQuery adds the values of what a compiled selector finds, of any language;
// see [Loader.AddValue].
func (l *Loader[T]) AddQuery(field string, q *extract.Query, processors ...Processor) {
	l.add(field, processors, false, byQuery(q))
}

// ReplaceQuery is AddQuery in place of what the field has.
func (l *Loader[T]) ReplaceQuery(field string, q *extract.Query, processors ...Processor) {
	l.add(field, processors, true, byQuery(q))
}

// GetQuery returns what AddQuery would give to the field's input processor.
func (l *Loader[T]) GetQuery(q *extract.Query, processors ...Processor) (any, error) {
	return l.get("", processors, byQuery(q))
}

// NestedQuery returns a loader of the same item that selects within what a
// compiled selector finds.
func (l *Loader[T]) NestedQuery(q *extract.Query) *Loader[T] { return l.nested(byQuery(q)) }
