package loader

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/skitterhq/skitter/shared/crawl"
)

// listOf makes a list of a value: nothing of nil, the elements of a list, and
// one value of anything else. Text and bytes are no lists.
func listOf(value any) []any {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return v
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	}
	if !isList(value) {
		return []any{value}
	}
	v := reflect.ValueOf(value)
	list := make([]any, v.Len())
	for i := range list {
		list[i] = v.Index(i).Interface()
	}
	return list
}

// isList reports whether a value is a slice or an array, but no bytes.
func isList(value any) bool {
	switch value.(type) {
	case nil, string, json.Number, bool, map[string]any, crawl.Item, json.RawMessage:
		return false
	case []any, []string:
		return true
	}
	t := reflect.TypeOf(value)
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() != reflect.Uint8
}

// isEmpty reports whether an input processor's result is nothing to store.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	}
	return isList(value) && len(listOf(value)) == 0
}

// textOf returns the text of a string, a number or a boolean. Numbers keep
// their digits.
func textOf(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case json.Number:
		return string(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		return string(text), err
	}
	switch v := reflect.ValueOf(value); {
	case !v.IsValid():
		return "", errors.New("is nothing; a text is needed")
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), nil
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), nil
	}
	return "", fmt.Errorf("is %s; a text or a number is needed", describe(value))
}

// describe names the kind of a value as JSON has it.
func describe(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	case map[string]any, crawl.Item:
		return "an object"
	}
	if isList(value) {
		if n := len(listOf(value)); n != 1 {
			return fmt.Sprintf("a list of %d values", n)
		}
		return "a list of one value"
	}
	return fmt.Sprintf("a %T", value)
}

// whole is a text that tells a value from all others that encode differently.
func whole(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%#v", value)
	}
	return string(raw)
}

// maxExcerpt bounds how much of a value stands in an error, in bytes.
const maxExcerpt = 120

// excerpt is a value as an error shows it: its JSON, cut off where it is long.
func excerpt(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("a %T", value)
	}
	if s, ok := value.(string); ok {
		raw = strconv.AppendQuote(nil, s)
	}
	if len(raw) <= maxExcerpt {
		return string(raw)
	}
	cut := raw[:maxExcerpt]
	for len(cut) > 0 && !utf8.Valid(cut) {
		cut = cut[:len(cut)-1]
	}
	return string(cut) + "…"
}
