package extract

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

const (
	nameUTF8        = "utf-8"
	nameWindows1252 = "windows-1252"
)

// DetectEncoding returns the name of a page's encoding, in lower case, as in
// the WHATWG Encoding Standard (https://encoding.spec.whatwg.org). The first
// of these that says something decides:
//
//  1. a byte order mark,
//  2. the charset of contentType, the Content-Type header,
//  3. a meta element, or else an XML declaration (not in JSON, CSS and scripts),
//  4. the bytes themselves: escape sequences of iso-2022-jp, then valid UTF-8,
//  5. a guess from the frequency of letters, and windows-1252 without one.
//
// A label that is unknown, or that the standard replaces by an error for the
// safety of browsers (iso-2022-kr), says nothing. It never fails.
func DetectEncoding(body []byte, contentType string) string {
	name, _ := detect(body, contentType)
	return name
}

// detect also returns the length of the byte order mark, which is no text.
func detect(body []byte, contentType string) (name string, mark int) {
	if name, mark = byteOrderMark(body); mark > 0 {
		return name, mark
	}
	if name = canonicalName(charsetParameter(contentType)); name != "" {
		return name, 0
	}
	if hasMarkup(contentType) {
		if name = prescan(body); name != "" {
			return name, 0
		}
		if name = xmlDeclaration(body); name != "" {
			return name, 0
		}
	}
	switch {
	case isISO2022JP(body):
		return "iso-2022-jp", 0
	case utf8.Valid(withoutCutRune(body)):
		return nameUTF8, 0
	}
	return guess(body), 0
}

func byteOrderMark(body []byte) (name string, length int) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return nameUTF8, 3
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return "utf-16be", 2
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return "utf-16le", 2
	}
	return "", 0
}

// canonicalName returns the standard's name for a label, "" for a label that
// says nothing.
func canonicalName(label string) string {
	if label == "" {
		return ""
	}
	enc, err := htmlindex.Get(label)
	if err != nil || enc == encoding.Replacement {
		return ""
	}
	name, err := htmlindex.Name(enc)
	if err != nil {
		return ""
	}
	return name
}

// charsetParameter returns the value of "charset=" in a Content-Type, or in
// the content of a meta element, by the standard's algorithm for the latter,
// which takes what servers write by hand.
func charsetParameter(s string) string {
	lower := strings.ToLower(s)
	for at := 0; ; {
		i := strings.Index(lower[at:], "charset")
		if i < 0 {
			return ""
		}
		at += i + len("charset")
		rest := strings.TrimLeft(lower[at:], " \t\n\f\r")
		rest, found := strings.CutPrefix(rest, "=")
		if !found {
			continue
		}
		rest = strings.TrimLeft(rest, " \t\n\f\r")
		if rest == "" {
			return ""
		}
		if quote := rest[:1]; quote == `"` || quote == "'" {
			value, _, closed := strings.Cut(rest[1:], quote)
			if !closed {
				return ""
			}
			return value
		}
		if end := strings.IndexAny(rest, " \t\n\f\r;"); end >= 0 {
			rest = rest[:end]
		}
		return rest
	}
}

// hasMarkup reports whether a body of this type may have elements. In JSON and
// in programs, "<meta charset" and "<base href" are somebody's text.
func hasMarkup(contentType string) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	return !strings.Contains(media, "json") && !strings.Contains(media, "javascript") && !strings.Contains(media, "css")
}

// isISO2022JP reports whether the body is in the one encoding that looks like
// ASCII and is not.
func isISO2022JP(body []byte) bool {
	if bytes.IndexByte(body, 0x1b) < 0 {
		return false
	}
	switches := bytes.Contains(body, []byte("\x1b$B")) || bytes.Contains(body, []byte("\x1b$@")) || bytes.Contains(body, []byte("\x1b(J"))
	if !switches {
		return false
	}
	for _, c := range body {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// withoutCutRune drops the beginning of a rune at the end of a body that was
// cut off, which would make valid UTF-8 look like something else.
func withoutCutRune(body []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(body); back++ {
		if c := body[len(body)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(body[len(body)-back:]) {
				return body[:len(body)-back]
			}
			break
		}
	}
	return body
}

// decode returns the body in UTF-8. What is UTF-8 already is returned as it
// is, and not copied. Bytes that mean nothing become U+FFFD.
func decode(body []byte, name string) []byte {
	if name == nameUTF8 {
		if utf8.Valid(body) {
			return body
		}
		return bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	text, err := encodingNamed(name).NewDecoder().Bytes(body)
	if err != nil { // the decoders of x/text replace, so this is out of reach
		return bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	return text
}

func encodingNamed(name string) encoding.Encoding {
	enc, err := htmlindex.Get(name)
	if err != nil {
		return encoding.Nop
	}
	return enc
}
