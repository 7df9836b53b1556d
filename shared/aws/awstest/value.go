package awstest

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// An attribute is a value of DynamoDB; one of its fields is set. Values are
// never changed, only replaced.
type attribute struct {
	S    *string              `json:",omitzero"`
	N    *string              `json:",omitzero"`
	B    []byte               `json:",omitzero"`
	BOOL *bool                `json:",omitzero"`
	NULL *bool                `json:",omitzero"`
	M    map[string]attribute `json:",omitzero"`
	L    []attribute          `json:",omitzero"`
	SS   []string             `json:",omitzero"`
	NS   []string             `json:",omitzero"`
	BS   [][]byte             `json:",omitzero"`
}

// An item is a row by the names of its attributes.
type item map[string]attribute

// validation is the error for a request that makes no sense.
func validation(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "ValidationException", Message: fmt.Sprintf(format, args...)}
}

func number(n string) attribute { return attribute{N: &n} }

// kind names the type of a value; empty if there is none.
func (a attribute) kind() string {
	switch {
	case a.S != nil:
		return "S"
	case a.N != nil:
		return "N"
	case a.B != nil:
		return "B"
	case a.BOOL != nil:
		return "BOOL"
	case a.NULL != nil:
		return "NULL"
	case a.M != nil:
		return "M"
	case a.L != nil:
		return "L"
	case a.SS != nil:
		return "SS"
	case a.NS != nil:
		return "NS"
	case a.BS != nil:
		return "BS"
	}
	return ""
}

// checked returns a value in the form that it is kept in: numbers without
// superfluous zeros.
func (a attribute) checked() (attribute, *Error) {
	switch a.kind() {
	case "":
		return a, validation("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	case "N":
		d, err := parseNumber(*a.N)
		if err != nil {
			return a, err
		}
		return number(d.String()), nil
	case "M":
		m, err := checkedItem(a.M)
		return attribute{M: m}, err
	case "L":
		l := make([]attribute, len(a.L))
		for i, v := range a.L {
			var err *Error
			if l[i], err = v.checked(); err != nil {
				return a, err
			}
		}
		return attribute{L: l}, nil
	case "SS", "NS", "BS":
		return a.checkedSet()
	}
	return a, nil
}

// checkedSet is checked for sets, which are neither empty nor repeat a member.
func (a attribute) checkedSet() (attribute, *Error) {
	if len(a.SS)+len(a.NS)+len(a.BS) == 0 {
		return a, validation("One or more parameter values were invalid: An number set  may not be empty")
	}
	if a.NS != nil {
		ns := make([]string, len(a.NS))
		for i, n := range a.NS {
			d, err := parseNumber(n)
			if err != nil {
				return a, err
			}
			ns[i] = d.String()
		}
		a = attribute{NS: ns}
	}
	seen := map[string]bool{}
	for _, m := range a.members() {
		if seen[m] {
			return a, validation("One or more parameter values were invalid: Input collection %q contains duplicates.", a.members())
		}
		seen[m] = true
	}
	return a, nil
}

// checkedItem is checked for each value of a map.
func checkedItem(m map[string]attribute) (map[string]attribute, *Error) {
	out := make(map[string]attribute, len(m))
	for name, v := range m {
		c, err := v.checked()
		if err != nil {
			return nil, err
		}
		out[name] = c
	}
	return out, nil
}

// members are the elements of a set.
func (a attribute) members() []string {
	switch {
	case a.SS != nil:
		return a.SS
	case a.NS != nil:
		return a.NS
	}
	list := make([]string, len(a.BS))
	for i, b := range a.BS {
		list[i] = string(b)
	}
	return list
}

// set makes a set of a kind; ok is false if it has no members.
func set(kind string, members []string) (a attribute, ok bool) {
	if len(members) == 0 {
		return a, false
	}
	switch kind {
	case "SS":
		return attribute{SS: members}, true
	case "NS":
		return attribute{NS: members}, true
	}
	bs := make([][]byte, len(members))
	for i, m := range members {
		bs[i] = []byte(m)
	}
	return attribute{BS: bs}, true
}

// equal reports whether two values are of one type and the same.
func (a attribute) equal(b attribute) bool {
	kind := a.kind()
	if kind != b.kind() {
		return false
	}
	switch kind {
	case "S", "N", "B":
		c, _ := a.compare(b)
		return c == 0
	case "BOOL":
		return *a.BOOL == *b.BOOL
	case "M":
		return maps.EqualFunc(a.M, b.M, attribute.equal)
	case "L":
		return slices.EqualFunc(a.L, b.L, attribute.equal)
	case "SS", "NS", "BS":
		x, y := slices.Sorted(slices.Values(a.members())), slices.Sorted(slices.Values(b.members()))
		return slices.Equal(x, y)
	}
	return true
}

// compare orders two values of one type that has an order; ok is false for
// others.
func (a attribute) compare(b attribute) (c int, ok bool) {
	switch {
	case a.S != nil && b.S != nil:
		return strings.Compare(*a.S, *b.S), true
	case a.N != nil && b.N != nil:
		x, err := parseNumber(*a.N)
		y, err2 := parseNumber(*b.N)
		return x.compare(y), err == nil && err2 == nil
	case a.B != nil && b.B != nil:
		return bytes.Compare(a.B, b.B), true
	}
	return 0, false
}

// size is what a value takes in bytes. Source: Amazon DynamoDB Developer
// Guide, "DynamoDB item sizes and formats".
func (a attribute) size() int {
	switch a.kind() {
	case "S":
		return len(*a.S)
	case "N":
		d, _ := parseNumber(*a.N)
		return d.size()
	case "B":
		return len(a.B)
	case "M":
		return 3 + len(a.M) + item(a.M).size()
	case "L":
		n := 3 + len(a.L)
		for _, v := range a.L {
			n += v.size()
		}
		return n
	case "NS":
		n := 0
		for _, m := range a.NS {
			d, _ := parseNumber(m)
			n += d.size()
		}
		return n
	case "SS", "BS":
		n := 0
		for _, m := range a.members() {
			n += len(m)
		}
		return n
	}
	return 1
}

// size is what an item takes in bytes.
func (it item) size() int {
	n := 0
	for name, v := range it {
		n += len(name) + v.size()
	}
	return n
}
