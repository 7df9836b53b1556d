package extract

import (
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// A condition is a part of a compound that an element meets or not.
type condition interface {
	holds(n *html.Node, m *memory) bool
}

// newConditions compiles what follows the name of an element. Pseudo-classes
// that ask for the position among siblings are matched here, with a memory of
// positions, also where they stand in :not() and its like; cascadia counts the
// siblings of each element anew, and has all the rest.
func newConditions(text string) ([]condition, error) {
	whole, err := cascadiaCondition(text)
	if err != nil {
		return nil, err
	}
	parts, ok := simpleSelectors(text)
	if !ok {
		return []condition{whole}, nil
	}
	var all []condition
	var rest strings.Builder
	for _, part := range parts {
		if c := newPseudoClass(part); c != nil {
			all = append(all, c)
		} else {
			rest.WriteString(part)
		}
	}
	if len(all) == 0 {
		return []condition{whole}, nil
	}
	if rest.Len() == 0 {
		return all, nil
	}
	other, err := cascadiaCondition(rest.String())
	if err != nil {
		return []condition{whole}, nil
	}
	return append([]condition{other}, all...), nil
}

// foreign is a condition that cascadia matches.
type foreign struct{ cascadia.Sel }

func (f foreign) holds(n *html.Node, _ *memory) bool { return f.Match(n) }

func cascadiaCondition(text string) (condition, error) {
	text, err := forCascadia(text)
	if err != nil {
		return nil, err
	}
	sel, err := cascadia.Parse(text)
	if err != nil {
		return nil, err
	}
	return foreign{sel}, nil
}

// simpleSelectors cuts a compound without an element's name at each class, ID,
// attribute and pseudo-class. It is false for a text that it cannot read.
func simpleSelectors(text string) ([]string, bool) {
	var parts []string
	p := selectorParser{text: text}
	for p.at < len(text) {
		start := p.at
		p.at++
		for p.at < len(text) && !strings.ContainsRune(".#[:", rune(text[p.at])) {
			var err error
			switch text[p.at] {
			case '\\':
				p.at = min(p.at+2, len(text))
			case '(':
				_, err = p.argument()
			case '"', '\'':
				err = p.quoted(text[p.at])
				p.at++
			default:
				p.at++
			}
			if err != nil {
				return nil, false
			}
		}
		if text[start] == '[' && strings.Count(text[start:p.at], "]") != 1 {
			return nil, false // a sign in an attribute's value
		}
		parts = append(parts, text[start:p.at])
	}
	return parts, true
}

// newPseudoClass compiles a pseudo-class that is matched here, and is nil for
// any other simple selector.
func newPseudoClass(text string) condition {
	text, isPseudoClass := strings.CutPrefix(text, ":")
	name, argument, hasArgument := strings.Cut(text, "(")
	name = strings.ToLower(name)
	argument = strings.TrimSpace(strings.TrimSuffix(argument, ")"))
	switch {
	case !isPseudoClass:
	case hasArgument && (name == "not" || name == "is" || name == "where"):
		return newNested(argument, name != "not")
	case hasArgument:
		if kind, found := nthNames[name]; found {
			if kind.a, kind.b, found = parseNth(strings.ToLower(argument)); found {
				return kind
			}
		}
	case name == "only-child", name == "only-of-type":
		return only{ofType: name == "only-of-type"}
	default:
		if kind, found := nthNames[strings.Replace("nth-"+name, "first-", "", 1)]; found && name != "child" && name != "of-type" {
			kind.b = 1
			return kind
		}
	}
	return nil
}

// nested is :not(), :is() or :where().
type nested struct {
	alternatives []alternative
	want         bool
}

func (c nested) holds(n *html.Node, m *memory) bool {
	m = m.unordered()
	return c.want == slices.ContainsFunc(c.alternatives, func(a alternative) bool {
		return matchSteps(a.steps, n, nil, m) == matched
	})
}

// newNested is nil for selectors that ask for no position.
func newNested(selectors string, want bool) condition {
	lower := strings.ToLower(selectors)
	if !strings.Contains(lower, "-child") && !strings.Contains(lower, "-of-type") {
		return nil
	}
	p := selectorParser{text: selectors}
	alternatives, err := p.alternatives()
	if err != nil || slices.ContainsFunc(alternatives, func(a alternative) bool { return a.want != wantElement }) {
		return nil
	}
	return nested{alternatives, want}
}

// nth is :nth-child(an+b) and its like.
type nth struct {
	a, b         int
	last, ofType bool
}

var nthNames = map[string]nth{
	"nth-child":        {},
	"nth-last-child":   {last: true},
	"nth-of-type":      {ofType: true},
	"nth-last-of-type": {last: true, ofType: true},
}

func (c nth) holds(n *html.Node, m *memory) bool {
	at, ok := m.position(n, c.last, c.ofType)
	if at -= c.b; c.a == 0 {
		return ok && at == 0
	}
	return ok && at%c.a == 0 && at/c.a >= 0
}

// only is :only-child or :only-of-type.
type only struct{ ofType bool }

func (c only) holds(n *html.Node, m *memory) bool {
	first, ok := m.position(n, false, c.ofType)
	if !ok || first != 1 {
		return false
	}
	last, _ := m.position(n, true, c.ofType)
	return last == 1
}

// parseNth reads an+b, in lower case. It is false for what it does not know.
func parseNth(text string) (a, b int, ok bool) {
	switch text {
	case "odd":
		return 2, 1, true
	case "even":
		return 2, 0, true
	}
	text = strings.Join(strings.Fields(text), "")
	step, offset, found := strings.Cut(text, "n")
	if !found {
		b, err := strconv.Atoi(text)
		return 0, b, err == nil
	}
	if step == "" || step == "+" || step == "-" {
		step += "1"
	}
	if offset == "" {
		offset = "0"
	}
	a, err := strconv.Atoi(step)
	b, err2 := strconv.Atoi(offset)
	return a, b, err == nil && err2 == nil
}
