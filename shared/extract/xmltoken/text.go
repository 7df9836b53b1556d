package xmltoken

import (
	"bytes"
	"encoding/xml"
	"html"
	"unicode/utf8"
)

// maxEntity is the length of the longest reference that is looked at, its "&"
// and ";" included.
const maxEntity = 32

// clean returns text as XML has it: a line ends with a line feed, control
// characters are left out, and what is no UTF-8 is U+FFFD. It makes a copy only
// if something is to be changed.
func (r *Reader) clean(b []byte) []byte {
	i := 0
	ascii := true
	for i < len(b) && !isControl(b[i]) {
		ascii = ascii && b[i] < utf8.RuneSelf
		i++
	}
	if i < len(b) {
		out := append(r.scratch[:0], b[:i]...)
		for ; i < len(b); i++ {
			switch c := b[i]; {
			case c == '\r':
				if i+1 == len(b) || b[i+1] != '\n' {
					out = append(out, '\n')
				}
			case !isControl(c):
				ascii = ascii && c < utf8.RuneSelf
				out = append(out, c)
			}
		}
		r.scratch, b = out, out
	}
	if !ascii && !utf8.Valid(b) {
		return bytes.ToValidUTF8(b, []byte("\ufffd"))
	}
	return b
}

// isControl reports whether clean has to look at a byte. Source: XML 1.0, Char.
func isControl(c byte) bool { return c < ' ' && c != '\n' && c != '\t' }

// unescape replaces the references in text.
func (r *Reader) unescape(b []byte) []byte {
	at := bytes.IndexByte(b, '&')
	if at < 0 {
		return b
	}
	out := append(make([]byte, 0, len(b)), b[:at]...)
	for b = b[at:]; len(b) > 0; {
		if n, text := reference(b); n > 0 {
			out = append(out, text...)
			b = b[n:]
			continue
		}
		next := bytes.IndexByte(b[1:], '&') + 1
		if next == 0 {
			next = len(b)
		}
		out = append(out, b[:next]...)
		b = b[next:]
	}
	return out
}

// reference reads the reference at the beginning of b. It returns its length
// and what it stands for, and 0 for one that is unknown.
func reference(b []byte) (n int, text string) {
	if len(b) == 0 || b[0] != '&' {
		return 0, ""
	}
	end := bytes.IndexByte(b[:min(len(b), maxEntity)], ';')
	if end < 2 {
		return 0, ""
	}
	name := string(b[1:end])
	if name[0] == '#' {
		text = html.UnescapeString(string(b[:end+1]))
		if text[0] == '&' && len(text) > 1 {
			return 0, ""
		}
		if len(text) == 1 && (isControl(text[0]) && text[0] != '\r') {
			text = ""
		}
		return end + 1, text
	}
	switch name {
	case "amp":
		return end + 1, "&"
	case "lt":
		return end + 1, "<"
	case "gt":
		return end + 1, ">"
	case "quot":
		return end + 1, `"`
	case "apos":
		return end + 1, "'"
	}
	if text, known := xml.HTMLEntity[name]; known {
		return end + 1, text
	}
	return 0, ""
}

// attributeValue is the text of an attribute's value, in which blanks of all
// kinds are blanks.
func (r *Reader) attributeValue(b []byte) []byte {
	b = r.clean(b)
	if bytes.ContainsAny(b, "\n\t") {
		b = bytes.Map(func(c rune) rune {
			if c == '\n' || c == '\t' {
				return ' '
			}
			return c
		}, b)
	}
	return r.unescape(b)
}

// cutEntity returns how much of b ends with no reference that may go on.
func cutEntity(b []byte) int {
	tail := max(1, len(b)-maxEntity)
	if tail >= len(b) {
		return len(b)
	}
	at := bytes.LastIndexByte(b[tail:], '&')
	if at < 0 || bytes.IndexByte(b[tail+at:], ';') >= 0 {
		return len(b)
	}
	return tail + at
}
