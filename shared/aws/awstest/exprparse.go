package awstest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// names are the placeholders of a request, and which of them its expressions
// have used.
type placeholders struct {
	names  map[string]string
	values map[string]attribute
	used   map[string]bool
}

// unused says which placeholders no expression has used.
func (p *placeholders) unused() *Error {
	if p.names != nil && len(p.names) == 0 {
		return validation("ExpressionAttributeNames must not be empty")
	}
	if p.values != nil && len(p.values) == 0 {
		return validation("ExpressionAttributeValues must not be empty")
	}
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		if !p.used[name] {
			return validation("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if !p.used[name] {
			return validation("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", name)
		}
	}
	return nil
}

// A step of a path is the name of an attribute or an index of a list.
type step struct {
	name  string // empty for an index
	index int
}

// A path leads to a value in an item.
type path []step

func (p path) String() string {
	var s strings.Builder
	for i, st := range p {
		switch {
		case st.name == "":
			s.WriteString("[" + strconv.Itoa(st.index) + "]")
		case i > 0:
			s.WriteString("." + st.name)
		default:
			s.WriteString(st.name)
		}
	}
	return s.String()
}

// overlaps reports whether one path leads to the other.
func (p path) overlaps(q path) bool {
	n := min(len(p), len(q))
	return slices.Equal(p[:n], q[:n])
}

// maxExpression is the longest expression in bytes. Source: Amazon DynamoDB
// Developer Guide, "Quotas in Amazon DynamoDB", expression parameters.
const maxExpression = 4096

// A parser reads one expression. Its methods panic with an *Error, which
// parse turns into a result.
type parser struct {
	kind    string // names the expression in errors
	source  string
	tokens  []token
	at      int
	holders *placeholders
}

// parse reads a whole expression of a kind such as "ConditionExpression".
func parse[T any](kind, source string, holders *placeholders, read func(*parser) T) (out T, err *Error) {
	if strings.TrimSpace(source) == "" {
		return out, validation("Invalid %s: The expression can not be empty;", kind)
	}
	if len(source) > maxExpression {
		return out, validation("Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %d", kind, len(source))
	}
	tokens, err := lex(source)
	if err != nil {
		return out, err
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Error:
			err = e
		default:
			panic(e)
		}
	}()
	p := &parser{kind: kind, source: source, tokens: tokens, holders: holders}
	out = read(p)
	if p.peek().kind != tokEnd {
		p.unexpected()
	}
	return out, nil
}

func (p *parser) peek() token { return p.ahead(0) }

func (p *parser) ahead(n int) token {
	if p.at+n < len(p.tokens) {
		return p.tokens[p.at+n]
	}
	return token{kind: tokEnd}
}

func (p *parser) next() token {
	t := p.peek()
	p.at++
	return t
}

func (p *parser) fail(format string, args ...any) {
	panic(validation("Invalid "+p.kind+": "+format, args...))
}

func (p *parser) unexpected() {
	t := p.peek()
	if t.kind == tokEnd {
		p.fail("Syntax error; token: <EOF>, near: %q", near(p.source, len(p.source)))
	}
	p.fail("Syntax error; token: %q, in: %q", t.text, p.source)
}

// sign takes a token that must be there.
func (p *parser) sign(text string) {
	if p.peek().text != text {
		p.unexpected()
	}
	p.at++
}

// keyword takes a word, in either case, if it is next.
func (p *parser) keyword(word string) bool {
	if t := p.peek(); t.kind == tokWord && strings.EqualFold(t.text, word) {
		p.at++
		return true
	}
	return false
}

// path reads the path to a value.
func (p *parser) path() path {
	list := path{{name: p.name()}}
	for {
		switch p.peek().text {
		case ".":
			p.at++
			list = append(list, step{name: p.name()})
		case "[":
			p.at++
			n, err := strconv.Atoi(p.peek().text)
			if p.peek().kind != tokIndex || err != nil {
				p.unexpected()
			}
			p.at++
			p.sign("]")
			list = append(list, step{index: n})
		default:
			return list
		}
	}
}

// name reads one name, of which a reserved word is none.
func (p *parser) name() string {
	t := p.peek()
	switch t.kind {
	case tokWord:
		if reserved[strings.ToUpper(t.text)] {
			p.fail("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
		}
		p.at++
		return t.text
	case tokPlaceholder:
		name, ok := p.holders.names[t.text]
		if !ok {
			p.fail("An expression attribute name used in the document path is not defined; attribute name: %s", t.text)
		}
		p.at++
		p.holders.used[t.text] = true
		return name
	}
	p.unexpected()
	return ""
}

// value reads the placeholder of a value.
func (p *parser) value() attribute {
	t := p.peek()
	if t.kind != tokValue {
		p.unexpected()
	}
	v, ok := p.holders.values[t.text]
	if !ok {
		p.fail("An expression attribute value used in expression is not defined; attribute value: %s", t.text)
	}
	p.at++
	p.holders.used[t.text] = true
	return v
}

// paths reads the paths of a projection.
func (p *parser) paths() []path {
	list := []path{p.path()}
	for p.peek().text == "," {
		p.at++
		list = append(list, p.path())
	}
	p.apart(list)
	return list
}

// apart refuses paths of which one leads to another.
func (p *parser) apart(list []path) {
	for i, a := range list {
		for _, b := range list[:i] {
			if a.overlaps(b) {
				p.fail("Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [%s], path two: [%s]", b, a)
			}
		}
	}
}
