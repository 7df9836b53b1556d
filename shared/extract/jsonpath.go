package extract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

// selectJSONPath returns what a path finds in a value. The library goes through
// an object in an order that changes from run to run; here it is that of the
// names, as a page must give the same each time that it is read.
func selectJSONPath(path *jsonpath.Path, root any) ([]any, error) {
	found, visits := []any{root}, 0
	for _, segment := range path.Query().Segments() {
		w := jsonWalker{segment: segment, root: root, visits: visits}
		for _, v := range found {
			if err := w.visit(v); err != nil {
				return nil, err
			}
		}
		found, visits = w.found, w.visits
	}
	return found, nil
}

type jsonWalker struct {
	segment *spec.Segment
	root    any
	found   []any
	visits  int
}

// bounded stops a walk that finds or looks at too much.
func (w *jsonWalker) bounded(looksAt int) error {
	if w.visits += looksAt; w.visits > maxJSONVisits {
		return fmt.Errorf("it looks at more than %d values", maxJSONVisits)
	}
	if len(w.found) > maxJSONResults {
		return fmt.Errorf("it finds more than %d values", maxJSONResults)
	}
	return nil
}

func (w *jsonWalker) visit(v any) error {
	object, isObject := v.(map[string]any)
	list, _ := v.([]any)
	for _, selector := range w.segment.Selectors() {
		if err := w.bounded(1 + len(object) + len(list)); err != nil {
			return err
		}
		if !isObject {
			w.found = append(w.found, selector.Select(v, w.root)...)
			continue
		}
		switch s := selector.(type) {
		case spec.WildcardSelector:
			for _, name := range names(object) {
				w.found = append(w.found, object[name])
			}
		case *spec.FilterSelector:
			for _, name := range names(object) {
				if s.Eval(object[name], w.root) {
					w.found = append(w.found, object[name])
				}
			}
		default:
			w.found = append(w.found, selector.Select(v, w.root)...)
		}
	}
	if err := w.bounded(0); err != nil || !w.segment.IsDescendant() {
		return err
	}
	for _, element := range list {
		if err := w.visit(element); err != nil {
			return err
		}
	}
	for _, name := range names(object) {
		if err := w.visit(object[name]); err != nil {
			return err
		}
	}
	return nil
}

// names returns the names of an object's members, sorted.
func names(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }

// withoutPrefix cuts the name of a library off its error's text.
func withoutPrefix(err error, prefix string) error {
	if err == nil {
		return nil
	}
	if text, found := strings.CutPrefix(err.Error(), prefix); found {
		return &plainError{text: text, cause: err}
	}
	return err
}

type plainError struct {
	text  string
	cause error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.cause }
