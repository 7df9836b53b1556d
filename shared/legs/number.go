package legs

import (
	"math/big"
	"strings"
)

// normalNumber writes a JSON number in one form, without rounding: an integer
// plainly if it is short, and else as digits without zeros at the ends and an
// exponent of ten. It never spells an exponent out, however large.
func normalNumber(text string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	ten := new(big.Int)
	if exponent != "" {
		ten.SetString(strings.TrimPrefix(exponent, "+"), 10) // JSON has checked it
	}
	ten.Sub(ten, big.NewInt(int64(len(fraction))))
	short := strings.TrimRight(digits, "0")
	ten.Add(ten, big.NewInt(int64(len(digits)-len(short))))
	sign := ""
	if negative {
		sign = "-"
	}
	if ten.IsInt64() && ten.Sign() >= 0 && int64(len(short))+ten.Int64() <= longestPlain {
		return sign + short + strings.Repeat("0", int(ten.Int64()))
	}
	return sign + short + "e" + ten.String()
}

// longestPlain is how many digits an integer may have that is written plainly.
const longestPlain = 40
