package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// ToInt reads whole numbers, and gives them as a json.Number of as many digits
// as there are. White space around them, a sign and zeros before them are
// taken; anything else is an error, and so is a fraction that is not 0. Of
// texts with something around the number see [Price].
func ToInt() Processor {
	return Parse("to_int", func(s string) (any, error) {
		n, err := numberOf(s)
		if err != nil {
			return nil, err
		}
		whole, ok := wholeNumber(string(n))
		if !ok {
			return nil, errors.New("is no whole number")
		}
		return json.Number(whole), nil
	})
}

// ToFloat reads decimal numbers, and gives them as a json.Number with the
// digits that stand there: "1.10" stays 1.10. White space around them, a sign
// and an exponent are taken; anything else is an error.
func ToFloat() Processor {
	return Parse("to_float", func(s string) (any, error) {
		n, err := numberOf(s)
		if err != nil {
			return nil, err
		}
		return n, nil
	})
}

// numberOf makes a JSON number of a number as people and programs write them:
// +5, 007, .5 and 5. are not JSON.
func numberOf(s string) (json.Number, error) {
	text := strings.TrimSpace(s)
	digits, negative := strings.CutPrefix(text, "-")
	if !negative {
		digits = strings.TrimPrefix(text, "+")
	}
	mantissa, exponent := digits, ""
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		mantissa, exponent = digits[:i], digits[i:]
		power := strings.TrimPrefix(exponent[1:], "+")
		if power == exponent[1:] {
			power = strings.TrimPrefix(power, "-")
		}
		if !allDigits(power) {
			return "", notANumber(text)
		}
	}
	whole, fraction, point := strings.Cut(mantissa, ".")
	if !allDigits(whole + fraction) {
		return "", notANumber(text)
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	n := whole
	if point && fraction != "" {
		n += "." + fraction
	}
	if negative {
		n = "-" + n
	}
	return json.Number(n + exponent), nil
}

func notANumber(text string) error {
	if strings.ContainsAny(text, "0123456789") {
		return errors.New(`is no number; where something stands around it or between its digits, use "price"`)
	}
	return errors.New("is no number")
}

// allDigits reports whether s is digits, one at least.
func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// maxExponent bounds what is written out of an exponent: 1e999999999 would
// fill the memory.
const maxExponent = 400

// wholeNumber returns a JSON number without fraction and exponent, if it is a
// whole one.
func wholeNumber(s string) (string, bool) {
	if allDigits(strings.TrimPrefix(s, "-")) {
		if strings.Trim(s, "-0") == "" {
			return "0", true
		}
		return s, true
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(s[i+1:]); err != nil || e > maxExponent || e < -maxExponent {
			return "", false
		}
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() {
		return "", false
	}
	return r.Num().String(), true
}

// ToBool reads booleans: true, yes, on and 1; false, no, off and 0, in upper or
// lower case. Anything else is an error.
func ToBool() Processor {
	return Parse("to_bool", func(s string) (bool, error) {
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "true", "yes", "on", "1":
			return true, nil
		case "false", "no", "off", "0":
			return false, nil
		}
		return false, errors.New("is none of true, yes, on, 1, false, no, off, 0")
	})
}

// ToTime reads times by the first of the layouts (Go's, see package time) that
// fits. Where a layout has no zone, the time is UTC. It gives a time.Time,
// which is RFC 3339 in an item.
//
// Default: time.RFC3339.
func ToTime(layouts ...string) Processor {
	if len(layouts) == 0 {
		layouts = []string{time.RFC3339}
	}
	return Parse("to_time", func(s string) (time.Time, error) { return parseTime(s, layouts) })
}

func parseTime(s string, layouts []string) (time.Time, error) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("is no time as in %q (layouts are Go's: 2006-01-02 15:04:05)", layouts)
}
