package awstest

import (
	"slices"
	"sort"
	"strings"
)

// A keyRange is what a key condition selects: one hash key, and of its rows
// those whose sort key meets op; all for none.
type keyRange struct {
	hash string
	op   string
	args []string // encoded
}

// conjuncts are the conditions that are joined by AND.
func (c *condition) conjuncts() []*condition {
	if c.op != "AND" {
		return []*condition{c}
	}
	return append(c.kids[0].conjuncts(), c.kids[1].conjuncts()...)
}

// mirrored are the comparators with their sides changed.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// keyRange reads a key condition.
func (s keySchema) keyRange(c *condition) (r keyRange, err *Error) {
	found := false
	parts := c.conjuncts()
	if len(parts) > 2 {
		return r, validation("Conditions can be of length 1 or 2 only")
	}
	for _, part := range parts {
		op, args := part.op, part.args
		if len(args) == 2 && args[0].value != nil && mirrored[op] != "" {
			op, args = mirrored[op], []operand{args[1], args[0]}
		}
		if !slices.Contains([]string{"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}, op) {
			return r, validation("Invalid operator used in KeyConditionExpression: %s", op)
		}
		if len(args) == 0 || len(args[0].path) != 1 || args[0].size {
			return r, validation("Invalid KeyConditionExpression: a key attribute is wanted on one side")
		}
		name := args[0].path[0].name
		encoded, err := s.encodeArgs(name, args[1:])
		if err != nil {
			return r, err
		}
		switch {
		case name == s.hash.name && op == "=" && !found:
			found, r.hash = true, encoded[0]
		case name == s.rng.name && r.op == "":
			r.op, r.args = op, encoded
		default:
			return r, validation("Query key condition not supported")
		}
	}
	if !found {
		return r, validation("Query condition missed key schema element: %s", s.hash.name)
	}
	if r.op == "BETWEEN" && r.args[0] > r.args[1] {
		return r, validation("Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound")
	}
	return r, nil
}

// encodeArgs are the values that a key attribute is compared with.
func (s keySchema) encodeArgs(name string, args []operand) (encoded []string, err *Error) {
	for _, a := range s.attributes() {
		if a.name != name {
			continue
		}
		for _, o := range args {
			if o.value == nil || o.value.kind() != a.kind {
				return nil, validation("One or more parameter values were invalid: Condition parameter type does not match schema type")
			}
			encoded = append(encoded, o.value.encode())
		}
		return encoded, nil
	}
	return nil, validation("Query condition missed key schema element: %s", s.hash.name)
}

// bounds are the first row that the range selects, and the first one beyond.
func (r keyRange) bounds(rows []entry) (low, high int) {
	from := func(v string) int { return sort.Search(len(rows), func(i int) bool { return rows[i].rng >= v }) }
	after := func(v string) int { return sort.Search(len(rows), func(i int) bool { return rows[i].rng > v }) }
	switch r.op {
	case "=":
		return from(r.args[0]), after(r.args[0])
	case "<":
		return 0, from(r.args[0])
	case "<=":
		return 0, after(r.args[0])
	case ">":
		return after(r.args[0]), len(rows)
	case ">=":
		return from(r.args[0]), len(rows)
	case "BETWEEN":
		return from(r.args[0]), after(r.args[1])
	case "begins_with":
		return from(r.args[0]), sort.Search(len(rows), func(i int) bool {
			return rows[i].rng >= r.args[0] && !strings.HasPrefix(rows[i].rng, r.args[0])
		})
	}
	return 0, len(rows)
}
