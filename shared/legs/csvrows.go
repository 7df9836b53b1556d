package legs

import (
	"bytes"
	"unicode/utf8"
)

// csvRows reads rows of CSV as Python's csv does it: a field that begins with a
// quote goes on to the next single quote, line ends and delimiters included; a
// quote within another field is a letter. A quote that never closes makes a bad
// row of its line, and the lines after it are read as if it was not there.
type csvRows struct {
	rest      []byte
	delimiter rune
	quote     rune
	line      int // of rest, from 1

	// vain is how many bytes may still be read for rows whose quotes never
	// close. After that a quote that does not close in its line is a letter, so
	// that a hostile file is read in linear time.
	vain int
}

// leastVain is what may be read in vain of a small file.
const leastVain = 4 << 20

// next returns the fields of the next row and the number of its line, false for
// a bad row, and nil fields at the end. Lines without anything are passed over.
func (r *csvRows) next() (fields []string, line int, ok bool) {
	for {
		n := lineEnd(r.rest)
		if n == 0 {
			break
		}
		r.rest = r.rest[n:]
		r.line++
	}
	line = r.line
	if len(r.rest) == 0 {
		return nil, line, true
	}
	scope := r.rest
	if r.vain <= 0 {
		scope = scope[:lineLength(scope)]
	}
	fields, n, closed := r.row(scope)
	if !closed {
		r.vain -= len(r.rest)
		n = lineLength(r.rest)
		n += lineEnd(r.rest[n:])
		fields = []string{}
	}
	r.line += lines(r.rest[:n])
	r.rest = r.rest[n:]
	return fields, line, closed
}

// row reads one row at the beginning of b, and returns its length with the line
// end.
func (r *csvRows) row(b []byte) (fields []string, n int, closed bool) {
	for {
		field, length, closed := r.field(b[n:])
		if !closed {
			return nil, 0, false
		}
		fields = append(fields, field)
		n += length
		if c, size := utf8.DecodeRune(b[n:]); n < len(b) && c == r.delimiter {
			n += size
			continue
		}
		return fields, n + lineEnd(b[n:]), true
	}
}

// field reads one field, up to a delimiter or a line end.
func (r *csvRows) field(b []byte) (field string, n int, closed bool) {
	var text []byte
	if c, size := utf8.DecodeRune(b); len(b) > 0 && c == r.quote {
		var inside int
		text, inside, closed = r.quoted(b[size:])
		if !closed && r.vain > 0 {
			return "", 0, false
		}
		if closed {
			n = size + inside
		}
	}
	start := n
	for n < len(b) && lineEnd(b[n:]) == 0 {
		c, size := utf8.DecodeRune(b[n:])
		if c == r.delimiter {
			break
		}
		n += size
	}
	return string(append(text, b[start:n]...)), n, true
}

// quoted reads what stands between quotes; a double quote is one.
func (r *csvRows) quoted(b []byte) (text []byte, n int, closed bool) {
	quote := utf8.AppendRune(nil, r.quote)
	for {
		i := bytes.Index(b[n:], quote)
		if i < 0 {
			return nil, 0, false
		}
		text = append(text, b[n:n+i]...)
		n += i + len(quote)
		if !bytes.HasPrefix(b[n:], quote) {
			return text, n, true
		}
		text = append(text, quote...)
		n += len(quote)
	}
}

// lineEnd returns the length of the line end that b begins with.
func lineEnd(b []byte) int {
	switch {
	case len(b) == 0:
		return 0
	case b[0] == '\n':
		return 1
	case b[0] == '\r' && len(b) > 1 && b[1] == '\n':
		return 2
	case b[0] == '\r':
		return 1
	}
	return 0
}

// lineLength returns the length of the first line without its end.
func lineLength(b []byte) int {
	if i := bytes.IndexAny(b, "\r\n"); i >= 0 {
		return i
	}
	return len(b)
}

// lines counts the line ends in b.
func lines(b []byte) int {
	n := 0
	for len(b) > 0 {
		b = b[lineLength(b):]
		if end := lineEnd(b); end > 0 {
			n++
			b = b[end:]
		}
	}
	return n
}
