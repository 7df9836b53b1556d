package cookies

import (
	"strings"
	"time"
)

// parseDate reads the date of Expires as browsers do: whatever stands where, the
// first that looks like a time, a day, a month and a year is it. Zones are not
// read. Source: RFC 6265, section 5.1.1.
func parseDate(s string) (time.Time, bool) {
	var (
		clock            [3]int
		day, year        int
		month            time.Month
		hasClock, hasDay bool
		hasYear          bool
	)
	for _, token := range strings.FieldsFunc(s, isDateDelimiter) {
		if !hasClock {
			if clock, hasClock = dateClock(token); hasClock {
				continue
			}
		}
		if !hasDay {
			if day, hasDay = dateNumber(token, 1, 2); hasDay {
				continue
			}
		}
		if month == 0 {
			if month = dateMonth(token); month != 0 {
				continue
			}
		}
		if !hasYear {
			year, hasYear = dateNumber(token, 2, 4)
		}
	}
	switch {
	case 70 <= year && year <= 99:
		year += 1900
	case year <= 69:
		year += 2000
	}
	if !hasClock || !hasDay || month == 0 || !hasYear || year < 1601 || clock[0] > 23 || clock[1] > 59 || clock[2] > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, month, day, clock[0], clock[1], clock[2], 0, time.UTC)
	return t, t.Month() == month // else there is no such day
}

func isDateDelimiter(r rune) bool {
	return r == '\t' || ' ' <= r && r <= '/' || ';' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
}

// dateNumber reads the digits that a token begins with, if there are as many as
// there may be.
func dateNumber(token string, least, most int) (int, bool) {
	n, digits := leadingNumber(token, most+1)
	return n, least <= digits && digits <= most
}

// dateClock reads hours, minutes and seconds of one or two digits each.
func dateClock(token string) (clock [3]int, ok bool) {
	for i := range clock {
		n, digits := leadingNumber(token, 3)
		if digits < 1 || digits > 2 {
			return clock, false
		}
		clock[i], token = n, token[digits:]
		if i < 2 {
			if !strings.HasPrefix(token, ":") {
				return clock, false
			}
			token = token[1:]
		}
	}
	return clock, true
}

// leadingNumber reads at most so many digits.
func leadingNumber(s string, most int) (n, digits int) {
	for digits < min(len(s), most) && '0' <= s[digits] && s[digits] <= '9' {
		n = n*10 + int(s[digits]-'0')
		digits++
	}
	return n, digits
}

// dateMonth is the month that a token's first three letters name, or 0.
func dateMonth(token string) time.Month {
	if len(token) < 3 {
		return 0
	}
	for m := time.January; m <= time.December; m++ {
		if strings.EqualFold(token[:3], m.String()[:3]) {
			return m
		}
	}
	return 0
}
