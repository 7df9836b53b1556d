package xpath

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxDepth bounds how deep an expression nests.
const maxDepth = 200

type parser struct {
	text   string
	tokens []token
	at     int
	depth  int
	vars   map[string]bool
}

func (p *parser) parse() (expr, error) {
	if p.tokens[0].kind == end {
		return nil, errors.New("it is empty")
	}
	e, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if p.peek().kind != end {
		return nil, p.unexpected("an operator or the end")
	}
	return e, nil
}

func (p *parser) peek() token { return p.tokens[p.at] }

// is reports whether the next token is one of the symbols.
func (p *parser) is(symbols ...string) bool {
	t := p.peek()
	return t.kind == symbol && slices.Contains(symbols, t.text)
}

// take moves on if the next token is the symbol.
func (p *parser) take(s string) bool {
	if p.is(s) {
		p.at++
		return true
	}
	return false
}

func (p *parser) unexpected(want string) error {
	if t := p.peek(); t.kind != end {
		return fmt.Errorf("%s is expected, not %q", want, excerpt(p.text[t.at:]))
	}
	return fmt.Errorf("it ends where %s is expected", want)
}

// levels are the binary operators, from those that bind least.
var levels = [][]string{{"or"}, {"and"}, {"=", "!="}, {"<", "<=", ">", ">="}, {"+", "-"}, {"*", "div", "mod"}}

// expression parses from one level of the operators on.
func (p *parser) expression(level int) (expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("it nests deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.expression(level + 1)
	if err != nil {
		return nil, err
	}
	// A chain of a thousand operators would nest as deep to the left.
	for links := 0; p.is(levels[level]...); links++ {
		if links > maxDepth {
			return nil, fmt.Errorf("it has more than %d operators in a row", maxDepth)
		}
		op := p.peek().text
		p.at++
		right, err := p.expression(level + 1)
		if err != nil {
			return nil, err
		}
		left = &binary{op, left, right}
	}
	return left, nil
}

func (p *parser) unary() (expr, error) {
	minus, signs := false, false
	for p.take("-") {
		minus, signs = !minus, true
	}
	e, err := p.union()
	if err != nil || !signs {
		return e, err
	}
	return &negation{operand: e, minus: minus}, nil
}

func (p *parser) union() (expr, error) {
	first, err := p.path()
	if err != nil || !p.is("|") {
		return first, err
	}
	u := &union{parts: []expr{first}}
	for p.take("|") {
		e, err := p.path()
		if err != nil {
			return nil, err
		}
		u.parts = append(u.parts, e)
	}
	for _, e := range u.parts {
		if t := typeOf(e); t != nodes && t != unknown {
			return nil, fmt.Errorf("| joins nodes, not a %s", t)
		}
	}
	return u, nil
}

// path parses a location path, or another expression that may have predicates
// and a path behind it.
func (p *parser) path() (expr, error) {
	var start expr
	switch {
	case p.isPrimary():
		e, err := p.primary()
		if err != nil {
			return nil, err
		}
		predicates, err := p.predicates()
		if err != nil {
			return nil, err
		}
		if len(predicates) == 0 && !p.is("/", "//") {
			return e, nil
		}
		if t := typeOf(e); t != nodes && t != unknown {
			return nil, fmt.Errorf("a %s has no nodes to choose from: %q", t, excerpt(p.text[p.peek().at:]))
		}
		start = e
		if len(predicates) > 0 {
			start = &filtered{input: e, predicates: predicates}
		}
		if !p.is("/", "//") {
			return start, nil
		}
	case p.take("/"):
		if !p.isStep() {
			return rootNode{}, nil
		}
		return p.steps(rootNode{}, false)
	case p.take("//"):
		return p.steps(rootNode{}, true)
	default:
		return p.steps(nil, false)
	}
	if p.take("//") {
		return p.steps(start, true)
	}
	p.at++ // the slash
	return p.steps(start, false)
}

func (p *parser) isStep() bool {
	t := p.peek()
	return t.kind == name || t.kind == star || p.is(".", "..", "@")
}

// isPrimary reports whether what comes is no location path.
func (p *parser) isPrimary() bool {
	t := p.peek()
	switch t.kind {
	case number, literal, variable:
		return true
	case name:
		return p.followedBy("(") && !(t.prefix == "" && isNodeType(t.text))
	}
	return p.is("(")
}

func (p *parser) followedBy(s string) bool {
	t := p.tokens[min(p.at+1, len(p.tokens)-1)]
	return t.kind == symbol && t.text == s
}

func (p *parser) primary() (expr, error) {
	t := p.peek()
	switch t.kind {
	case number:
		p.at++
		return constant{t.number}, nil
	case literal:
		p.at++
		return constant{t.text}, nil
	case variable:
		p.at++
		if p.vars == nil {
			p.vars = make(map[string]bool)
		}
		p.vars[t.text] = true
		return reference{t.text}, nil
	case name:
		return p.call()
	}
	p.at++ // the parenthesis
	e, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, p.unexpected(`")"`)
	}
	return &group{e}, nil
}

