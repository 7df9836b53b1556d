package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Price takes the one number out of a text, such as a price or a count:
// "£1,234.50" is 1234.50, "12,- €" is 12 and "(3 reviews)" is 3. It gives a
// json.Number with the digits that stand there. A text without a digit gives
// nil, so the field stays unset.
//
// decimal is the sign before the fraction, "." or ","; the other one, blanks and
// apostrophes part thousands. With "" it is told by the number itself, and a
// number that can be read in two ways ("1.234") is an error: a wrong price would
// be worse. So are two numbers in one text; use [Re] before to choose one.
//
// What stands round the number and may change it is an error, too: a fraction
// sign ("2½"), brackets that may be a minus ("(5.00)"), a minus behind it ("5-")
// or a dash before it that may be one ("—5"), and a blank between digits that may
// be two numbers ("5 200 g").
//
// The currency is not read.
func Price(decimal string) Processor {
	if decimal != "" && decimal != "." && decimal != "," {
		return broken("price", fmt.Errorf(`decimal %q; it is "." or ","`, decimal))
	}
	return Parse("price", func(s string) (any, error) {
		found, negative, err := oneNumber(s)
		if err != nil || found == "" {
			return nil, err
		}
		n, err := readGrouped(found, decimal)
		if err != nil {
			return nil, err
		}
		if negative {
			n = "-" + n
		}
		return json.Number(n), nil
	})
}

// oneNumber finds the number in a text: digits and the signs between them.
func oneNumber(s string) (number string, negative bool, err error) {
	start := strings.IndexAny(s, "0123456789")
	if start < 0 {
		if strings.ContainsFunc(s, unicode.IsDigit) {
			return "", false, errors.New("has digits other than 0 to 9; replace them first")
		}
		if hasNumberSign(s) {
			return "", false, errFraction
		}
		return "", false, nil
	}
	end := start
	for end < len(s) {
		if isDigit(s[end]) {
			end++
			continue
		}
		sign, width := utf8.DecodeRuneInString(s[end:])
		next := end + width
		// A blank parts thousands only where three digits follow, so that two
		// numbers side by side are seen as two.
		if !isSeparator(sign) || next >= len(s) || !isDigit(s[next]) || (isBlank(sign) && digitsAt(s[next:]) != 3) {
			break
		}
		end = next
	}
	if strings.ContainsFunc(s[end:], unicode.IsDigit) {
		return "", false, errors.New(`has more than one number; choose one with "re" first`)
	}
	if err := isUnsure(s, start, end); err != nil {
		return "", false, err
	}
	before := s[:start]
	if strings.HasSuffix(before, ".") || strings.HasSuffix(before, ",") {
		if c := strings.TrimRight(before, ".,"); c == "" || unicode.IsSpace(lastRune(c)) || unicode.Is(unicode.Sc, lastRune(c)) || strings.HasSuffix(c, "-") {
			start--
			before = s[:start]
		}
	}
	return s[start:end], isMinus(before), nil
}

// isMinus reports whether a minus sign stands before a number, with a currency's
// sign between them or without: "-5" and "-£5", and not "SKU-5".
func isMinus(before string) bool {
	before = strings.TrimRightFunc(before, func(r rune) bool { return unicode.Is(unicode.Sc, r) })
	c := lastRune(before)
	if c != '-' && c != '\u2212' {
		return false
	}
	before = strings.TrimSuffix(before, string(c))
	return before == "" || !isWordRune(lastRune(before))
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isBlank(r rune) bool { return r == ' ' || r == '\u00a0' || r == '\u2009' || r == '\u202f' }

func isSeparator(r rune) bool {
	return r == '.' || r == ',' || r == '\'' || r == '\u2019' || isBlank(r)
}

func digitsAt(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// readGrouped reads a number whose thousands may be parted.
func readGrouped(s, decimal string) (string, error) {
	if decimal == "" {
		var err error
		if decimal, err = decimalOf(s); err != nil {
			return "", err
		}
	}
	whole, fraction, point := s, "", false
	if decimal != "none" {
		whole, fraction, point = strings.Cut(s, decimal)
	}
	if point && digitsAt(fraction) != len(fraction) {
		return "", fmt.Errorf("%q is no number whose decimal sign is %q", s, decimal)
	}
	groups := strings.FieldsFunc(whole, isSeparator)
	for i, g := range groups {
		if len(groups) > 1 && (i > 0 && len(g) != 3 || len(g) > 3) {
			return "", fmt.Errorf("%q is no number whose decimal sign is %q: thousands are parted in threes", s, decimal)
		}
	}
	n := strings.TrimLeft(strings.Join(groups, ""), "0")
	if n == "" {
		n = "0"
	}
	if fraction != "" {
		n += "." + fraction
	}
	return n, nil
}

// decimalOf tells a number's decimal sign by the number itself: "." or ",", or
// "none" if it has none.
func decimalOf(s string) (string, error) {
	last := strings.LastIndexAny(s, ".,")
	if last < 0 {
		return "none", nil
	}
	sign := s[last : last+1]
	other := "."
	if sign == "." {
		other = ","
	}
	before := s[:last]
	switch {
	case strings.Contains(before, sign) && strings.Contains(before, other):
		return "", fmt.Errorf("%q is no number", s)
	case strings.Contains(before, sign):
		return other, nil // it parts thousands, as it is there twice
	case strings.ContainsFunc(before, isSeparator):
		return sign, nil // something else parts them
	case len(s)-last-1 != 3 || last > 3 || last == 0 || before[0] == '0':
		return sign, nil
	}
	return "", fmt.Errorf(`%q can be %s or %s; say which sign is before the fraction: "." or ","`, s, strings.Replace(s, sign, "", 1), strings.Replace(s, sign, ".", 1))
}
