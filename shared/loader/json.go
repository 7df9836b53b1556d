package loader

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/extract"
)

// SelectJMES evaluates a JMESPath expression (https://jmespath.site) on each
// value: an object, or a text that is JSON. A result of null is left out, and
// one that is a list is spread. Numbers keep their digits.
func SelectJMES(path string) Processor {
	if _, err := extract.CompileJMESPath(path); err != nil {
		return broken("select_jmes", err)
	}
	// In a list of its own a result that is a list is told from several results.
	q, err := extract.CompileJMESPath("[(" + path + ")]")
	if err != nil {
		return broken("select_jmes", err)
	}
	return ForEach("select_jmes", func(_ *Context, value any) (any, error) {
		found, err := inJSON(q, value)
		return found.Value(), err
	})
}

// SelectJSONPath is SelectJMES with a JSONPath expression (RFC 9535). It gives
// the values that the path finds; one that is a list stays one.
func SelectJSONPath(path string) Processor {
	q, err := extract.CompileJSONPath(path)
	if err != nil {
		return broken("select_jsonpath", err)
	}
	return ForEach("select_jsonpath", func(_ *Context, value any) (any, error) {
		found, err := inJSON(q, value)
		return found.Values(), err
	})
}

// inJSON selects in the JSON of a value.
func inJSON(q *extract.Query, value any) (extract.Selection, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return extract.Selection{}, fmt.Errorf("is %s, which is nothing in JSON", describe(value))
	}
	found := extract.NewDocument(raw, "application/json", "").Select(q)
	if wrong := (*extract.SelectorError)(nil); errors.As(found.Err(), &wrong) {
		return extract.Selection{}, wrong.Err
	}
	return found, found.Err()
}

// checkJSON reports a value that has no JSON, such as a channel: an item with it
// could not be stored.
func checkJSON(value any) error {
	switch v := value.(type) {
	case nil, string, bool, json.Number:
		return nil
	case []any:
		for _, one := range v {
			if err := checkJSON(one); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := json.Marshal(value); err != nil {
		return fmt.Errorf("is %s, which is nothing in JSON: %w", describe(value), err)
	}
	return nil
}
