package awstest

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxDigits is how many significant digits a number has at most; minExponent
// and maxExponent bound its magnitude. Source: Amazon DynamoDB Developer
// Guide, "Constraints in Amazon DynamoDB", Number.
const (
	maxDigits   = 38
	minExponent = -130
	maxExponent = 125
)

// A decimal is ±0.digits × 10^exp, exactly. Its digits neither begin nor end
// with 0; zero has none.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

// parseNumber reads a number as the protocol writes it.
func parseNumber(s string) (decimal, *Error) {
	bad := func() (decimal, *Error) {
		return decimal{}, validation("The parameter cannot be converted to a numeric value: %s", s)
	}
	rest, d := s, decimal{}
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		d.negative, rest = rest[0] == '-', rest[1:]
	}
	exp := 0
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		n, err := strconv.Atoi(rest[i+1:])
		if err != nil || n > 1000 || n < -1000 {
			return bad()
		}
		exp, rest = n, rest[:i]
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return bad()
	}
	exp += len(whole)
	trimmed := strings.TrimLeft(digits, "0")
	d.exp = exp - (len(digits) - len(trimmed))
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}, nil
	}
	switch {
	case len(d.digits) > maxDigits:
		return d, validation("Attempting to store more than %d significant digits in a Number", maxDigits)
	case d.exp-1 > maxExponent:
		return d, validation("Number overflow. Attempting to store a number with magnitude larger than supported range")
	case d.exp-1 < minExponent:
		return d, validation("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	}
	return d, nil
}

// String writes the number as the service does: plainly.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	var s string
	switch n := len(d.digits); {
	case d.exp <= 0:
		s = "0." + strings.Repeat("0", -d.exp) + d.digits
	case d.exp >= n:
		s = d.digits + strings.Repeat("0", d.exp-n)
	default:
		s = d.digits[:d.exp] + "." + d.digits[d.exp:]
	}
	if d.negative {
		return "-" + s
	}
	return s
}

// compare orders numbers.
func (d decimal) compare(e decimal) int { return strings.Compare(d.order(), e.order()) }

// order returns bytes that sort as the numbers do.
func (d decimal) order() string {
	if d.digits == "" {
		return "\x01"
	}
	biased := d.exp + 200
	b := append([]byte{byte(biased >> 8), byte(biased)}, d.digits...)
	if !d.negative {
		return "\x02" + string(b)
	}
	for i := range b {
		b[i] = ^b[i]
	}
	return "\x00" + string(b) + "\xff"
}

// size is what the number takes in bytes: a byte for two digits in base 100,
// one for the exponent, one for a minus.
func (d decimal) size() int {
	n := len(d.digits)
	if n == 0 {
		return 1
	}
	size := 1 + (n+1)/2
	if n%2 == 0 && d.exp%2 != 0 {
		size++ // the pairs of base 100 do not begin at its first digit
	}
	if d.negative {
		size++
	}
	return size
}

// addNumbers returns x + y, or x - y.
func addNumbers(x, y string, minus bool) (string, *Error) {
	if i, err := strconv.ParseInt(x, 10, 64); err == nil {
		if j, err := strconv.ParseInt(y, 10, 64); err == nil && small(i) && small(j) {
			if minus {
				j = -j
			}
			return strconv.FormatInt(i+j, 10), nil
		}
	}
	dx, err := parseNumber(x)
	if err != nil {
		return "", err
	}
	dy, err := parseNumber(y)
	if err != nil {
		return "", err
	}
	if minus && dy.digits != "" {
		dy.negative = !dy.negative
	}
	low := min(dx.scale(), dy.scale())
	sum := new(big.Int).Add(dx.scaled(low), dy.scaled(low))
	d, err := parseNumber(sum.String() + "e" + strconv.Itoa(low))
	if err != nil {
		return "", err
	}
	return d.String(), nil
}

func small(i int64) bool { return i < math.MaxInt64/2 && i > math.MinInt64/2 }

// scale is the power of ten of the last digit.
func (d decimal) scale() int { return d.exp - len(d.digits) }

// scaled is the number in units of 10^low, which is at most its scale.
func (d decimal) scaled(low int) *big.Int {
	n := new(big.Int)
	if d.digits == "" {
		return n
	}
	n.SetString(d.digits+strings.Repeat("0", d.scale()-low), 10)
	if d.negative {
		n.Neg(n)
	}
	return n
}