func (p *parser) predicates() ([]expr, error) {
	var all []expr
	for p.take("[") {
		e, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		if !p.take("]") {
			return nil, p.unexpected(`"]"`)
		}
		all = append(all, e)
	}
	return all, nil
}

// steps parses the steps of a path, whose first one comes after a double slash
// if deep is true.
func (p *parser) steps(start expr, deep bool) (expr, error) {
	path := &path{start: start}
	for {
		s, err := p.step()
		if err != nil {
			return nil, err
		}
		switch {
		case !deep:
		case s.axis == child && !s.positional:
			s.axis = descendant // the same nodes, found in order
		default:
			path.steps = append(path.steps, &step{axis: descendantOrSelf, test: test{kind: anyNode}})
		}
		if s.axis != self || s.test.kind != anyNode || len(s.predicates) > 0 || start == nil && len(path.steps) == 0 {
			path.steps = append(path.steps, s)
		}
		if deep = p.take("//"); !deep && !p.take("/") {
			return path, nil
		}
	}
}

func (p *parser) step() (*step, error) {
	s := &step{axis: child}
	t := p.peek()
	switch {
	case p.take("."):
		s.axis, s.test.kind = self, anyNode
	case p.take(".."):
		s.axis, s.test.kind = parent, anyNode
	default:
		if p.take("@") {
			s.axis = attribute
		} else if t.kind == name && t.prefix == "" && p.followedBy("::") {
			a, found := axes[t.text]
			if !found {
				return nil, fmt.Errorf("unknown axis %q", t.text)
			}
			s.axis = a
			p.at += 2
		}
		var err error
		if s.test, err = p.test(); err != nil {
			return nil, err
		}
	}
	var err error
	s.predicates, err = p.predicates()
	s.positional = slices.ContainsFunc(s.predicates, isPositional)
	return s, err
}

func isNodeType(name string) bool {
	switch name {
	case "node", "text", "comment", "processing-instruction":
		return true
	}
	return false
}

func (p *parser) test() (test, error) {
	t := p.peek()
	switch {
	case t.kind == star:
		p.at++
		return test{kind: named}, nil
	case t.kind == name && t.prefix == "" && isNodeType(t.text) && p.followedBy("("):
		p.at += 2
		if t.text == "processing-instruction" && p.peek().kind == literal {
			p.at++
		}
		if !p.take(")") {
			return test{}, p.unexpected(`")"`)
		}
		return test{kind: map[string]testKind{
			"node": anyNode, "text": textNode, "comment": commentNode, "processing-instruction": noNode,
		}[t.text]}, nil
	case t.kind == name && p.followedBy("("):
		return test{}, fmt.Errorf("a function cannot be a step of a path: %q", excerpt(p.text[t.at:]))
	case t.kind == name:
		p.at++
		tested := test{kind: named, prefix: t.prefix, local: t.text}
		if t.text == "*" {
			tested.local = ""
		}
		if t.prefix != "" {
			tested.joined = t.prefix + ":" + t.text
		}
		return tested, nil
	}
	return test{}, p.unexpected("a name or another step of a path")
}

func (p *parser) call() (expr, error) {
	t := p.peek()
	full := t.text
	if t.prefix != "" {
		full = t.prefix + ":" + t.text
	}
	f := lookUp(full)
	if f == nil {
		return nil, fmt.Errorf("unknown function %s(); the functions are %s", full, strings.Join(functionNames(), ", "))
	}
	p.at += 2
	c := &call{name: full, function: f}
	for !p.take(")") {
		if len(c.args) > 0 && !p.take(",") {
			return nil, p.unexpected(`"," or ")"`)
		}
		e, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		c.args = append(c.args, e)
	}
	return c, c.check()
}
