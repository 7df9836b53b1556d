package loader

import (
	"errors"

	"github.com/skitterhq/skitter/shared/extract"
)

// A Source is what values are selected from: a *spider.Page, an
// *extract.Document or an extract.Selection.
type Source interface {
	CSS(selector string) extract.Selection
	XPath(expression string) extract.Selection
	JMESPath(expression string) extract.Selection
	JSONPath(expression string) extract.Selection
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

// get returns what was selected, after processors.
func (l *Loader[T]) get(processors []Processor, with func(Source) extract.Selection) (any, error) {
	found, err := l.choose(with)
	if err != nil {
		return nil, err
	}
	return l.process("", found, processors)
}

// add gives a field what was selected.
func (l *Loader[T]) add(field string, processors []Processor, replace bool, with func(Source) extract.Selection) {
	found, err := l.choose(with)
	if err != nil {
		l.blame(located(err, field, ""))
		return
	}
	l.give(field, found, processors, replace)
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

func byXPath(expression string) func(Source) extract.Selection {
	return func(s Source) extract.Selection { return s.XPath(expression) }
}

func byJMESPath(expression string) func(Source) extract.Selection {
	return func(s Source) extract.Selection { return s.JMESPath(expression) }
}

func byJSONPath(expression string) func(Source) extract.Selection {
	return func(s Source) extract.Selection { return s.JSONPath(expression) }
}

func byQuery(q *extract.Query) func(Source) extract.Selection {
	return func(s Source) extract.Selection { return s.Select(q) }
}
