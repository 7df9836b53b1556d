package xpath

import (
	"slices"

	"golang.org/x/net/html"
)

// step makes a step from each node of a set.
func (ev *evaluation) step(s *step, from NodeSet) NodeSet {
	if s.positional {
		return ev.stepByPosition(s, from)
	}
	set := ev.reach(s, from)
	for _, predicate := range s.predicates {
		set = ev.filter(set, predicate)
	}
	if ev.err != nil {
		return nil
	}
	return set
}

// reach finds what a step leads to, its predicates aside. It passes each node
// once, even where many nodes of the set have it on their axis.
func (ev *evaluation) reach(s *step, from NodeSet) NodeSet {
	if from = ev.decisive(s.axis, from); len(from) == 1 {
		found := ev.reachFrom(s, from[0])
		if s.axis.isReverse() {
			slices.Reverse(found)
		}
		return found
	}
	switch s.axis {
	case attribute, self, descendant:
		return ev.collectInOrder(s, from)
	case child, descendantOrSelf:
		if ev.isFlat(from) {
			return ev.collectInOrder(s, from)
		}
	case precedingSibling: // what comes before the last is all of it
		from = slices.Clone(from)
		slices.Reverse(from)
	}
	passed := make(map[Node]bool)
	chain := s.axis == ancestor || s.axis == ancestorOrSelf || s.axis == followingSibling || s.axis == precedingSibling
	all := collector{ev: ev}
	for _, n := range from {
		if ev.err != nil {
			return nil
		}
		ev.walk(s.axis, n, func(c Node) bool {
			if chain {
				if passed[c] {
					return false // and so is what comes after it on the axis
				}
				passed[c] = true
				ev.spend(mapSteps)
			}
			if ev.passes(&s.test, s.axis, c) {
				all.add(c)
			}
			return true
		})
	}
	return all.set()
}

// tally counts what a path finds, up to most, and makes no list of what its
// last step finds from one node.
func (p *path) tally(f *focus, most int) int {
	before := path{start: p.start, steps: p.steps[:max(len(p.steps)-1, 0)]}
	from, _ := before.eval(f).(NodeSet)
	if len(p.steps) == 0 || len(from) == 0 {
		return min(len(from), most)
	}
	last := p.steps[len(p.steps)-1]
	if len(last.predicates) > 0 || len(from) > 1 {
		return min(len(f.ev.step(last, from)), most)
	}
	count := 0
	f.ev.walk(last.axis, from[0], func(n Node) bool {
		if f.ev.passes(&last.test, last.axis, n) {
			count++
		}
		return count < most
	})
	return count
}

// holds evaluates an expression as a boolean.
func (f *focus) holds(e expr) bool {
	if p, isPath := e.(*path); isPath {
		return p.tally(f, 1) > 0
	}
	return toBool(e.eval(f))
}

// decisive leaves out nodes of a set whose axis holds nothing that the others
// do not have on theirs.
func (ev *evaluation) decisive(a axis, from NodeSet) NodeSet {
	last := len(from) - 1
	if last <= 0 {
		return from
	}
	switch a {
	case descendant, descendantOrSelf:
		outermost := from[:1:1]
		for _, n := range from[1:] {
			// An attribute is on no axis but its own.
			if n.attr != 0 && a == descendantOrSelf || !ev.isAncestor(outermost[len(outermost)-1], n) {
				outermost = append(outermost, n)
			}
		}
		return outermost
	case following, preceding:
		if ev.top(from[0]) != ev.top(from[last]) {
			return from // of several trees
		}
		if a == preceding {
			return from[last:]
		}
		first := 0 // the node that ends first
		for first < last && ev.isAncestor(from[first], from[first+1]) {
			first++
		}
		return from[first : first+1]
	}
	return from
}

// collectInOrder makes a step that finds nodes in the order of the document.
func (ev *evaluation) collectInOrder(s *step, from NodeSet) NodeSet {
	var found NodeSet
	for _, n := range from {
		if ev.err != nil {
			return nil
		}
		found = append(found, ev.reachFrom(s, n)...)
	}
	return found
}

func (ev *evaluation) reachFrom(s *step, n Node) (found NodeSet) {
	ev.walk(s.axis, n, func(c Node) bool {
		if ev.passes(&s.test, s.axis, c) {
			found = append(found, c)
		}
		return true
	})
	return found
}

func (a axis) isReverse() bool {
	return a == ancestor || a == ancestorOrSelf || a == preceding || a == precedingSibling
}

// stepByPosition makes a step whose predicates ask where a node stands among
// those that the step finds from the same node.
func (ev *evaluation) stepByPosition(s *step, from NodeSet) NodeSet {
	all := collector{ev: ev}
	downwards := s.axis == child || s.axis == descendant || s.axis == descendantOrSelf
	all.ordered = s.axis == attribute || s.axis == self || downwards && ev.isFlat(from)
	for _, n := range from {
		if ev.err != nil {
			return nil
		}
		found := ev.chosenFrom(s, n)
		if s.axis.isReverse() && len(from) == 1 {
			slices.Reverse(found)
		}
		if len(from) == 1 {
			return found
		}
		for _, c := range found {
			all.add(c)
		}
	}
	return all.set()
}

// chosenFrom is what a step finds from one node, in the order of the axis.
func (ev *evaluation) chosenFrom(s *step, n Node) NodeSet {
	var list NodeSet
	most, rest := firstOnly(s.predicates)
	ev.walk(s.axis, n, func(c Node) bool {
		if ev.passes(&s.test, s.axis, c) {
			list = append(list, c)
		}
		return most == 0 || len(list) < most
	})
	if most > 0 {
		if len(list) < most {
			return nil
		}
		list = list[most-1:]
	}
	for _, predicate := range rest {
		list = ev.filter(list, predicate)
	}
	if ev.err != nil {
		return nil
	}
	return list
}

// firstOnly returns how many nodes need be looked at where the first predicate
// is a number, 0 for all, and the predicates that remain to be asked.
func firstOnly(predicates []expr) (most int, rest []expr) {
	if c, isConstant := predicates[0].(constant); isConstant {
		if k, isNumber := c.value.(float64); isNumber && k >= 1 && k == float64(int(k)) {
			return int(k), predicates[1:]
		}
	}
	return 0, predicates
}

// isFlat reports whether no node of a set in document order lies in another.
// What lies in a node comes right after it, so neighbours tell.
func (ev *evaluation) isFlat(nodes NodeSet) bool {
	for i := 1; i < len(nodes); i++ {
		if ev.isAncestor(nodes[i-1], nodes[i]) {
			return false
		}
	}
	return true
}

func (ev *evaluation) isAncestor(a, b Node) bool {
	if a.attr != 0 || a.Tree.FirstChild == nil && b.attr == 0 {
		return false
	}
	n, climbed := b.Tree, 0
	if b.attr == 0 {
		n = n.Parent
	}
	for ; n != nil && n != a.Tree && n != a.Tree.Parent; n = n.Parent {
		climbed++
	}
	ev.spend(climbed / climbsPerStep)
	return n == a.Tree
}

// top is the root of a node's tree.
func (ev *evaluation) top(n Node) *html.Node {
	t, climbed := n.Tree, 0
	for ; t.Parent != nil; climbed++ {
		t = t.Parent
	}
	ev.spend(climbed / climbsPerStep)
	return t
}
