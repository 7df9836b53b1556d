package xpath

// A valueType is what is known of an expression's value when it is compiled.
type valueType int

const (
	unknown valueType = iota // a variable
	nodes
	numeric
	textual
	boolean
)

func (t valueType) String() string {
	return [...]string{"variable", "set of nodes", "number", "string", "boolean"}[t]
}

// An expr is a part of an expression.
type expr interface {
	eval(f *focus) Value
}

type (
	constant  struct{ value Value }
	reference struct{ name string }
	group     struct{ inner expr }
	rootNode  struct{}
	union     struct{ parts []expr }
	negation  struct {
		operand expr
		minus   bool
	}
	binary struct {
		op          string
		left, right expr
	}
	filtered struct {
		input      expr
		predicates []expr
	}
	path struct {
		start expr // nil for the node at hand
		steps []*step
	}
	step struct {
		axis       axis
		test       test
		predicates []expr
		positional bool // a predicate asks where a node stands among the others
	}
)

// typeOf returns what is known of a value without evaluating it.
func typeOf(e expr) valueType {
	switch e := e.(type) {
	case constant:
		if _, isNumber := e.value.(float64); isNumber {
			return numeric
		}
		return textual
	case *group:
		return typeOf(e.inner)
	case rootNode, *union, *filtered, *path:
		return nodes
	case *negation:
		return numeric
	case *binary:
		switch e.op {
		case "+", "-", "*", "div", "mod":
			return numeric
		}
		return boolean
	case *call:
		return e.function.result
	}
	return unknown
}

// isPositional reports whether a predicate depends on where a node stands among
// the others.
func isPositional(e expr) bool {
	if t := typeOf(e); t == numeric || t == unknown {
		return true
	}
	return asksPosition(e)
}

func asksPosition(e expr) bool {
	switch e := e.(type) {
	case *group:
		return asksPosition(e.inner)
	case *negation:
		return asksPosition(e.operand)
	case *binary:
		return asksPosition(e.left) || asksPosition(e.right)
	case *union:
		return anyAsksPosition(e.parts)
	case *filtered: // what its predicates ask is about its own input
		return asksPosition(e.input)
	case *path:
		return e.start != nil && asksPosition(e.start)
	case *call:
		return e.name == "position" || e.name == "last" || anyAsksPosition(e.args)
	}
	return false
}

func anyAsksPosition(all []expr) bool {
	for _, e := range all {
		if asksPosition(e) {
			return true
		}
	}
	return false
}

func (c constant) eval(*focus) Value { return c.value }

func (r reference) eval(f *focus) Value {
	v := f.ev.Vars[r.name]
	switch v.(type) {
	case NodeSet, float64, string, bool:
		return v
	}
	f.ev.fail("the variable $%s is a %T, which is no value of XPath", r.name, v)
	return ""
}

func (g *group) eval(f *focus) Value { return g.inner.eval(f) }

func (rootNode) eval(f *focus) Value {
	top, depth := f.node.Tree, 0
	for ; top.Parent != nil; depth++ {
		top = top.Parent
	}
	f.ev.spend(depth / climbsPerStep)
	return NodeSet{At(top)}
}

func (u *union) eval(f *focus) Value {
	all := collector{ev: f.ev}
	for _, part := range u.parts {
		for _, n := range f.nodes(part) {
			all.add(n)
		}
	}
	return all.set()
}

func (n *negation) eval(f *focus) Value {
	v := f.ev.num(n.operand.eval(f))
	if n.minus {
		return -v
	}
	return v
}

// nodes evaluates what must be a set of nodes.
func (f *focus) nodes(e expr) NodeSet {
	v := e.eval(f)
	set, isNodes := v.(NodeSet)
	if !isNodes {
		f.ev.fail("a set of nodes is needed, not %q", toString(v))
	}
	return set
}

func (e *filtered) eval(f *focus) Value {
	set := f.nodes(e.input)
	for _, predicate := range e.predicates {
		set = f.ev.filter(set, predicate)
	}
	return set
}

// filter keeps the nodes of a list that a predicate holds of.
func (ev *evaluation) filter(list NodeSet, predicate expr) NodeSet {
	if c, isConstant := predicate.(constant); isConstant {
		if k, isNumber := c.value.(float64); isNumber {
			if i := int(k); k == float64(i) && i >= 1 && i <= len(list) {
				return list[i-1 : i : i]
			}
			return nil
		}
	}
	var kept NodeSet
	inner := focus{ev: ev, size: len(list)}
	p, isPath := predicate.(*path)
	for i, n := range list {
		if !ev.spend(predicateSteps) {
			return nil
		}
		inner.node, inner.position = n, i+1
		if isPath {
			if p.tally(&inner, 1) > 0 {
				kept = append(kept, n)
			}
			continue
		}
		v := predicate.eval(&inner)
		if k, isNumber := v.(float64); isNumber && k == float64(i+1) || !isNumber && toBool(v) {
			kept = append(kept, n)
		}
	}
	return kept
}

func (p *path) eval(f *focus) Value {
	set := NodeSet{f.node}
	if p.start != nil {
		set = f.nodes(p.start)
	}
	for _, s := range p.steps {
		if set = f.ev.step(s, set); len(set) == 0 {
			return NodeSet(nil)
		}
	}
	return set
}
