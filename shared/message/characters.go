package message

import (
	"fmt"
	"unicode/utf8"
)

// isTaken reports whether SQS takes a message that has the character, which is
// one of UTF-8 and so no surrogate. Source: Amazon SQS API Reference,
// SendMessage: "#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000
// to #x10FFFF", which is XML 1.0's own list.
func isTaken(r rune) bool {
	if r < 0x20 {
		return r == '\t' || r == '\n' || r == '\r'
	}
	return r != 0xfffe && r != 0xffff
}

// sendable returns JSON that means the same as data and has only characters
// that SQS takes: the others can stand in strings only, where they are escaped.
// Bytes that are no UTF-8 become U+FFFD, which is what reading makes of them.
// Data that is not changed is returned itself.
func sendable(data []byte) []byte {
	var out []byte
	copied := 0
	for i := 0; i < len(data); {
		if c := data[i]; 0x20 <= c && c < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		broken := r == utf8.RuneError && size == 1
		if broken || !isTaken(r) {
			out = append(out, data[copied:i]...)
			if broken {
				out = utf8.AppendRune(out, utf8.RuneError)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			copied = i + size
		}
		i += size
	}
	if copied == 0 {
		return data
	}
	return append(out, data[copied:]...)
}
