package extract

import (
	"errors"
	"fmt"
	"strings"
)

// forCascadia writes what cascadia does not know in what it knows: :is(a) and
// :where(a) are not not a, and :has(> a) is its own :haschild(a).
func forCascadia(text string) (string, error) {
	var b strings.Builder
	p := selectorParser{text: text}
	for p.at < len(text) {
		c := text[p.at]
		start := p.at
		switch {
		case c == '\\':
			p.at = min(p.at+2, len(text))
		case c == '"' || c == '\'':
			if err := p.quoted(c); err != nil {
				return "", err
			}
			p.at++
		case c == ':':
			p.at++
			name, _ := cutIdentifier(text[p.at:])
			p.at += len(name)
			name = strings.ToLower(name)
			if !strings.HasPrefix(text[p.at:], "(") || name != "is" && name != "where" && name != "has" && name != "not" {
				break
			}
			arg, err := p.argument()
			if err != nil {
				return "", err
			}
			if arg, err = forCascadia(arg); err != nil {
				return "", err
			}
			rewritten, err := relative(name, strings.TrimSpace(arg))
			if err != nil {
				return "", err
			}
			b.WriteString(rewritten)
			continue
		default:
			p.at++
		}
		b.WriteString(text[start:p.at])
	}
	return b.String(), nil
}

// argument reads what stands in the parentheses that begin at hand.
func (p *selectorParser) argument() (string, error) {
	start, depth := p.at+1, 0
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case '\\':
			p.at++
		case '"', '\'':
			if err := p.quoted(c); err != nil {
				return "", err
			}
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				p.at++
				return p.text[start : p.at-1], nil
			}
		}
	}
	return "", errors.New("a ')' is missing")
}

// relative writes a pseudo-class that has selectors as its argument.
func relative(name, arg string) (string, error) {
	if arg == "" {
		return "", fmt.Errorf("a selector is missing in :%s()", name)
	}
	switch sign := arg[0]; {
	case name == "is" || name == "where":
		return ":not(:not(" + arg + "))", nil
	case name != "has" || sign != '>' && sign != '+' && sign != '~':
		return ":" + name + "(" + arg + ")", nil
	case sign == '>' && !strings.ContainsAny(strings.TrimSpace(arg[1:]), ">+~, \t\n"):
		return ":haschild(" + strings.TrimSpace(arg[1:]) + ")", nil
	}
	return "", fmt.Errorf(":has(%s) is not known; :has(a) and :has(> a) are, and XPath says all else", arg)
}
