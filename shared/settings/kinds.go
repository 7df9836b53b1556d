package settings

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A kind reads and writes values of one type.
type kind[T any] struct {
	unit  string              // for lists and docs
	want  string              // what a good value is: ends "… is not"
	read  func(any) (T, bool) // of YAML, of a flag's text, or of Go
	write func(T) string      // a text that read takes
	hide  bool                // a value may be secret and is not shown
}

// where narrows a kind to the values that ok holds for; want says which.
func (k kind[T]) where(want string, ok func(T) bool) kind[T] {
	read := k.read
	k.want = want
	k.read = func(v any) (T, bool) {
		t, good := read(v)
		if !good || !ok(t) {
			var none T
			return none, false
		}
		return t, true
	}
	return k
}

// hidden is a kind whose values are not shown.
func (k kind[T]) hidden() kind[T] {
	k.hide = true
	return k
}

// text is any string; null is the empty one.
func text() kind[string] {
	return kind[string]{
		unit: "text",
		want: "a text",
		read: func(v any) (string, bool) {
			if v == nil {
				return "", true
			}
			s, ok := v.(string)
			return s, ok
		},
		write: func(s string) string { return s },
	}
}

// headerText is a text that fits into a header line.
func headerText() kind[string] {
	return text().where("a text without control characters", isHeaderValue)
}

// hostLabel is one part of a host's name, or empty.
func hostLabel() kind[string] {
	return text().where("one word of small letters, digits and hyphens", func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') })
	})
}

func isHeaderValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// oneOf is one of some words.
func oneOf(words ...string) kind[string] {
	k := text().where("one of "+strings.Join(words, ", "), func(s string) bool { return slices.Contains(words, s) })
	k.unit = "word"
	return k
}

// cachePolicy is the name of a policy of the HTTP cache, or Scrapy's class of it.
func cachePolicy() kind[string] {
	k := oneOf(Dummy, RFC9111)
	read := k.read
	k.read = func(v any) (string, bool) {
		switch v {
		case "scrapy.extensions.httpcache.DummyPolicy":
			return Dummy, true
		case "scrapy.extensions.httpcache.RFC2616Policy":
			return RFC9111, true
		}
		return read(v)
	}
	return k
}

// yesNo is a bool as Scrapy's getbool takes it.
func yesNo() kind[bool] {
	return kind[bool]{
		unit: "true or false",
		want: "true or false (or 1 or 0)",
		read: func(v any) (bool, bool) {
			switch s := fmt.Sprint(v); s {
			case "1", "true", "True":
				return true, true
			case "0", "false", "False":
				return false, true
			}
			return false, false
		},
		write: strconv.FormatBool,
	}
}

// whole is a whole number; min is its least value.
func whole(min int) kind[int] {
	k := kind[int]{unit: "number", want: "a whole number", read: readInt, write: strconv.Itoa}
	if min == math.MinInt {
		return k
	}
	return k.where(fmt.Sprintf("a whole number of %d or more", min), func(n int) bool { return n >= min })
}

// maxDays is the most days of a time: a century, well within what a
// [time.Duration] can hold.
const maxDays = 36500

func days() kind[int] {
	return whole(1).where(fmt.Sprintf("a whole number from 1 to %d", maxDays), func(n int) bool { return n <= maxDays })
}

func readInt(v any) (int, bool) {
	f, isFloat := v.(float64)
	if isFloat {
		return int(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	}
	n, err := strconv.Atoi(strings.TrimSpace(fmt.Sprint(v)))
	return n, err == nil
}

// span is a time of 0 or more. A bare number is seconds, as in Scrapy.
func span() kind[time.Duration] {
	return kind[time.Duration]{
		unit:  "seconds",
		want:  "a time of 0 or more: seconds, or with a unit as in 500ms, 2s or 1m30s",
		read:  readSpan,
		write: writeSpan,
	}
}

// timeout is a time above 0 and of an hour at most: leases of turns and of
// messages must outlast it.
func timeout() kind[time.Duration] {
	return span().where("a time above 0, at most 1h: seconds, or with a unit as in 500ms, 2s or 1m30s",
		func(d time.Duration) bool { return d > 0 && d <= time.Hour })
}

func readSpan(v any) (time.Duration, bool) {
	if d, ok := v.(time.Duration); ok {
		return d, d >= 0
	}
	s := strings.TrimSpace(fmt.Sprint(v))
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		// A NaN fails both comparisons.
		ok := seconds >= 0 && seconds < float64(math.MaxInt64)/float64(time.Second)
		return time.Duration(math.Round(seconds * float64(time.Second))), ok
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= 0
}

// writeSpan is Duration.String without the zero units at its end: "3m".
func writeSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// sizeUnits are the units of sizes, the larger first, those that end in another's name first.
var sizeUnits = [...]struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
}

// size is a number of bytes, 0 or more.
func size() kind[int64] {
	return kind[int64]{
		unit:  "bytes",
		want:  "a size of 0 or more: bytes, or with a unit as in 512KiB or 32MiB",
		read:  readSize,
		write: writeSize,
	}
}

func readSize(v any) (int64, bool) {
	s := strings.TrimSpace(fmt.Sprint(v))
	unit := int64(1)
	for _, u := range sizeUnits {
		if number, ok := strings.CutSuffix(s, u.name); ok {
			s, unit = strings.TrimSpace(number), u.bytes
			break
		}
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n * unit, n >= 0 && n <= math.MaxInt64/unit
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f*float64(unit) < 1<<53) {
		return 0, false
	}
	return int64(f * float64(unit)), true
}

func writeSize(n int64) string {
	for _, u := range sizeUnits[:3] {
		if n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// levels are Scrapy's names of levels.
const levels = "DEBUG, INFO, WARNING, ERROR, CRITICAL"

// ParseLevel reads a level by Scrapy's name, in any case: DEBUG, INFO, WARNING
// or WARN, ERROR, CRITICAL.
func ParseLevel(name string) (slog.Level, error) {
	switch strings.ToUpper(name) {
	case "DEBUG":
		return slog.LevelDebug, nil
	case "INFO":
		return slog.LevelInfo, nil
	case "WARNING", "WARN":
		return slog.LevelWarn, nil
	case "ERROR":
		return slog.LevelError, nil
	case "CRITICAL":
		return slog.LevelError + 4, nil
	}
	return 0, fmt.Errorf("%s is not one of %s", quoted(name), levels)
}

// level is a level by Scrapy's name.
func level() kind[slog.Level] {
	return kind[slog.Level]{
		unit: "word",
		want: "one of " + levels,
		read: func(v any) (slog.Level, bool) {
			if l, ok := v.(slog.Level); ok {
				return l, true
			}
			l, err := ParseLevel(fmt.Sprint(v))
			return l, err == nil
		},
		write: slog.Level.String,
	}
}
