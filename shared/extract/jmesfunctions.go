package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmespath-community/go-jmespath/pkg/functions"
	"github.com/jmespath-community/go-jmespath/pkg/parsing"
)

// exactFunctions are those in place of the library's that look at numbers or
// at an object's members, and those that its rewritten tree calls.
func exactFunctions() []functions.FunctionEntry {
	anyArg := functions.ArgSpec{Types: []functions.JpType{functions.JpAny}}
	array := functions.ArgSpec{Types: []functions.JpType{functions.JpArray}}
	object := functions.ArgSpec{Types: []functions.JpType{functions.JpObject}}
	expref := functions.ArgSpec{Types: []functions.JpType{functions.JpExpref}}
	arrayOrString := functions.ArgSpec{Types: []functions.JpType{functions.JpArray, functions.JpString}}
	entry := func(name string, handler functions.JpFunction, args ...functions.ArgSpec) functions.FunctionEntry {
		return functions.FunctionEntry{Name: name, Arguments: args, Handler: handler}
	}
	all := []functions.FunctionEntry{
		entry(fnFloat, func(args []any) (any, error) { return floats(args[0]), nil }, anyArg),
		entry(fnValues, func(args []any) (any, error) { return members(args[0]), nil }, anyArg),
		entry("contains", jmesContains, arrayOrString, anyArg),
		entry("items", jmesItems, object),
		entry("keys", jmesKeys, object),
		entry("max", extreme(1, false), array),
		entry("max_by", extreme(1, true), array, expref),
		entry("min", extreme(-1, false), array),
		entry("min_by", extreme(-1, true), array, expref),
		entry("sort", sorted(false), array),
		entry("sort_by", sorted(true), array, expref),
		entry("to_number", jmesToNumber, anyArg),
		entry("to_string", func(args []any) (any, error) { return jmesToString(args[0]), nil }, anyArg),
		entry("type", func(args []any) (any, error) { return jmesType(args[0]), nil }, anyArg),
		entry("values", func(args []any) (any, error) { return members(args[0]), nil }, object),
	}
	comparisons := map[parsing.TokType]func(order int) bool{
		parsing.TOKLT:  func(order int) bool { return order < 0 },
		parsing.TOKLTE: func(order int) bool { return order <= 0 },
		parsing.TOKGT:  func(order int) bool { return order > 0 },
		parsing.TOKGTE: func(order int) bool { return order >= 0 },
	}
	for token, holds := range comparisons {
		all = append(all, entry(fmt.Sprintf("\x00%v", token), func(args []any) (any, error) {
			if !isNumber(args[0]) || !isNumber(args[1]) {
				return nil, nil
			}
			return holds(compareNumbers(args[0], args[1])), nil
		}, anyArg, anyArg))
	}
	return append(all,
		entry(fmt.Sprintf("\x00%v", parsing.TOKEQ), func(args []any) (any, error) { return equalValues(args[0], args[1]), nil }, anyArg, anyArg),
		entry(fmt.Sprintf("\x00%v", parsing.TOKNE), func(args []any) (any, error) { return !equalValues(args[0], args[1]), nil }, anyArg, anyArg))
}

// floats is a number as a float, or a list with its numbers so.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, ok := toFloat(v); ok {
			return f
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = floats(v[i])
		}
		return list
	}
	return v
}

// members are the values of an object, by the order of their names; nil for
// what is none.
func members(v any) any {
	object, isObject := v.(map[string]any)
	if !isObject {
		return nil
	}
	list := make([]any, 0, len(object))
	for _, name := range names(object) {
		list = append(list, object[name])
	}
	return list
}

func jmesKeys(args []any) (any, error) {
	object := args[0].(map[string]any)
	list := make([]any, 0, len(object))
	for _, name := range names(object) {
		list = append(list, name)
	}
	return list, nil
}

func jmesItems(args []any) (any, error) {
	object := args[0].(map[string]any)
	list := make([]any, 0, len(object))
	for _, name := range names(object) {
		list = append(list, []any{name, object[name]})
	}
	return list, nil
}

func jmesContains(args []any) (any, error) {
	if s, isString := args[0].(string); isString {
		part, isString := args[1].(string)
		return isString && strings.Contains(s, part), nil
	}
	list, _ := args[0].([]any)
	return slices.ContainsFunc(list, func(v any) bool { return equalValues(v, args[1]) }), nil
}

var errNotComparable = errors.New("the values to be compared must all be numbers, or all strings")

// keysOf returns what a list is compared by: its elements, or what an
// expression gives of each.
func keysOf(args []any, by bool) (list, keys []any, err error) {
	list, _ = args[0].([]any)
	keys = list
	if by {
		expression := args[1].(functions.ExpRef)
		keys = make([]any, len(list))
		for i, v := range list {
			if keys[i], err = expression(v); err != nil {
				return nil, nil, err
			}
		}
	}
	strings := 0
	for _, k := range keys {
		switch {
		case isNumber(k):
		case isString(k):
			strings++
		default:
			return nil, nil, errNotComparable
		}
	}
	if strings > 0 && strings < len(keys) {
		return nil, nil, errNotComparable
	}
	return list, keys, nil
}

func isString(v any) bool {
	_, is := v.(string)
	return is
}

func compareKeys(a, b any) int {
	if s, isString := a.(string); isString {
		return strings.Compare(s, b.(string))
	}
	return compareNumbers(a, b)
}

// extreme is max for 1 and min for -1.
func extreme(sign int, by bool) functions.JpFunction {
	return func(args []any) (any, error) {
		list, keys, err := keysOf(args, by)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		best := 0
		for i := range keys {
			if compareKeys(keys[i], keys[best])*sign > 0 {
				best = i
			}
		}
		return list[best], nil
	}
}

func sorted(by bool) functions.JpFunction {
	return func(args []any) (any, error) {
		list, keys, err := keysOf(args, by)
		if err != nil {
			return nil, err
		}
		order := make([]int, len(list))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return compareKeys(keys[a], keys[b]) })
		result := make([]any, len(list))
		for i, from := range order {
			result[i] = list[from]
		}
		return result, nil
	}
}

func jmesToNumber(args []any) (any, error) {
	if isNumber(args[0]) {
		return args[0], nil
	}
	s, _ := args[0].(string)
	if v, err := decodeJSON([]byte(s)); err == nil && isNumber(v) {
		return v, nil
	}
	return nil, nil
}

func jmesToString(v any) any {
	if s, isString := v.(string); isString {
		return s
	}
	return encodeJSON(v)
}

func jmesType(v any) any {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64, json.Number:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "expref"
}
