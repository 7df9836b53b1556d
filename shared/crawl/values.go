package crawl

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Values are named JSON values that belong to a spider. Numbers that come out
// of JSON are [json.Number], so that identifiers above 2^53 keep their digits.
type Values map[string]any

// UnmarshalJSON reads an object and keeps the digits of its numbers.
func (v *Values) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return err
	}
	*v = m
	return nil
}

// Clone returns a copy of the map; the values in it are shared.
func (v Values) Clone() Values { return maps.Clone(v) }

// String returns the value of a name if it is a string, else "".
func (v Values) String(name string) string {
	s, _ := v[name].(string)
	return s
}
