package xpath

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// A function is what a name with parentheses calls.
type function struct {
	result    valueType
	min, max  int
	sets      int // this many of its first arguments are sets of nodes
	pattern   int // 1 + the argument that is a regular expression, 0 for none
	flags     int // 1 + the argument with the expression's flags
	evaluator func(f *focus, c *call) Value
}

// A call is a function with its arguments.
type call struct {
	name     string
	function *function
	args     []expr
	regexp   *regexp.Regexp // of a pattern that is literal
}

func (c *call) eval(f *focus) Value { return c.function.evaluator(f, c) }

// many is the most arguments where there is no bound.
const many = math.MaxInt

// check finds wrong calls when they are compiled.
func (c *call) check() error {
	fn := c.function
	if n := len(c.args); n < fn.min || n > fn.max {
		want := fmt.Sprint(fn.min)
		switch {
		case fn.max == many:
			want = fmt.Sprintf("%d or more", fn.min)
		case fn.max != fn.min:
			want = fmt.Sprintf("%d to %d", fn.min, fn.max)
		}
		return fmt.Errorf("%s() takes %s arguments, not %d", c.name, want, n)
	}
	for i := range min(fn.sets, len(c.args)) {
		if t := typeOf(c.args[i]); t != nodes && t != unknown {
			return fmt.Errorf("%s() takes a set of nodes, not a %s", c.name, t)
		}
	}
	if fn.pattern == 0 {
		return nil
	}
	pattern, isLiteral := literalOf(c.args, fn.pattern-1)
	flags, flagsLiteral := literalOf(c.args, fn.flags-1)
	if !isLiteral || !flagsLiteral {
		return nil // found out when it is evaluated
	}
	var err error
	c.regexp, err = compileRegexp(pattern, flags)
	return err
}

// literalOf returns the text of an argument, "" for one that is not there, and
// false if it must be evaluated.
func literalOf(args []expr, i int) (string, bool) {
	if i < 0 || i >= len(args) {
		return "", true
	}
	c, isConstant := args[i].(constant)
	return toString(c.value), isConstant
}

// str evaluates an argument as a string; without that argument it is the text
// of the node at hand.
func (c *call) str(f *focus, i int) string {
	var s string
	if i >= len(c.args) {
		s = f.ev.text(f.node)
	} else {
		s = f.ev.str(c.args[i].eval(f))
	}
	if !f.ev.spend(len(s) / bytesPerStep) {
		return ""
	}
	return s
}

// slowly is str for what takes steps for each few bytes of the text.
func (c *call) slowly(f *focus, i, bytesPerStep int) string {
	s := c.str(f, i)
	if !f.ev.spend(len(s) / bytesPerStep) {
		return ""
	}
	return s
}

func (c *call) num(f *focus, i int) float64 { return f.ev.num(c.args[i].eval(f)) }

// first is the first node of the argument, or the node at hand.
func (c *call) first(f *focus) (Node, bool) {
	if len(c.args) == 0 {
		return f.node, true
	}
	set := f.nodes(c.args[0])
	if len(set) == 0 {
		return Node{}, false
	}
	return set[0], true
}

func lookUp(name string) *function {
	if f, found := functions[name]; found {
		return &f
	}
	return nil
}

func functionNames() []string { return slices.Sorted(maps.Keys(functions)) }

func text(min, max int, f func(f *focus, c *call) string) function {
	return function{result: textual, min: min, max: max, evaluator: func(fo *focus, c *call) Value { return f(fo, c) }}
}

func num(min, max int, f func(f *focus, c *call) float64) function {
	return function{result: numeric, min: min, max: max, evaluator: func(fo *focus, c *call) Value { return f(fo, c) }}
}

func truth(min, max int, f func(f *focus, c *call) bool) function {
	return function{result: boolean, min: min, max: max, evaluator: func(fo *focus, c *call) Value { return f(fo, c) }}
}

// onSets makes a function's first arguments sets of nodes.
func onSets(n int, f function) function {
	f.sets = n
	return f
}

