package awstest

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// A condition is a test of an item.
type condition struct {
	// op is AND, OR, NOT, a comparator, BETWEEN, IN or a function's name.
	op   string
	kids []*condition
	args []operand
}

// An operand is a path, a value, or the size of what is at a path.
type operand struct {
	path  path
	value *attribute
	size  bool
}

// of is what the operand is in an item.
func (o operand) of(it item) (attribute, bool) {
	if o.value != nil {
		return *o.value, true
	}
	v, ok := it.find(o.path)
	if !ok || !o.size {
		return v, ok
	}
	n, ok := v.length()
	return number(strconv.Itoa(n)), ok
}

// length is what the function size gives.
func (a attribute) length() (int, bool) {
	switch a.kind() {
	case "S":
		return len([]rune(*a.S)), true
	case "B":
		return len(a.B), true
	case "M":
		return len(a.M), true
	case "L":
		return len(a.L), true
	case "SS", "NS", "BS":
		return len(a.members()), true
	}
	return 0, false
}

// condition reads alternatives: the loosest binding.
func (p *parser) condition() *condition {
	c := p.conjunction()
	for p.keyword("OR") {
		c = &condition{op: "OR", kids: []*condition{c, p.conjunction()}}
	}
	return c
}

func (p *parser) conjunction() *condition {
	c := p.negation()
	for p.keyword("AND") {
		c = &condition{op: "AND", kids: []*condition{c, p.negation()}}
	}
	return c
}

func (p *parser) negation() *condition {
	if p.keyword("NOT") {
		return &condition{op: "NOT", kids: []*condition{p.negation()}}
	}
	if p.peek().text == "(" {
		p.at++
		c := p.condition()
		p.sign(")")
		return c
	}
	if t := p.peek(); t.kind == tokWord && p.ahead(1).text == "(" && t.text != "size" {
		return p.function()
	}
	return p.comparison()
}

// arities are the functions and how many operands they have.
var arities = map[string]int{
	"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2, "contains": 2,
}

func (p *parser) function() *condition {
	c := &condition{op: p.next().text}
	n, ok := arities[c.op]
	if !ok {
		p.fail("Invalid function name; function: %s", c.op)
	}
	p.sign("(")
	c.args = []operand{p.operand()}
	for p.peek().text == "," {
		p.at++
		c.args = append(c.args, p.operand())
	}
	p.sign(")")
	if len(c.args) != n {
		p.fail("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", c.op, len(c.args))
	}
	if c.args[0].path == nil && c.op != "begins_with" && c.op != "contains" {
		p.fail("Operator or function requires a document path; operator or function: %s", c.op)
	}
	if v := c.args[n-1].value; c.op == "begins_with" && v != nil && v.S == nil && v.B == nil {
		p.fail("Incorrect operand type for operator or function; operator or function: begins_with, operand type: %s", v.kind())
	}
	return c
}

func (p *parser) operand() operand {
	switch t := p.peek(); {
	case t.kind == tokValue:
		v := p.value()
		return operand{value: &v}
	case t.text == "size" && p.ahead(1).text == "(":
		p.at += 2
		o := operand{path: p.path(), size: true}
		p.sign(")")
		return o
	}
	return operand{path: p.path()}
}

func (p *parser) comparison() *condition {
	left := p.operand()
	if p.keyword("BETWEEN") {
		low := p.operand()
		if !p.keyword("AND") {
			p.unexpected()
		}
		c := &condition{op: "BETWEEN", args: []operand{left, low, p.operand()}}
		p.ordered(c)
		return c
	}
	if p.keyword("IN") {
		p.sign("(")
		c := &condition{op: "IN", args: []operand{left, p.operand()}}
		for p.peek().text == "," {
			p.at++
			c.args = append(c.args, p.operand())
		}
		p.sign(")")
		return c
	}
	c := &condition{op: p.peek().text}
	if !slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, c.op) {
		p.unexpected()
	}
	p.at++
	c.args = []operand{left, p.operand()}
	if c.op != "=" && c.op != "<>" {
		p.ordered(c)
	}
	return c
}

// ordered refuses values that have no order.
func (p *parser) ordered(c *condition) {
	for _, o := range c.args {
		if o.value == nil {
			continue
		}
		if k := o.value.kind(); k != "S" && k != "N" && k != "B" {
			p.fail("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", c.op, k)
		}
	}
}

// holds reports whether an item meets the condition; no item is an empty one.
func (c *condition) holds(it item) bool {
	switch c.op {
	case "AND":
		return c.kids[0].holds(it) && c.kids[1].holds(it)
	case "OR":
		return c.kids[0].holds(it) || c.kids[1].holds(it)
	case "NOT":
		return !c.kids[0].holds(it)
	}
	left, ok := c.args[0].of(it)
	switch c.op {
	case "attribute_exists":
		return ok
	case "attribute_not_exists":
		return !ok
	}
	var rest []attribute
	for _, o := range c.args[1:] {
		v, there := o.of(it)
		if !there && c.op != "IN" {
			ok = false
		}
		rest = append(rest, v)
	}
	if !ok {
		// What is not there differs from everything.
		return c.op == "<>"
	}
	return test(c.op, left, rest)
}

// test is holds for operands that are all there.
func test(op string, left attribute, rest []attribute) bool {
	switch op {
	case "=":
		return left.equal(rest[0])
	case "<>":
		return !left.equal(rest[0])
	case "IN":
		return slices.ContainsFunc(rest, left.equal)
	case "BETWEEN":
		low, ok := left.compare(rest[0])
		high, ok2 := left.compare(rest[1])
		return ok && ok2 && low >= 0 && high <= 0
	case "attribute_type":
		return rest[0].S != nil && left.kind() == *rest[0].S
	case "begins_with":
		if left.S != nil && rest[0].S != nil {
			return strings.HasPrefix(*left.S, *rest[0].S)
		}
		return left.B != nil && rest[0].B != nil && bytes.HasPrefix(left.B, rest[0].B)
	case "contains":
		return left.contains(rest[0])
	}
	c, ok := left.compare(rest[0])
	if !ok {
		return false
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	default:
		return c >= 0
	}
}

// contains is the function of that name.
func (a attribute) contains(b attribute) bool {
	switch a.kind() {
	case "S":
		return b.S != nil && strings.Contains(*a.S, *b.S)
	case "B":
		return b.B != nil && bytes.Contains(a.B, b.B)
	case "L":
		return slices.ContainsFunc(a.L, b.equal)
	case "SS":
		return b.S != nil && slices.Contains(a.SS, *b.S)
	case "NS":
		return b.N != nil && slices.Contains(a.NS, *b.N)
	case "BS":
		return b.B != nil && slices.Contains(a.members(), string(b.B))
	}
	return false
}
