package handlers

import (
	"bytes"
	"errors"
	"strings"
)

// An oddity is something in the head of an answer that browsers let pass and
// net/http does not. Each is a bit of a set.
type oddity uint16

const (
	oddBlankLine oddity = 1 << iota
	oddStatusLine
	oddNoColon
	oddName
	oddControl
	oddFold
	oddLength
	oddCoding
	oddEnd
)

// oddities are the words for them, in the order of their bits.
var oddities = [...]string{
	"a blank line before the status", "an odd status line", "a header line without colon", "a header name that is none",
	"a control character in a header", "a folded line without header", "an odd Content-Length", "an odd Transfer-Encoding",
	"headers without end",
}

func (o oddity) String() string {
	var words []string
	for n, word := range oddities {
		if o&(1<<n) != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// mostBlankLines is how many blank lines may stand before an answer: some
// servers send one after a body, or print one before their headers.
const mostBlankLines = 8

var errHeadTooLarge = errors.New("the headers are larger than 256 KiB")

// A head makes of the lines of an answer's head what net/http takes, as browsers
// read them: Chromium's http_response_headers.cc and http_stream_parser.cc,
// where RFC 9112 leaves a choice. The zero value waits for a status line.
type head struct {
	odd  oddity
	size int  // bytes seen
	done bool // what follows is the body, or is not understood

	started   bool // the status line was seen
	informal  bool // of a status 1xx: another head follows
	named     bool // a header line was passed on, which a folded one may follow
	blank     int  // blank lines before the status
	hasLength bool // a Content-Length that is a number
	badLength bool // and one that is none
	chunked   bool
}

// next is the head that follows one of a status 1xx. It counts on.
func (h *head) next() { *h = head{odd: h.odd, size: h.size} }

// line works on one line with its end, and reports whether it may stay as it is.
// If not, replacement stands in for it.
func (h *head) line(line []byte) (replacement []byte, keep bool) {
	h.size += len(line)
	text := bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
	switch {
	case !h.started:
		return h.status(text)
	case len(text) == 0:
		h.done = !h.informal
		if h.informal {
			h.next()
		}
		return nil, true
	case text[0] == ' ' || text[0] == '\t':
		if !h.named {
			h.odd |= oddFold
			return nil, false
		}
		return h.value(text, 0)
	case text[0] == '\r' && len(bytes.Trim(text, "\r")) == 0:
		h.odd |= oddControl
		h.line([]byte("\n"))
		return []byte("\r\n"), false
	}
	return h.header(text)
}

// drop leaves a line away, and what is folded under it.
func (h *head) drop(o oddity) ([]byte, bool) {
	h.odd |= o
	h.named = false
	return nil, false
}

func (h *head) header(text []byte) ([]byte, bool) {
	colon := bytes.IndexByte(text, ':')
	if colon < 0 {
		return h.drop(oddNoColon)
	}
	name := text[:colon]
	if !isToken(name) {
		name = bytes.TrimRight(name, " \t")
		if !isToken(name) {
			return h.drop(oddName)
		}
		// RFC 9112, section 5.1: a recipient removes blanks before the colon.
		h.odd |= oddName
		text = append(append(bytes.Clone(name), ':'), text[colon+1:]...)
		again, keep := h.header(text)
		if keep {
			again = append(text, "\r\n"...)
		}
		return again, false
	}
	switch {
	case len(name) == len("Content-Length") && bytes.EqualFold(name, []byte("Content-Length")):
		return h.contentLength(bytes.Trim(text[colon+1:], " \t"))
	case len(name) == len("Transfer-Encoding") && bytes.EqualFold(name, []byte("Transfer-Encoding")):
		return h.transferEncoding(bytes.Trim(text[colon+1:], " \t"))
	}
	h.named = true
	return h.value(text, colon+1)
}

// value puts a blank for each control character from a place on, as RFC 9110,
// section 5.5, has it for those that end lines or strings.
func (h *head) value(text []byte, from int) ([]byte, bool) {
	n := from
	for n < len(text) && !control[text[n]] {
		n++
	}
	if n == len(text) {
		return nil, true
	}
	h.odd |= oddControl
	out := append(bytes.Clone(text), "\r\n"...)
	for n := from; n < len(text); n++ {
		if control[out[n]] {
			out[n] = ' '
		}
	}
	return out, false
}

// contentLength passes on a length that is a number. What is none is as if it
// was not there; two that differ are left to net/http, which refuses them as
// browsers do.
func (h *head) contentLength(value []byte) ([]byte, bool) {
	if !isNumber(value) {
		first, rest, isList := bytes.Cut(value, []byte(","))
		first = bytes.TrimSpace(first)
		switch {
		case isList && isNumber(first):
			if h.badLength {
				return []byte("Content-Length: differs\r\n"), false
			}
			for part := range bytes.SplitSeq(rest, []byte(",")) {
				if !bytes.Equal(bytes.TrimSpace(part), first) {
					h.named = true
					return nil, true
				}
			}
			h.odd |= oddLength
			h.hasLength, h.named = true, true
			return []byte("Content-Length: " + string(first) + "\r\n"), false
		case h.hasLength:
			h.named = true
			return nil, true
		}
		h.badLength = true
		return h.drop(oddLength)
	}
	h.hasLength, h.named = true, true
	if h.badLength {
		return []byte("Content-Length: differs\r\n"), false
	}
	return nil, true
}

// transferEncoding leaves away the coding that is none, and "chunked" where it
// was said before. What else there may be, net/http refuses.
func (h *head) transferEncoding(value []byte) ([]byte, bool) {
	chunked := false
	for coding := range bytes.SplitSeq(value, []byte(",")) {
		switch coding = bytes.TrimSpace(coding); {
		case bytes.EqualFold(coding, []byte("chunked")):
			chunked = true
		case !bytes.EqualFold(coding, []byte("identity")):
			h.named = true
			return nil, true
		}
	}
	if !chunked || h.chunked {
		return h.drop(oddCoding)
	}
	h.chunked, h.named = true, true
	if len(value) != len("chunked") {
		h.odd |= oddCoding
		return []byte("Transfer-Encoding: chunked\r\n"), false
	}
	return nil, true
}

func isToken[T []byte | string](s T) bool {
	for n := range len(s) {
		if !token[s[n]] {
			return false
		}
	}
	return len(s) > 0
}

func hasControl(s string) bool {
	for n := range len(s) {
		if control[s[n]] {
			return true
		}
	}
	return false
}

// token are the bytes of a token, as a header's name is one. Source: RFC 9110,
// section 5.6.2.
var token = func() (t [256]bool) {
	for _, b := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		t[b] = true
	}
	return t
}()

// control are the bytes that net/http does not take in a header's value.
var control = func() (t [256]bool) {
	for b := range 0x20 {
		t[b] = b != '\t'
	}
	t[0x7f] = true
	return t
}()

// indexLine is the length of the line that data begins with, 0 if
// it has no end.
func indexLine(data []byte) int {
	return bytes.IndexByte(data, '\n') + 1
}
