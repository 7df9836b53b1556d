package cookies

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The string of all jars is
//
//	version place,place,…;cookie;cookie…
//
// where a place is [jar@][.]domain[/path] and a cookie is
//
//	place[S][L][-expiry] name=value
//
// with the place's number and the expiry (Unix seconds) in base 36, S for
// Secure, and L where name and value are not UTF-8, whose bytes then stand as
// the characters of those numbers. A dot before the domain means also the hosts
// below. Nothing in a name or value needs an escape, since Set-Cookie itself
// ends them at a semicolon. Places stand in the order in which cookies name
// them, so the same cookies are the same string.
const version = '1'

// String returns the jars as [Parse] reads them: valid UTF-8, at most [MaxBytes]
// long, and "" if there is no cookie.
func (j Jars) String() string {
	if j.text != "" || j.Empty() {
		return j.text
	}
	return string(j.appendText(j.room()))
}

// room is where the string mostly fits in.
func (j Jars) room() []byte {
	n := 64 * (1 + len(j.places))
	for _, c := range j.cookies {
		n += len(c.name) + len(c.value) + 16
	}
	return make([]byte, 0, min(n, MaxBytes))
}

func (j Jars) appendText(b []byte) []byte {
	if j.Empty() {
		return b
	}
	b = append(b, version)
	numbers := make([]int, len(j.places)) // from 1
	next := 0
	for _, c := range j.cookies {
		if numbers[c.place] != 0 {
			continue
		}
		next++
		numbers[c.place] = next
		if next > 1 {
			b = append(b, ',')
		}
		b = j.places[c.place].appendText(b)
	}
	for _, c := range j.cookies {
		b = append(b, ';')
		b = strconv.AppendInt(b, int64(numbers[c.place]-1), 36)
		b = c.appendText(b)
	}
	return b
}

func (p place) appendText(b []byte) []byte {
	if p.jar != "" {
		b = append(appendEscaped(b, p.jar), '@')
	}
	if p.below {
		b = append(b, '.')
	}
	domain := p.domain
	if strings.HasPrefix(domain, ".") {
		b, domain = append(b, "%2E"...), domain[1:]
	}
	b = appendEscaped(b, domain)
	if p.path != "/" {
		b = appendEscaped(b, p.path)
	}
	return b
}

func (c cookie) appendText(b []byte) []byte {
	if c.secure {
		b = append(b, 'S')
	}
	latin := !utf8.ValidString(c.name) || !utf8.ValidString(c.value)
	if latin {
		b = append(b, 'L')
	}
	if c.expires != 0 {
		b = append(b, '-')
		b = strconv.AppendInt(b, c.expires, 36)
	}
	b = append(b, ' ')
	if !latin {
		b = append(append(b, c.name...), '=')
		return append(b, c.value...)
	}
	b = append(appendLatin(b, c.name), '=')
	return appendLatin(b, c.value)
}

func appendLatin(b []byte, s string) []byte {
	for i := range len(s) {
		b = utf8.AppendRune(b, rune(s[i]))
	}
	return b
}

// fromLatin is the inverse of appendLatin; a character that is no byte is an
// error.
func fromLatin(s string) (string, error) {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return "", errors.New("a cookie's character is no byte")
		}
		b = append(b, byte(r))
	}
	return string(b), nil
}

// appendEscaped percent-encodes what is not plain in a jar's name, a domain or
// a path. The dot that would mean "and below" is left to the caller.
func appendEscaped(b []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; isPlain(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return b
}

func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || strings.IndexByte("/.-_:~", c) >= 0
}
