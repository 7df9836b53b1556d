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
		return toBool(b.left.eval(f)) || toBool(b.right.eval(f))
	case "and":
		return toBool(b.left.eval(f)) && toBool(b.right.eval(f))
	}
	left, right := b.left.eval(f), b.right.eval(f)
	switch b.op {
	case "+":
		return toNumber(left) + toNumber(right)
	case "-":
		return toNumber(left) - toNumber(right)
	case "*":
		return toNumber(left) * toNumber(right)
	case "div":
		return toNumber(left) / toNumber(right)
	case "mod":
		return math.Mod(toNumber(left), toNumber(right))
	}
	return f.ev.compare(b.op, left, right)
}

// compare compares two values. A set of nodes compares if one of its nodes
// does.
func (ev *evaluation) compare(op string, left, right Value) bool {
	if _, isBool := left.(bool); isBool {
		right = toBool(right)
	} else if _, isBool := right.(bool); isBool {
		left = toBool(left)
	}
	l, leftNodes := left.(NodeSet)
	r, rightNodes := right.(NodeSet)
	switch {
	case leftNodes && rightNodes:
		return ev.compareSets(op, l, r)
	case leftNodes:
		return slices.ContainsFunc(l, func(n Node) bool { return ev.visit() && compareAtoms(op, n.Text(), right) })
	case rightNodes:
		return slices.ContainsFunc(r, func(n Node) bool { return ev.visit() && compareAtoms(op, left, n.Text()) })
	}
	return compareAtoms(op, left, right)
}

func (ev *evaluation) compareSets(op string, l, r NodeSet) bool {
	texts := make([]string, len(r))
	for i, n := range r {
		texts[i] = n.Text()
	}
	for _, n := range l {
		text := n.Text()
		for _, other := range texts {
			if ev.visit() && compareAtoms(op, text, other) {
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
