package xpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind int

const (
	end      kind = iota
	symbol        // ( ) [ ] . .. @ , :: / // and the operators, and, or, div, mod among them
	name          // a name, with its prefix, or prefix:*
	star          // * as a test of names
	number        //
	literal       //
	variable      //
)

type token struct {
	kind   kind
	text   string // without quotes and $
	prefix string // of a name
	number float64
	at     int // where it begins
}

var symbols = strings.Fields(`:: // .. != <= >= ( ) [ ] . @ , / | + - = < >`)

// scan cuts the text into tokens. XPath's names and stars are operators where
// an operator is due, which the token before tells.
func (p *parser) scan() error {
	for at := 0; ; {
		rest := p.text[at:]
		trimmed := strings.TrimLeft(rest, " \t\r\n")
		at += len(rest) - len(trimmed)
		if trimmed == "" {
			p.tokens = append(p.tokens, token{kind: end, at: at})
			return nil
		}
		t, size, err := p.next(trimmed)
		if err != nil {
			return err
		}
		t.at = at
		p.tokens = append(p.tokens, t)
		at += size
	}
}

func (p *parser) next(rest string) (token, int, error) {
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		closing := strings.IndexByte(rest[1:], c)
		if closing < 0 {
			return token{}, 0, fmt.Errorf("a %c is missing after %q", c, excerpt(rest))
		}
		return token{kind: literal, text: rest[1 : 1+closing]}, closing + 2, nil
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		i := 0
		for i < len(rest) && isDigit(rest[i]) {
			i++
		}
		if i < len(rest) && rest[i] == '.' {
			for i++; i < len(rest) && isDigit(rest[i]); i++ {
			}
		}
		n, err := strconv.ParseFloat(rest[:i], 64)
		if err != nil {
			return token{}, 0, fmt.Errorf("%s is no number", rest[:i])
		}
		return token{kind: number, text: rest[:i], number: n}, i, nil
	case c == '$':
		prefix, local, size := cutName(rest[1:])
		if size == 0 || local == "*" {
			return token{}, 0, fmt.Errorf("a name is missing after the $ of %q", excerpt(rest))
		}
		if prefix != "" {
			local = prefix + ":" + local
		}
		return token{kind: variable, text: local}, size + 1, nil
	case c == '*':
		if p.operatorDue() {
			return token{kind: symbol, text: "*"}, 1, nil
		}
		return token{kind: star, text: "*"}, 1, nil
	}
	if prefix, local, size := cutName(rest); size > 0 {
		if prefix == "" && p.operatorDue() {
			switch local {
			case "and", "or", "div", "mod":
				return token{kind: symbol, text: local}, size, nil
			}
		}
		return token{kind: name, text: local, prefix: prefix}, size, nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			return token{kind: symbol, text: s}, len(s), nil
		}
	}
	return token{}, 0, fmt.Errorf("%q is not understood", excerpt(rest))
}

// operatorDue reports whether the token before ends an operand.
func (p *parser) operatorDue() bool {
	if len(p.tokens) == 0 {
		return false
	}
	last := p.tokens[len(p.tokens)-1]
	switch last.text {
	case ")", "]", ".", "..":
		return true
	}
	return last.kind != symbol
}

// cutName cuts a name off, with its prefix if it has one: "a", "p:a" or "p:*",
// but not the "a" of "a::b".
func cutName(s string) (prefix, local string, size int) {
	first := ncName(s)
	if first == 0 {
		return "", "", 0
	}
	after := s[first:]
	if len(after) > 1 && after[0] == ':' && after[1] != ':' {
		if after[1] == '*' {
			return s[:first], "*", first + 2
		}
		if second := ncName(after[1:]); second > 0 {
			return s[:first], after[1 : 1+second], first + 1 + second
		}
	}
	return "", s[:first], first
}

func ncName(s string) int {
	for i, r := range s {
		switch {
		case unicode.IsLetter(r), r == '_':
		case i > 0 && (r == '-' || r == '.' || r == '·' || unicode.IsDigit(r) || unicode.Is(unicode.M, r)):
		default:
			return i
		}
	}
	return len(s)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// excerpt is what an error shows of the rest of an expression.
func excerpt(s string) string {
	const most = 30
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
