package awstest

import "strings"

// A token is a piece of an expression.
type token struct {
	kind tokenKind
	text string
}

type tokenKind int

const (
	tokEnd         tokenKind = iota
	tokWord                  // a name, keyword or function
	tokPlaceholder           // #name
	tokValue                 // :value
	tokIndex                 // digits
	tokSign                  // anything else
)

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// lex cuts an expression into tokens.
func lex(s string) ([]token, *Error) {
	var list []token
	for i := 0; i < len(s); {
		c := s[i]
		end := i + 1
		kind := tokSign
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case isWord(c) || c == '#' || c == ':':
			for end < len(s) && isWord(s[end]) {
				end++
			}
			kind = wordKind(s[i:end])
		case strings.HasPrefix(s[i:], "<>") || strings.HasPrefix(s[i:], "<=") || strings.HasPrefix(s[i:], ">="):
			end = i + 2
		case !strings.ContainsRune("=<>()[].,+-", rune(c)):
			return nil, validation("Invalid expression: Syntax error; token: %q, near: %q", s[i:end], near(s, i))
		}
		list = append(list, token{kind, s[i:end]})
		i = end
	}
	return list, nil
}

func wordKind(s string) tokenKind {
	switch c := s[0]; {
	case c == '#':
		return tokPlaceholder
	case c == ':':
		return tokValue
	case c >= '0' && c <= '9':
		return tokIndex
	}
	return tokWord
}

// near is what stands around a place of an expression.
func near(s string, i int) string { return s[max(0, i-8):min(len(s), i+8)] }
