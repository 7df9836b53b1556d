package extract

import (
	"errors"
	"fmt"
	"strings"
)

// A selectorParser cuts a selector at its commas, combinators and
// pseudo-elements. What lies between is cascadia's.
type selectorParser struct {
	text string
	at   int
}

func (p *selectorParser) alternatives() ([]alternative, error) {
	var all []alternative
	for {
		a, err := p.alternative()
		if err != nil {
			return nil, err
		}
		all = append(all, a)
		if p.at == len(p.text) {
			return all, nil
		}
		p.at++ // the comma
	}
}

// alternative reads up to a comma or the end.
func (p *selectorParser) alternative() (alternative, error) {
	var a alternative
	for {
		combinator, err := p.combinator()
		if err != nil {
			return a, err
		}
		switch {
		case p.at == len(p.text) || p.text[p.at] == ',':
			if combinator != 0 && combinator != ' ' {
				return a, fmt.Errorf("nothing follows the %q", combinator)
			}
			if len(a.steps) == 0 {
				return a, errors.New("a selector is missing")
			}
			return a, nil
		case len(a.steps) == 0 && combinator != 0 && combinator != ' ':
			return a, fmt.Errorf("nothing stands before the %q", combinator)
		case strings.HasPrefix(p.text[p.at:], "::"):
			if err := p.pseudoElement(&a, combinator); err != nil {
				return a, err
			}
			return a, nil
		}
		text, err := p.compound()
		if err != nil {
			return a, err
		}
		c, err := newCompound(text)
		if err != nil {
			return a, err
		}
		a.steps = append(a.steps, step{combinator, c})
	}
}

// combinator reads blanks and at most one sign. It returns 0 where there is
// neither.
func (p *selectorParser) combinator() (byte, error) {
	var found byte
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case isSpace(c):
			if found == 0 {
				found = ' '
			}
		case c == '>' || c == '+' || c == '~':
			if found != 0 && found != ' ' {
				return 0, fmt.Errorf("%q follows %q", c, found)
			}
			found = c
		default:
			return found, nil
		}
	}
	return found, nil
}

// compound reads up to the next blank, sign, comma or pseudo-element that is
// not inside brackets or quotes.
func (p *selectorParser) compound() (string, error) {
	start := p.at
	var closers []byte // innermost last
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '\\':
			p.at++
		case c == '"' || c == '\'':
			if err := p.quoted(c); err != nil {
				return "", err
			}
		case c == '[':
			closers = append(closers, ']')
		case c == '(':
			closers = append(closers, ')')
		case c == ']' || c == ')':
			if len(closers) == 0 || closers[len(closers)-1] != c {
				return "", fmt.Errorf("%q closes nothing", c)
			}
			closers = closers[:len(closers)-1]
		case len(closers) > 0:
		case isSpace(c), c == '>', c == '+', c == '~', c == ',', strings.HasPrefix(p.text[p.at:], "::"):
			return p.text[start:p.at], nil
		}
		p.at++
	}
	if len(closers) > 0 {
		return "", fmt.Errorf("a %q is missing", closers[len(closers)-1])
	}
	p.at = min(p.at, len(p.text)) // a backslash at the very end
	return p.text[start:], nil
}

// quoted moves to the quote that closes the one at hand.
func (p *selectorParser) quoted(quote byte) error {
	for p.at++; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '\\':
			p.at++
		case quote:
			return nil
		}
	}
	return fmt.Errorf("a %q is missing", quote)
}

// pseudoElement reads ::text or ::attr(name), which ends an alternative.
func (p *selectorParser) pseudoElement(a *alternative, combinator byte) error {
	rest := p.text[p.at:]
	if end := strings.IndexByte(rest, ','); end >= 0 {
		rest = rest[:end]
	}
	p.at += len(rest)
	name := strings.TrimRight(rest[len("::"):], " \t\n\f\r")

	if arg, isAttr := strings.CutPrefix(name, "attr("); isAttr {
		arg, closed := strings.CutSuffix(arg, ")")
		a.attr = strings.ToLower(strings.Trim(arg, " \t\n\f\r\"'"))
		if !closed || a.attr == "" || strings.ContainsAny(a.attr, " \t\n\f\r()'\"") {
			return fmt.Errorf("%q is not ::attr(name)", "::"+name)
		}
		a.want = wantAttr
	} else if name == "text" {
		a.want = wantText
	} else {
		return fmt.Errorf("%q is neither ::text nor ::attr(name), and must come last", "::"+name)
	}

	// "p ::text" and "p *::text" are the same to Scrapy, and both mean the
	// text at any depth, that of the p itself included.
	last := len(a.steps) - 1
	switch {
	case combinator == ' ' && last >= 0:
		a.deep = true
	case combinator != 0 || last < 0:
		a.steps = append(a.steps, step{combinator: combinator})
	case last > 0 && a.steps[last].combinator == ' ' && a.steps[last].compound.isAny():
		a.steps = a.steps[:last]
		a.deep = true
	}
	return nil
}

// newCompound reads the common forms itself: tag, prefix|tag, #id and .class
// without escapes.
func newCompound(text string) (compound, error) {
	var c compound
	rest, err := c.typeSelector(text)
	if err != nil {
		return compound{}, err
	}
	conditions := rest
	for rest != "" {
		var name string
		sign := rest[0]
		name, rest = cutIdentifier(rest[1:])
		switch {
		case sign == '.' && name != "":
			c.classes = append(c.classes, name)
		case sign == '#' && name != "" && c.id == "":
			c.id = name
		default:
			other, err := newConditions(conditions)
			return compound{tag: c.tag, prefix: c.prefix, hasPrefix: c.hasPrefix, other: other}, err
		}
	}
	return c, nil
}

// typeSelector cuts the name of an element and its prefix off a compound.
func (c *compound) typeSelector(text string) (rest string, err error) {
	name := func(s string) (string, string) {
		if after, found := strings.CutPrefix(s, "*"); found {
			return "", after
		}
		name, rest := cutIdentifier(s)
		return strings.ToLower(name), rest
	}
	c.tag, rest = name(text)
	if strings.HasPrefix(rest, "\\") {
		c.tag = ""
		return text, nil // a name with escapes is cascadia's
	}
	if !strings.HasPrefix(rest, "|") {
		return rest, nil
	}
	c.hasPrefix = !strings.HasPrefix(text, "*")
	c.prefix = strings.TrimSuffix(text[:len(text)-len(rest)], "*")
	if c.tag, rest = name(rest[1:]); c.tag == "" && !strings.HasPrefix(text[len(text)-len(rest)-1:], "*") {
		return "", fmt.Errorf("the name of an element is missing after %q", text[:len(text)-len(rest)])
	}
	return rest, nil
}

// isAny reports whether the compound is "*".
func (c *compound) isAny() bool {
	return c.other == nil && c.tag == "" && !c.hasPrefix && c.id == "" && len(c.classes) == 0
}

// cutIdentifier cuts a CSS identifier without escapes off s.
func cutIdentifier(s string) (name, rest string) {
	i := 0
	for i < len(s) {
		c := s[i]
		digit := '0' <= c && c <= '9' || c == '-'
		if !isLetter(c) && c != '_' && c < 0x80 && (i == 0 || !digit) {
			break
		}
		i++
	}
	return s[:i], s[i:]
}
