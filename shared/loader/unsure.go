package loader

import (
	"errors"
	"regexp"
	"strings"
	"unicode"
)

var (
	errFraction  = errors.New("has a sign such as ½ or ² that is a part of the number; replace it first")
	errBrackets  = errors.New(`has its number in brackets, which may stand for a minus; choose it with "re" first`)
	errDash      = errors.New(`has a dash beside its number, which may be a minus; choose the number with "re" first`)
	errTwoOrOne  = errors.New(`may have two numbers, or one with a blank in it; choose one with "re" first`)
	currencyCode = regexp.MustCompile(`\b[A-Z]{3}\b`)

	// measured finds a unit of measure behind a number, which a price rarely
	// has: "5 200 g" may be five of 200 g.
	measured = regexp.MustCompile(`^\s*(?i:[mkµ]?g|[mcd]?l|[mcdk]?m|k?w|oz|lbs?|pcs?|inch|st|stk|szt|шт|г|кг|мл|л|см|мм|м)(?:\PL|$)`)
)

// isUnsure says what stands round a number, at start to end of a text, that may
// change it.
func isUnsure(s string, start, end int) error {
	before, number, after := s[:start], s[start:end], s[end:]
	switch {
	case hasNumberSign(before) || hasNumberSign(after):
		return errFraction
	case inBrackets(before, after):
		return errBrackets
	case isDash(withoutCurrency(after)) || isDash(withoutSigns(before)) && !isMinus(before) || isLongDash(before):
		return errDash
	case strings.Contains(number, " ") && !strings.ContainsAny(number, ".,") && measured.MatchString(after):
		return errTwoOrOne
	}
	return nil
}

// hasNumberSign reports whether a text has a number that is no digit, other than
// behind a letter, as in m².
func hasNumberSign(s string) bool {
	last := ' '
	for _, r := range s {
		if unicode.IsNumber(r) && !unicode.IsDigit(r) && !unicode.IsLetter(last) {
			return true
		}
		last = r
	}
	return false
}

// inBrackets reports whether a number stands alone in round brackets, but for a
// currency. "(3 reviews)" and "Reviews (3)" are counts.
func inBrackets(before, after string) bool {
	outside, inside, opened := cutLast(before, "(")
	rest, behind, closed := strings.Cut(after, ")")
	if !opened || !closed || withoutCurrency(inside+" "+rest) != "" {
		return false
	}
	return withoutCurrency(outside+" "+behind) == "" || strings.TrimSpace(inside+rest) != ""
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// withoutCurrency leaves out blanks, signs of currencies and codes such as EUR.
func withoutCurrency(s string) string { return withoutSigns(currencyCode.ReplaceAllString(s, "")) }

// withoutSigns leaves out blanks and signs of currencies.
func withoutSigns(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Sc, r) {
			return -1
		}
		return r
	}, s)
}

// isDash reports whether a text is a dash and nothing else.
func isDash(s string) bool {
	r := []rune(s)
	return len(r) == 1 && (unicode.Is(unicode.Pd, r[0]) || r[0] == '\u2212')
}

// isLongDash reports whether a dash that is neither a hyphen nor a minus sign
// stands right before a number, and not behind a word.
func isLongDash(before string) bool {
	before = strings.TrimRightFunc(before, func(r rune) bool { return unicode.Is(unicode.Sc, r) })
	dash := lastRune(before)
	if !unicode.Is(unicode.Pd, dash) || dash == '-' {
		return false
	}
	before = strings.TrimSuffix(before, string(dash))
	return before == "" || !isWordRune(lastRune(before))
}