var functions = map[string]function{
	// Sets of nodes.
	"last":     num(0, 0, func(f *focus, _ *call) float64 { return float64(f.size) }),
	"position": num(0, 0, func(f *focus, _ *call) float64 { return float64(f.position) }),
	"count": onSets(1, num(1, 1, func(f *focus, c *call) float64 {
		if p, isPath := c.args[0].(*path); isPath {
			return float64(p.tally(f, math.MaxInt))
		}
		return float64(len(f.nodes(c.args[0])))
	})),
	"sum": onSets(1, num(1, 1, func(f *focus, c *call) (sum float64) {
		for _, n := range f.nodes(c.args[0]) {
			sum += parseNumber(f.ev.text(n))
		}
		return sum
	})),
	"id":            {result: nodes, min: 1, max: 1, evaluator: byID},
	"local-name":    onSets(1, text(0, 1, func(f *focus, c *call) string { n, _ := c.first(f); return n.localName() })),
	"name":          onSets(1, text(0, 1, func(f *focus, c *call) string { n, _ := c.first(f); return n.name() })),
	"namespace-uri": onSets(1, text(0, 1, func(f *focus, c *call) string { n, _ := c.first(f); return f.ev.namespaceURI(n) })),

	// Strings.
	"string": text(0, 1, func(f *focus, c *call) string { return c.str(f, 0) }),
	"concat": text(2, many, func(f *focus, c *call) string {
		var b strings.Builder
		for i := range c.args {
			b.WriteString(c.str(f, i))
		}
		return b.String()
	}),
	"starts-with": truth(2, 2, func(f *focus, c *call) bool { return strings.HasPrefix(c.str(f, 0), c.str(f, 1)) }),
	"ends-with":   truth(2, 2, func(f *focus, c *call) bool { return strings.HasSuffix(c.str(f, 0), c.str(f, 1)) }),
	"contains":    truth(2, 2, func(f *focus, c *call) bool { return strings.Contains(c.str(f, 0), c.str(f, 1)) }),
	"substring-before": text(2, 2, func(f *focus, c *call) string {
		before, _, found := strings.Cut(c.str(f, 0), c.str(f, 1))
		if !found {
			return ""
		}
		return before
	}),
	"substring-after": text(2, 2, func(f *focus, c *call) string {
		_, after, _ := strings.Cut(c.str(f, 0), c.str(f, 1))
		return after
	}),
	"substring":     text(2, 3, substring),
	"string-length": num(0, 1, func(f *focus, c *call) float64 { return float64(utf8.RuneCountInString(c.slowly(f, 0, 8))) }),
	"normalize-space": text(0, 1, func(f *focus, c *call) string {
		return normalizeSpace(c.slowly(f, 0, 8))
	}),
	"translate":  text(3, 3, translate),
	"lower-case": text(1, 1, func(f *focus, c *call) string { return strings.ToLower(c.slowly(f, 0, 8)) }),
	"upper-case": text(1, 1, func(f *focus, c *call) string { return strings.ToUpper(c.slowly(f, 0, 8)) }),
	"string-join": onSets(1, text(2, 2, func(f *focus, c *call) string {
		var b strings.Builder
		separator := c.str(f, 1)
		for i, n := range f.nodes(c.args[0]) {
			if i > 0 {
				b.WriteString(separator)
			}
			text := f.ev.text(n)
			if !f.ev.spend(1 + (len(separator)+len(text))/bytesPerStep) {
				return ""
			}
			b.WriteString(text)
		}
		return b.String()
	})),

	// Booleans.
	"boolean": truth(1, 1, func(f *focus, c *call) bool { return f.holds(c.args[0]) }),
	"not":     truth(1, 1, func(f *focus, c *call) bool { return !f.holds(c.args[0]) }),
	"true":    truth(0, 0, func(*focus, *call) bool { return true }),
	"false":   truth(0, 0, func(*focus, *call) bool { return false }),
	"lang":    truth(1, 1, lang),

	// Numbers.
	"number": num(0, 1, func(f *focus, c *call) float64 {
		if len(c.args) == 0 {
			return parseNumber(f.ev.text(f.node))
		}
		return c.num(f, 0)
	}),
	"floor":   num(1, 1, func(f *focus, c *call) float64 { return math.Floor(c.num(f, 0)) }),
	"ceiling": num(1, 1, func(f *focus, c *call) float64 { return math.Ceil(c.num(f, 0)) }),
	"round":   num(1, 1, func(f *focus, c *call) float64 { return round(c.num(f, 0)) }),

	// Scrapy's.
	"has-class": truth(1, many, hasClass),

	// EXSLT: http://exslt.org/regexp and http://exslt.org/set.
	"matches":           {result: boolean, min: 2, max: 3, pattern: 2, flags: 3, evaluator: reTest},
	"re:test":           {result: boolean, min: 2, max: 3, pattern: 2, flags: 3, evaluator: reTest},
	"re:match":          {result: nodes, min: 2, max: 3, pattern: 2, flags: 3, evaluator: reMatch},
	"re:replace":        {result: textual, min: 4, max: 4, pattern: 2, flags: 3, evaluator: reReplace},
	"set:difference":    {result: nodes, min: 2, max: 2, sets: 2, evaluator: setDifference},
	"set:intersection":  {result: nodes, min: 2, max: 2, sets: 2, evaluator: setIntersection},
	"set:has-same-node": {result: boolean, min: 2, max: 2, sets: 2, evaluator: setHasSameNode},
	"set:distinct":      {result: nodes, min: 1, max: 1, sets: 1, evaluator: setDistinct},
	"set:leading":       {result: nodes, min: 2, max: 2, sets: 2, evaluator: setLeading},
	"set:trailing":      {result: nodes, min: 2, max: 2, sets: 2, evaluator: setTrailing},
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

func (n Node) localName() string {
	if n.Tree == nil {
		return ""
	}
	_, local := n.names()
	return local
}

func (n Node) name() string {
	if n.Tree == nil {
		return ""
	}
	prefix, local := n.names()
	if prefix == "" || isForeign(prefix) && n.attr == 0 {
		return local
	}
	return prefix + ":" + local
}

// namespaceURI is what the prefix of a node was bound to.
func (ev *evaluation) namespaceURI(n Node) string {
	if n.Tree == nil {
		return ""
	}
	prefix, _ := n.names()
	if prefix == "" && n.attr != 0 {
		return "" // the default namespace is not that of attributes
	}
	for t := n.Tree; t != nil && ev.spend(1+len(t.Attr)); t = t.Parent {
		for _, a := range t.Attr {
			if prefix == "" && a.Namespace == "" && a.Key == "xmlns" || prefix != "" && a.Namespace == "xmlns" && a.Key == prefix {
				return a.Val
			}
		}
	}
	return ""
}

func byID(f *focus, c *call) Value {
	words := make(map[string]bool)
	add := func(text string) {
		for word := range strings.FieldsFuncSeq(text, isBlank) {
			if !f.ev.spend(mapSteps + len(word)/bytesPerStep) {
				return
			}
			words[word] = true
		}
	}
	switch v := c.args[0].eval(f).(type) {
	case NodeSet:
		for _, n := range v {
			add(f.ev.text(n))
		}
	default:
		add(toString(v))
	}
	var found NodeSet
	root, _ := rootNode{}.eval(f).(NodeSet)
	f.ev.walk(descendant, root[0], func(n Node) bool {
		if n.Tree.Type != html.ElementNode {
			return true
		}
		for _, a := range n.Tree.Attr {
			if a.Key == "id" && a.Namespace == "" && words[a.Val] {
				found = append(found, n)
				break
			}
		}
		return f.ev.spend(len(n.Tree.Attr))
	})
	return found
}

func lang(f *focus, c *call) bool {
	want := c.str(f, 0)
	for t := f.node.Tree; t != nil && f.ev.spend(1+len(t.Attr)); t = t.Parent {
		for _, a := range t.Attr {
			if a.Key != "lang" {
				continue
			}
			is := strings.EqualFold(a.Val, want)
			return is || len(a.Val) > len(want) && a.Val[len(want)] == '-' && strings.EqualFold(a.Val[:len(want)], want)
		}
	}
	return false
}
