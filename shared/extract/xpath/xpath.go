// Package xpath is XPath 1.0 over the trees of golang.org/x/net/html.
//
// It is written to the standard (https://www.w3.org/TR/1999/REC-xpath-19991116/)
// and has what Scrapy's selectors add to it: variables, has-class(), and the
// EXSLT functions of the prefixes re and set. Of XPath 2.0 it has lower-case,
// upper-case, ends-with, matches and string-join.
//
// A prefix in an expression stands for itself: media:title is an element that
// is written so. Regular expressions are Go's (https://golang.org/s/re2syntax).
package xpath

import (
	"fmt"
	"maps"
	"slices"
)

// An Expr is a compiled expression. It does not change and is safe for
// concurrent use.
type Expr struct {
	text string
	root expr
	vars []string
}

// A Value is what an expression gives: a [NodeSet], a float64, a string or a
// bool.
type Value any

// A NodeSet has nodes in the order of the document, each once.
type NodeSet []Node

// Compile compiles an expression. Its error says what is wrong and where: the
// syntax, an unknown function or axis, a wrong number of arguments, or a
// regular expression that is none.
func Compile(text string) (*Expr, error) {
	p := parser{text: text}
	if err := p.scan(); err != nil {
		return nil, err
	}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	return &Expr{text: text, root: root, vars: slices.Sorted(maps.Keys(p.vars))}, nil
}

// String returns the expression as it was written.
func (e *Expr) String() string { return e.text }

// Variables returns the names of the variables that the expression has, sorted.
func (e *Expr) Variables() []string { return e.vars }

// Options say how a tree is read.
type Options struct {
	// Vars are the variables: strings, float64s, bools or NodeSets.
	Vars map[string]Value

	// HTML takes the elements of SVG and MathML for elements without a
	// prefix, by their names in lower case too, as HTML parsers of other
	// languages have them.
	HTML bool

	// Steps, if not nil, is what this evaluation and those that come after
	// it may take together, besides the bound that each has. An evaluation
	// takes off what it took. See [StepsAtNodes].
	Steps *int
}

// Evaluate evaluates the expression at a node. Its error is that a variable is
// missing, that a regular expression which was put together is none, that a
// function got what it cannot take, or that the expression takes more than
// maxSteps steps on this tree.
func (e *Expr) Evaluate(at Node, opt Options) (Value, error) {
	for _, name := range e.vars {
		if _, found := opt.Vars[name]; !found {
			return nil, fmt.Errorf("the variable $%s is not set", name)
		}
	}
	most := maxSteps
	if opt.Steps != nil {
		most = min(most, *opt.Steps)
	}
	ev := evaluation{Options: opt, left: most}
	v := e.root.eval(&focus{ev: &ev, node: at, position: 1, size: 1})
	if opt.Steps != nil {
		*opt.Steps -= most - ev.left
		if ev.left < 0 && most < maxSteps {
			return nil, fmt.Errorf("it takes more than %d steps at the nodes that were selected before", StepsAtNodes)
		}
	}
	if ev.err != nil {
		return nil, ev.err
	}
	return v, nil
}

// An evaluation is one run of an expression.
type evaluation struct {
	Options
	left int // steps
	err  error
}

func (ev *evaluation) fail(format string, args ...any) {
	if ev.err == nil {
		ev.err = fmt.Errorf(format, args...)
	}
}

// A focus is where a part of an expression is evaluated.
type focus struct {
	ev             *evaluation
	node           Node
	position, size int
}
