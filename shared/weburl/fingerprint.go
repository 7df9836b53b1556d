package weburl

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Fingerprint identifies a request: requests with one fingerprint are
// duplicates of each other. It is Scrapy's, byte for byte, wherever [Canonical]
// is.
type Fingerprint [sha1.Size]byte

// String returns the fingerprint as 40 hexadecimal digits, as Scrapy's
// requests.seen has them.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// RequestFingerprint returns the fingerprint of the request for u. Case does
// not matter in the method, nor does u's fragment. headers are those that make
// a difference (Scrapy's include_headers); nil, the default, means that none
// does.
func RequestFingerprint(method string, u URL, body []byte, headers map[string][]string) Fingerprint {
	return Identity{Method: method, URL: Canonical(u), Body: body, Headers: headers}.Fingerprint()
}

// An Identity is what a fingerprint is made of. Code that wants another notion
// of the same page than RequestFingerprint fills in another URL:
// [CanonicalWithFragment], or [URL.String] for one compared as it is written
// (Scrapy's verbatim_url).
type Identity struct {
	Method string
	URL    string
	Body   []byte

	// Headers that belong to the identity, by name in any case.
	Headers map[string][]string
}

// Fingerprint returns the SHA-1 of id as Python's json.dumps writes it with
// sorted keys; body and headers go in as hexadecimal digits.
func (id Identity) Fingerprint() Fingerprint {
	var space [512]byte
	json := append(space[:0], `{"body": "`...)
	json = hex.AppendEncode(json, id.Body)
	json = append(json, `", "headers": {`...)
	json = appendHeaders(json, id.Headers)
	json = append(json, `}, "method": "`...)
	json = appendJSONText(json, strings.ToUpper(id.Method))
	json = append(json, `", "url": "`...)
	json = appendJSONText(json, id.URL)
	json = append(json, `"}`...)
	return sha1.Sum(json)
}

// appendHeaders appends the headers in the order of their names. The values of
// names that differ in case only are joined.
func appendHeaders(json []byte, headers map[string][]string) []byte {
	if len(headers) == 0 {
		return json
	}
	lower := make(map[string][]string, len(headers))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		key := strings.ToLower(name)
		lower[key] = append(lower[key], headers[name]...)
	}
	for i, name := range slices.Sorted(maps.Keys(lower)) {
		if i > 0 {
			json = append(json, ", "...)
		}
		json = append(json, '"')
		json = hex.AppendEncode(json, []byte(name))
		json = append(json, `": [`...)
		for j, value := range lower[name] {
			if j > 0 {
				json = append(json, ", "...)
			}
			json = append(json, '"')
			json = hex.AppendEncode(json, []byte(value))
			json = append(json, '"')
		}
		json = append(json, ']')
	}
	return json
}

// appendJSONText appends s as the inside of a JSON string in ASCII.
func appendJSONText(json []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			json = appendJSONEscape(json, r)
			i += size
			continue
		}
		i++
		switch {
		case c == '"' || c == '\\':
			json = append(json, '\\', c)
		case ' ' <= c && c <= '~':
			json = append(json, c)
		case c == '\n':
			json = append(json, `\n`...)
		case c == '\r':
			json = append(json, `\r`...)
		case c == '\t':
			json = append(json, `\t`...)
		case c == '\f':
			json = append(json, `\f`...)
		case c == '\b':
			json = append(json, `\b`...)
		default:
			json = appendJSONEscape(json, rune(c))
		}
	}
	return json
}

// appendJSONEscape appends \uXXXX in lower case, twice for a rune beyond the
// first 65,536.
func appendJSONEscape(json []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		json = appendJSONEscape(json, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	const digits = "0123456789abcdef"
	return append(json, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
