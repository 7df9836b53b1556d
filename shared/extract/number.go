package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// JSON is kept as package json decodes it, numbers excepted: one whose digits
// are those that a float64 is written with is a float64, as the libraries of
// the languages expect; any other, such as 1.10 or an ID above 2^53, is a
// json.Number and keeps its digits.

// decodeJSON reads one JSON value.
func decodeJSON(text []byte) (any, error) {
	var v any
	if err := unmarshal(text, &v); err != nil {
		return nil, err
	}
	return withFloats(v), nil
}

// unmarshal is json.Unmarshal that keeps the digits of numbers.
func unmarshal(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("it is empty")
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}

// withFloats makes floats of the numbers that a float has the digits of. It
// changes v.
func withFloats(v any) any {
	switch v := v.(type) {
	case json.Number:
		return floatOf(v)
	case []any:
		for i := range v {
			v[i] = withFloats(v[i])
		}
	case map[string]any:
		for k, member := range v {
			v[k] = withFloats(member)
		}
	}
	return v
}

func floatOf(n json.Number) any {
	if f, err := n.Float64(); err == nil && formatFloat(f) == string(n) {
		return f
	}
	return n
}

// withNumbers is a copy of a value in which all numbers are json.Number.
func withNumbers(v any) any {
	switch v := v.(type) {
	case float64:
		return json.Number(formatFloat(v))
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = withNumbers(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for k, member := range v {
			object[k] = withNumbers(member)
		}
		return object
	}
	return v
}

// formatFloat writes a float as package json does.
func formatFloat(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "null" // JSON has none; a division by zero gives them
	}
	text, err := json.Marshal(f)
	if err != nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return string(text)
}

// jsonText is a value as text: a string itself, anything else as JSON, and
// nothing for null.
func jsonText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return string(v)
	case float64:
		return formatFloat(v)
	}
	return encodeJSON(v)
}

func encodeJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(withNumbers(v)); err != nil {
		return "" // a value that no JSON decodes to
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func isNumber(v any) bool {
	switch v.(type) {
	case float64, json.Number:
		return true
	}
	return false
}

func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil || math.IsInf(f, 0)
	}
	return 0, false
}

// compareNumbers compares two numbers, exactly if a float does not tell them
// apart.
func compareNumbers(a, b any) int {
	x, _ := toFloat(a)
	y, _ := toFloat(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	_, exactA := a.(json.Number)
	_, exactB := b.(json.Number)
	if !exactA && !exactB {
		return 0
	}
	m, n := rational(a), rational(b)
	if m == nil || n == nil {
		return 0
	}
	return m.Cmp(n)
}

// rational is the exact value of a number, nil for one whose exponent would
// make it fill the memory.
func rational(v any) *big.Rat {
	f, ok := toFloat(v)
	text := jsonText(v)
	if !ok || math.IsInf(f, 0) || f == 0 && strings.ContainsAny(text, "eE") || len(text) > 1000 {
		return nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return r
}

// equalValues reports whether two JSON values are the same.
func equalValues(a, b any) bool {
	switch a := a.(type) {
	case float64, json.Number:
		return isNumber(b) && compareNumbers(a, b) == 0
	case []any:
		list, isList := b.([]any)
		if !isList || len(list) != len(a) {
			return false
		}
		for i := range a {
			if !equalValues(a[i], list[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		object, isObject := b.(map[string]any)
		if !isObject || len(object) != len(a) {
			return false
		}
		for k, member := range a {
			if other, found := object[k]; !found || !equalValues(member, other) {
				return false
			}
		}
		return true
	case string:
		s, isString := b.(string)
		return isString && s == a
	case bool:
		t, isBool := b.(bool)
		return isBool && t == a
	case nil:
		return b == nil
	}
	return false
}
