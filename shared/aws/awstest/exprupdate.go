package awstest

import (
	"maps"
	"slices"
	"strings"
)

// An update is what an update expression does to an item.
type update struct {
	sets    []assignment
	removes []path
	adds    []change
	deletes []change
}

// An assignment sets a path to left, left + right or left - right.
type assignment struct {
	to          path
	left, right *term
	minus       bool
}

// A term is an operand of SET: a path, a value, if_not_exists(path, term) or
// list_append(term, term).
type term struct {
	path     path
	value    *attribute
	function string
	args     []*term
}

// A change adds a value to, or deletes it from, what is at a path.
type change struct {
	to    path
	value attribute
}

// update reads an update expression.
func (p *parser) update() *update {
	u := &update{}
	seen := map[string]bool{}
	for p.peek().kind != tokEnd {
		clause := strings.ToUpper(p.peek().text)
		if seen[clause] {
			p.fail("The %q section can only be used once in an update expression;", clause)
		}
		seen[clause] = true
		switch clause {
		case "SET":
			p.list(func() { u.sets = append(u.sets, p.assignment()) })
		case "REMOVE":
			p.list(func() { u.removes = append(u.removes, p.path()) })
		case "ADD":
			p.list(func() { u.adds = append(u.adds, p.change("ADD", "N", "SS", "NS", "BS")) })
		case "DELETE":
			p.list(func() { u.deletes = append(u.deletes, p.change("DELETE", "SS", "NS", "BS")) })
		default:
			p.unexpected()
		}
	}
	p.apart(u.paths())
	return u
}

// list reads a clause: its keyword and what follows, with commas between.
func (p *parser) list(one func()) {
	p.at++
	one()
	for p.peek().text == "," {
		p.at++
		one()
	}
}

func (p *parser) assignment() assignment {
	a := assignment{to: p.path()}
	p.sign("=")
	a.left = p.term()
	if s := p.peek().text; s == "+" || s == "-" {
		p.at++
		a.minus = s == "-"
		a.right = p.term()
	}
	return a
}

func (p *parser) term() *term {
	t := p.peek()
	if t.kind == tokValue {
		v := p.value()
		return &term{value: &v}
	}
	if t.kind != tokWord || p.ahead(1).text != "(" {
		return &term{path: p.path()}
	}
	if t.text != "if_not_exists" && t.text != "list_append" {
		p.fail("Invalid function name; function: %s", t.text)
	}
	p.at += 2
	out := &term{function: t.text, args: []*term{p.term()}}
	p.sign(",")
	out.args = append(out.args, p.term())
	p.sign(")")
	if t.text == "if_not_exists" && out.args[0].path == nil {
		p.fail("Operator or function requires a document path; operator or function: if_not_exists")
	}
	return out
}

func (p *parser) change(clause string, kinds ...string) change {
	c := change{to: p.path()}
	c.value = p.value()
	if !slices.Contains(kinds, c.value.kind()) {
		p.fail("Incorrect operand type for operator or function; operator: %s, operand type: %s", clause, c.value.kind())
	}
	return c
}

// paths are all that the update touches.
func (u *update) paths() []path {
	list := slices.Clone(u.removes)
	for _, a := range u.sets {
		list = append(list, a.to)
	}
	for _, c := range slices.Concat(u.adds, u.deletes) {
		list = append(list, c.to)
	}
	return list
}

func wrongType() *Error {
	return validation("An operand in the update expression has an incorrect data type")
}

// of is what the term is in an item.
func (t *term) of(it item) (attribute, *Error) {
	switch {
	case t.value != nil:
		return *t.value, nil
	case t.path != nil:
		v, ok := it.find(t.path)
		if !ok {
			return v, validation("The provided expression refers to an attribute that does not exist in the item")
		}
		return v, nil
	case t.function == "if_not_exists":
		if v, ok := it.find(t.args[0].path); ok {
			return v, nil
		}
		return t.args[1].of(it)
	}
	a, err := t.args[0].of(it)
	if err != nil {
		return a, err
	}
	b, err := t.args[1].of(it)
	if err != nil {
		return b, err
	}
	if a.L == nil || b.L == nil {
		return a, wrongType()
	}
	return attribute{L: slices.Concat(a.L, b.L)}, nil
}

// apply returns what an item becomes. All terms see the item as it was.
func (u *update) apply(before item) (item, *Error) {
	after := maps.Clone(before)
	if after == nil {
		after = item{}
	}
	for _, a := range u.sets {
		v, err := a.result(before)
		if err != nil {
			return nil, err
		}
		if err := after.put(a.to, v); err != nil {
			return nil, err
		}
	}
	for _, c := range u.adds {
		if err := c.add(before, after); err != nil {
			return nil, err
		}
	}
	for _, c := range u.deletes {
		if err := c.delete(before, after); err != nil {
			return nil, err
		}
	}
	// Of one list the last go first, so that the others keep their places.
	for _, p := range slices.SortedFunc(slices.Values(u.removes), func(a, b path) int {
		return b[len(b)-1].index - a[len(a)-1].index
	}) {
		if err := after.remove(p); err != nil {
			return nil, err
		}
	}
	return after, nil
}

func (a assignment) result(it item) (attribute, *Error) {
	left, err := a.left.of(it)
	if err != nil || a.right == nil {
		return left, err
	}
	right, err := a.right.of(it)
	if err != nil {
		return right, err
	}
	if left.N == nil || right.N == nil {
		return left, wrongType()
	}
	n, err := addNumbers(*left.N, *right.N, a.minus)
	return number(n), err
}

func (c change) add(before, after item) *Error {
	have, ok := before.find(c.to)
	if !ok {
		return after.put(c.to, c.value)
	}
	if have.kind() != c.value.kind() {
		return wrongType()
	}
	if have.N != nil {
		n, err := addNumbers(*have.N, *c.value.N, false)
		if err != nil {
			return err
		}
		return after.put(c.to, number(n))
	}
	members := slices.Clone(have.members())
	for _, m := range c.value.members() {
		if !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	v, _ := set(have.kind(), members)
	return after.put(c.to, v)
}

func (c change) delete(before, after item) *Error {
	have, ok := before.find(c.to)
	if !ok {
		return nil
	}
	if have.kind() != c.value.kind() {
		return wrongType()
	}
	gone := c.value.members()
	rest := slices.DeleteFunc(slices.Clone(have.members()), func(m string) bool { return slices.Contains(gone, m) })
	if v, ok := set(have.kind(), rest); ok {
		return after.put(c.to, v)
	}
	return after.remove(c.to)
}
