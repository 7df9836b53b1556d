package cookies

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parse reads what [Jars.String] wrote. An error says what is wrong where, and
// has nothing of the text in it, which is secret.
func Parse(text string) (Jars, error) {
	if text == "" {
		return Jars{}, nil
	}
	switch {
	case len(text) > MaxBytes:
		return Jars{}, fmt.Errorf("jars: %d bytes are more than %d", len(text), MaxBytes)
	case text[0] != version:
		return Jars{}, errors.New("jars: of a version that is not known: this one is " + string(version))
	case !utf8.ValidString(text) || hasControl(text):
		return Jars{}, errors.New("jars: not UTF-8, or with control characters")
	}
	places, list, _ := strings.Cut(text[1:], ";")
	j := Jars{
		places:  make([]place, 0, 1+strings.Count(places, ",")),
		cookies: make([]cookie, 0, 1+strings.Count(list, ";")),
	}
	for more := true; more; {
		var field string
		field, places, more = strings.Cut(places, ",")
		p, err := parsePlace(field)
		if err != nil {
			return Jars{}, fmt.Errorf("jars: place %d: %w", len(j.places), err)
		}
		j.places = append(j.places, p)
	}
	for more := true; more; {
		var field string
		field, list, more = strings.Cut(list, ";")
		c, err := parseCookie(field, len(j.places))
		if err != nil {
			return Jars{}, fmt.Errorf("jars: cookie %d: %w", len(j.cookies), err)
		}
		j.cookies = append(j.cookies, c)
	}
	return j, nil
}

func parsePlace(field string) (p place, err error) {
	jar, rest, named := strings.Cut(field, "@")
	if !named {
		jar, rest = "", field
	}
	rest, p.below = strings.CutPrefix(rest, ".")
	path := "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		rest, path = rest[:i], rest[i:]
	}
	for _, part := range []struct {
		to   *string
		text string
	}{{&p.jar, jar}, {&p.domain, rest}, {&p.path, path}} {
		if *part.to, err = unescaped(part.text); err != nil {
			return p, err
		}
	}
	if p.domain == "" || strings.Contains(p.domain, "/") {
		return p, errors.New("no domain")
	}
	return p, nil
}

func parseCookie(field string, places int) (c cookie, err error) {
	head, pair, ok := strings.Cut(field, " ")
	if !ok {
		return c, errors.New("no blank before its name")
	}
	if c.name, c.value, ok = strings.Cut(pair, "="); !ok {
		return c, errors.New(`no "=" after its name`)
	}
	head, expiry, ends := strings.Cut(head, "-")
	if ends {
		c.expires, err = strconv.ParseInt(expiry, 36, 64)
		if err != nil || c.expires <= 0 {
			return c, errors.New("its expiry is no time")
		}
	}
	head, latin := strings.CutSuffix(head, "L")
	head, c.secure = strings.CutSuffix(head, "S")
	n, err := strconv.ParseUint(head, 36, 31)
	if err != nil || n >= uint64(places) {
		return c, errors.New("its place is not there")
	}
	c.place = int(n)
	if !latin {
		return c, nil
	}
	if c.name, err = fromLatin(c.name); err != nil {
		return c, err
	}
	c.value, err = fromLatin(c.value)
	return c, err
}

// unescaped is the inverse of appendEscaped.
func unescaped(s string) (string, error) {
	if strings.IndexByte(s, '%') < 0 {
		return s, nil
	}
	var b strings.Builder
	for s != "" {
		if s[0] != '%' {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		if len(s) < 3 {
			return "", errors.New("an escape is cut off")
		}
		n, err := strconv.ParseUint(s[1:3], 16, 8)
		if err != nil {
			return "", errors.New("an escape has no hexadecimal digits")
		}
		b.WriteByte(byte(n))
		s = s[3:]
	}
	return b.String(), nil
}
