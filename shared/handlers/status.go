package handlers

import (
	"bytes"
	"strings"
)

// status works on what should be a status line.
func (h *head) status(text []byte) ([]byte, bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		h.blank++
		if h.blank > mostBlankLines {
			h.done = true
			return nil, true
		}
		h.odd |= oddBlankLine
		return nil, false
	}
	if len(text) >= 12 && (string(text[:9]) == "HTTP/1.1 " || string(text[:9]) == "HTTP/1.0 ") &&
		isNumber(text[9:12]) && (len(text) == 12 || text[12] == ' ') {
		h.started, h.informal = true, isInformal(text[9:12])
		return nil, true
	}
	version, code, reason, ok := readStatus(text)
	if !ok {
		h.done = true
		return nil, true
	}
	h.started, h.informal = true, isInformal([]byte(code))
	h.odd |= oddStatusLine
	return []byte("HTTP/" + version + " " + code + " " + reason + "\r\n"), false
}

// isInformal reports whether another head follows that of a status: after all
// of 1xx but 101, which changes the protocol.
func isInformal(code []byte) bool { return code[0] == '1' && string(code) != "101" }

// readStatus reads a status line that is not as it should be. ok is false where
// it is none at all. Like browsers it passes over up to four bytes of junk,
// takes every version below 1.1 for 1.0 and one above for 1.1, and takes a
// missing number for 200.
func readStatus(text []byte) (version, code, reason string, ok bool) {
	const junk, longest = 4, 1024
	s := string(text[:min(len(text), longest)])
	start := 0
	for start < min(len(s), junk) && !hasPrefixFold(s[start:], "HTTP/") {
		start++
	}
	switch {
	case hasPrefixFold(s[start:], "HTTP/"):
		version, s = cutBlank(s[start+len("HTTP/"):])
		if version >= "1.1" && version[0] <= '9' {
			version = "1.1"
		} else {
			version = "1.0"
		}
	case hasPrefixFold(s, "ICY "): // SHOUTcast
		version, s = "1.0", s[4:]
	default:
		return "", "", "", false
	}
	s = strings.Trim(s, " \t\r")
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	switch code, reason = s[:digits], strings.Trim(s[digits:], " \t"); digits {
	case 0:
		code = "200"
	case 3:
	default:
		return "", "", "", false
	}
	return version, code, reason, true
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func cutBlank(s string) (before, after string) {
	if n := strings.IndexAny(s, " \t"); n >= 0 {
		return s[:n], s[n+1:]
	}
	return s, ""
}

// isNumber reports whether s has digits only, and not more than a length may.
func isNumber(s []byte) bool {
	for n := range len(s) {
		if s[n] < '0' || s[n] > '9' {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 18
}
