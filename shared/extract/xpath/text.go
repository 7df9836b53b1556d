package xpath

import (
	"math"
	"slices"
	"strings"
)

// normalizeSpace makes runs of blanks one blank, and takes off those at the ends.
func normalizeSpace(s string) string {
	s = strings.Trim(s, " \t\r\n")
	if !strings.ContainsAny(s, "\t\r\n") && !strings.Contains(s, "  ") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		switch blank := isBlank(rune(s[i])); {
		case !blank:
			b = append(b, s[i])
		case b[len(b)-1] != ' ':
			b = append(b, ' ')
		}
	}
	return string(b)
}

func substring(f *focus, c *call) string {
	runes := []rune(c.slowly(f, 0, 4))
	first := round(c.num(f, 1))
	last := math.Inf(1)
	if len(c.args) == 3 {
		last = first + round(c.num(f, 2))
	}
	first, last = math.Max(first, 1), math.Min(last, float64(len(runes)+1))
	if !(first < last) { // also where one is not a number
		return ""
	}
	return string(runes[int(first)-1 : int(last)-1])
}

func translate(f *focus, c *call) string {
	s, from, to := c.str(f, 0), []rune(c.str(f, 1)), []rune(c.str(f, 2))
	if !f.ev.spend(len(s) * (1 + len(from)/2) / bytesPerStep * 4) {
		return ""
	}
	return strings.Map(func(r rune) rune {
		switch i := slices.Index(from, r); {
		case i < 0:
			return r
		case i < len(to):
			return to[i]
		}
		return -1
	}, s)
}

// round rounds halves towards positive infinity, and to the negative zero what
// rounds to zero from below.
func round(f float64) float64 {
	whole := math.Floor(f)
	if f-whole >= 0.5 {
		whole++
	}
	if whole == 0 {
		return math.Copysign(0, f)
	}
	return whole
}
