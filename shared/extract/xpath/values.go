package xpath

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// String returns a value as XPath's string() does: of a set of nodes, the text
// of its first node.
func String(v Value) string { return toString(v) }

// str is toString that counts what a text costs.
func (ev *evaluation) str(v Value) string {
	if set, isNodes := v.(NodeSet); isNodes && len(set) > 0 {
		return ev.text(set[0])
	}
	return toString(v)
}

func (ev *evaluation) num(v Value) float64 {
	if _, isNodes := v.(NodeSet); isNodes {
		return parseNumber(ev.str(v))
	}
	return toNumber(v)
}

func toString(v Value) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return formatNumber(v)
	case bool:
		return strconv.FormatBool(v)
	case NodeSet:
		if len(v) > 0 {
			return v[0].Text()
		}
	}
	return ""
}

func formatNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0: // also the negative zero
		return "0"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func toNumber(v Value) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	}
	return parseNumber(toString(v))
}

// parseNumber takes XPath's numbers only: digits, a dot, a minus.
func parseNumber(s string) float64 {
	s = strings.Trim(s, " \t\r\n")
	for _, r := range strings.TrimPrefix(s, "-") {
		if (r < '0' || r > '9') && r != '.' {
			return math.NaN()
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

func toBool(v Value) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	case NodeSet:
		return len(v) > 0
	}
	return false
}

func (b *binary) eval(f *focus) Value {
	switch b.op {
	case "or":
		return f.holds(b.left) || f.holds(b.right)
	case "and":
		return f.holds(b.left) && f.holds(b.right)
	}
	left, right := b.left.eval(f), b.right.eval(f)
	num := f.ev.num
	switch b.op {
	case "+":
		return num(left) + num(right)
	case "-":
		return num(left) - num(right)
	case "*":
		return num(left) * num(right)
	case "div":
		return num(left) / num(right)
	case "mod":
		return math.Mod(num(left), num(right))
	}
	return f.ev.compare(b.op, left, right)
}

// compare compares two values. A set of nodes compares if one of its nodes
// does.
func (ev *evaluation) compare(op string, left, right Value) bool {
	l, leftNodes := left.(NodeSet)
	r, rightNodes := right.(NodeSet)
	_, leftBool := left.(bool)
	_, rightBool := right.(bool)
	switch {
	case leftBool && rightNodes, leftNodes && rightBool: // here a set is one value
		return compareAtoms(op, toBool(left), toBool(right))
	case leftNodes && rightNodes:
		return ev.compareSets(op, l, r)
	case leftNodes:
		return slices.ContainsFunc(l, func(n Node) bool { return ev.visit() && compareAtoms(op, ev.text(n), right) })
	case rightNodes:
		return slices.ContainsFunc(r, func(n Node) bool { return ev.visit() && compareAtoms(op, left, ev.text(n)) })
	}
	return compareAtoms(op, left, right)
}

func (ev *evaluation) compareSets(op string, l, r NodeSet) bool {
	atom := func(n Node) Value { return ev.text(n) }
	if op != "=" && op != "!=" {
		atom = func(n Node) Value { return parseNumber(ev.text(n)) }
	}
	others := make([]Value, len(r))
	for i, n := range r {
		others[i] = atom(n)
	}
	for _, n := range l {
		one := atom(n)
		for _, other := range others {
			if !ev.visit() {
				return false
			}
			if compareAtoms(op, one, other) {
				return true
			}
		}
	}
	return false
}

func compareAtoms(op string, left, right Value) bool {
	if op == "=" || op == "!=" {
		return equal(left, right) == (op == "=")
	}
	l, r := toNumber(left), toNumber(right)
	switch op {
	case "<":
		return l < r
	case "<=":
		return l <= r
	case ">":
		return l > r
	}
	return l >= r
}

// equal compares two values that are no sets.
func equal(left, right Value) bool {
	_, leftBool := left.(bool)
	_, rightBool := right.(bool)
	if leftBool || rightBool {
		return toBool(left) == toBool(right)
	}
	_, leftNumber := left.(float64)
	_, rightNumber := right.(float64)
	if leftNumber || rightNumber {
		return toNumber(left) == toNumber(right)
	}
	return toString(left) == toString(right)
}
