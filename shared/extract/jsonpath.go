package extract

import (
	"maps"
	"slices"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

// selectJSONPath returns what a path finds in a value. The library goes through
// an object in an order that changes from run to run; here it is that of the
// names, as a page must give the same each time that it is read.
func selectJSONPath(path *jsonpath.Path, root any) []any {
	found := []any{root}
	for _, segment := range path.Query().Segments() {
		w := jsonWalker{segment: segment, root: root}
		for _, v := range found {
			w.visit(v)
		}
		found = w.found
	}
	return found
}

type jsonWalker struct {
	segment *spec.Segment
	root    any
	found   []any
}

func (w *jsonWalker) visit(v any) {
	for _, selector := range w.segment.Selectors() {
		object, isObject := v.(map[string]any)
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
	if !w.segment.IsDescendant() {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			w.visit(element)
		}
	case map[string]any:
		for _, name := range names(v) {
			w.visit(v[name])
		}
	}
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
