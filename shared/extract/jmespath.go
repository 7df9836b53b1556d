package extract

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jmespath-community/go-jmespath/pkg/functions"
	"github.com/jmespath-community/go-jmespath/pkg/interpreter"
	"github.com/jmespath-community/go-jmespath/pkg/parsing"
)

// A jmesPath is a compiled JMESPath expression.
//
// The library knows numbers as float64s alone. So in its tree whatever looks at
// numbers is changed: comparisons are calls of functions that compare exactly,
// and what computes is given floats. All else passes values on as they are,
// digits and all.
type jmesPath struct {
	node   parsing.ASTNode
	caller interpreter.FunctionCaller
}

// Names of functions that no expression can have.
const (
	fnFloat  = "\x00float"
	fnValues = "\x00values"
)

func compileJMESPath(text string) (*jmesPath, error) {
	node, err := parsing.NewParser().Parse(markNumbers(text))
	if err != nil {
		return nil, withoutPrefix(err, "SyntaxError: ")
	}
	entries := append(functions.GetDefaultFunctions(), exactFunctions()...)
	known := make(map[string]bool, len(entries))
	for _, e := range entries {
		known[e.Name] = true
	}
	r := rewriter{known: known}
	node = r.rewrite(node)
	if r.unknown != "" {
		return nil, fmt.Errorf("unknown function %s()", r.unknown)
	}
	return &jmesPath{node, interpreter.NewFunctionCaller(entries...)}, nil
}

// search evaluates the expression. What the library panics at is an error.
func (j *jmesPath) search(root any) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be evaluated here: %v", p)
		}
	}()
	return interpreter.NewInterpreter(root, j.caller, nil).Execute(j.node, root)
}

// A rewriter changes the library's tree.
type rewriter struct {
	known   map[string]bool
	unknown string // the first unknown function
}

func (r *rewriter) rewrite(n parsing.ASTNode) parsing.ASTNode {
	children := make([]parsing.ASTNode, len(n.Children))
	for i, c := range n.Children {
		children[i] = r.rewrite(c)
	}
	n.Children = children
	switch n.NodeType {
	case parsing.ASTComparator:
		name := fmt.Sprintf("\x00%v", n.Value)
		return parsing.ASTNode{NodeType: parsing.ASTFunctionExpression, Value: name, Children: children}
	case parsing.ASTArithmeticExpression, parsing.ASTArithmeticUnaryExpression:
		for i, c := range children {
			children[i] = calls(fnFloat, c)
		}
	case parsing.ASTValueProjection:
		n.NodeType = parsing.ASTProjection
		children[0] = calls(fnValues, children[0])
	case parsing.ASTLiteral:
		n.Value = unmarkNumbers(n.Value)
	case parsing.ASTFunctionExpression:
		name, _ := n.Value.(string)
		if !r.known[name] && r.unknown == "" {
			r.unknown = name
		}
		if computes(name) {
			for i, c := range children {
				children[i] = calls(fnFloat, c)
			}
		}
	}
	return n
}

func calls(name string, arg parsing.ASTNode) parsing.ASTNode {
	return parsing.ASTNode{NodeType: parsing.ASTFunctionExpression, Value: name, Children: []parsing.ASTNode{arg}}
}

// computes reports whether a function of the library does arithmetic on its
// arguments, and gives none of them back.
func computes(name string) bool {
	switch name {
	case "abs", "avg", "ceil", "floor", "sum", "find_first", "find_last", "pad_left", "pad_right", "replace", "split":
		return true
	}
	return false
}

// numberMark is the name of the one member of an object that stands for a
// number in a literal.
const numberMark = "\x00number"

// markNumbers replaces the numbers in an expression's JSON literals that a
// float would change, since the library reads literals itself.
func markNumbers(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		quote := text[i]
		if quote != '\'' && quote != '"' && quote != '`' {
			b.WriteByte(quote)
			i++
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != quote {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(text) {
			b.WriteString(text[i:]) // not closed, which the parser tells
			break
		}
		part := text[i : end+1]
		if quote == '`' {
			part = markLiteral(part)
		}
		b.WriteString(part)
		i = end + 1
	}
	return b.String()
}

func markLiteral(literal string) string {
	v, err := decodeJSON([]byte(strings.ReplaceAll(literal[1:len(literal)-1], "\\`", "`")))
	if err != nil {
		return literal
	}
	marked, changed := mark(v)
	if !changed {
		return literal
	}
	return "`" + strings.ReplaceAll(encodeJSON(marked), "`", "\\`") + "`"
}

func mark(v any) (marked any, changed bool) {
	switch v := v.(type) {
	case json.Number:
		return map[string]any{numberMark: string(v)}, true
	case []any:
		for i := range v {
			var c bool
			v[i], c = mark(v[i])
			changed = changed || c
		}
	case map[string]any:
		for k, member := range v {
			var c bool
			v[k], c = mark(member)
			changed = changed || c
		}
	}
	return v, changed
}

func unmarkNumbers(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = unmarkNumbers(v[i])
		}
	case map[string]any:
		if digits, isMark := v[numberMark].(string); isMark && len(v) == 1 {
			return json.Number(digits)
		}
		for k, member := range v {
			v[k] = unmarkNumbers(member)
		}
	}
	return v
}
