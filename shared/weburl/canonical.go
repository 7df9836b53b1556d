package weburl

import (
	"bytes"
	"slices"
	"strings"
)

// Canonical returns Scrapy's canonical form of u (w3lib's canonicalize_url):
// two URLs with one canonical form are one page to the dupefilter. It is for
// comparing and storing, and not for sending, as some servers care for order
// and spelling.
//
//   - Query arguments are separated by "&" alone and sorted by name, then
//     value. Repeated arguments stay; empty ones go, and "a" is "a=".
//   - A query's blank is "+"; all else but letters, digits and "-._~" is
//     escaped.
//   - A path's escapes are decoded where the character may stand for itself,
//     and upper case where not: "%7e" is "~", "%2f" is "%2F".
//   - The fragment goes, and so does a "?" without arguments.
//
// It differs from Scrapy in what the WHATWG standard does first: a default port
// is dropped and dot segments are resolved. An escaped percent sign stays
// escaped (as in w3lib since 2026-08), so that the form of a form is itself.
func Canonical(u URL) string { return canonical(u, false) }

// CanonicalWithFragment is Canonical, but keeps the fragment: for sites whose
// pages differ by it (Scrapy's keep_fragments).
func CanonicalWithFragment(u URL) string { return canonical(u, true) }

func canonical(u URL, keepFragment bool) string {
	if u.isOpaque() {
		return canonicalOpaque(u, keepFragment)
	}
	end := u.frag
	if keepFragment {
		end = int32(len(u.text))
	}
	if isCanonical(u) {
		return u.text[:end]
	}
	var space [256]byte
	out := append(space[:0], u.text[:u.host]...)
	if u.isSpecial() {
		out = append(out, u.text[u.host:u.path]...)
	} else {
		// Only a special host is lowered by parsing.
		for _, c := range []byte(u.text[u.host:u.path]) {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			out = append(out, c)
		}
	}
	out = appendCanonicalPath(out, u)
	out = appendCanonicalQuery(out, u.Query())
	out = append(out, u.text[u.frag:end]...)
	return string(out)
}

// canonicalOpaque handles mailto:, data: and their like, whose inside has no
// known meaning. Trailing blanks would not outlive another parsing.
func canonicalOpaque(u URL, keepFragment bool) string {
	if keepFragment {
		return u.text
	}
	return strings.TrimRight(u.text[:u.frag], " ")
}

// isCanonical reports whether u is in canonical form up to its fragment. It may
// say no to one that is.
func isCanonical(u URL) bool {
	if !u.isWeb() || u.hasQuery() && u.query+1 == u.frag {
		return false
	}
	return isLiteral(u.Path(), pathLiteral) && isSortedQuery(u.Query())
}

// Bytes that stand for themselves in the canonical form.
const (
	pathLiteral  byte = 1 << iota // in a path: unreserved, reserved but "#", "?" and "/" when escaped, and "|"
	queryLiteral                  // in a query argument: unreserved
	slash                         // "/" in a path, which is literal only if it was not escaped
)

var literals = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9':
			t[c] = pathLiteral | queryLiteral
		}
	}
	for _, c := range []byte("-._~") {
		t[c] = pathLiteral | queryLiteral
	}
	for _, c := range []byte(":@!$&'()*+,;=[]|") {
		t[c] = pathLiteral
	}
	t['/'] = slash
	return t
}()

func isLiteral(path string, set byte) bool {
	for i := range len(path) {
		if literals[path[i]]&(set|slash) == 0 {
			return false
		}
	}
	return true
}

// appendCanonicalPath appends u's path with alike escapes written alike.
func appendCanonicalPath(dst []byte, u URL) []byte {
	path := u.Path()
	if u.Scheme() == "file" {
		return append(dst, path...) // "C%7C" is a folder, "C|" a drive
	}
	lone := -3 // where in dst a "%" stands that starts no escape
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c != '%' {
			if literals[c]&(pathLiteral|slash) != 0 {
				dst = append(dst, c)
			} else {
				dst = appendEscape(dst, c)
			}
			continue
		}
		c, ok := escapeAt(path, i)
		if !ok {
			lone = len(dst)
			dst = append(dst, '%')
			continue
		}
		i += 2
		// A character that is decoded right behind a lone "%" could make an
		// escape of it, which another pass would decode again.
		if literals[c]&pathLiteral != 0 && len(dst)-lone > 2 {
			dst = append(dst, c)
		} else {
			dst = appendEscape(dst, c)
		}
	}
	return dst
}

// isSortedQuery reports whether query is "name=value&..." in order, of
// unreserved characters only.
func isSortedQuery(query string) bool {
	lastName, lastValue := "", ""
	for first := true; query != "" || !first; first = false {
		pair, rest, more := strings.Cut(query, "&")
		i := 0
		for i < len(pair) && literals[pair[i]]&queryLiteral != 0 {
			i++
		}
		if i == len(pair) || pair[i] != '=' {
			return false
		}
		name, value := pair[:i], pair[i+1:]
		for j := range len(value) {
			if literals[value[j]]&queryLiteral == 0 {
				return false
			}
		}
		if name < lastName || name == lastName && value < lastValue {
			return false
		}
		if !more {
			return true
		}
		lastName, lastValue, query = name, value, rest
	}
	return true
}

// An argument is a name and a value of a query, as indices into its decoded
// text: the name is [start, mid), the value [mid, end).
type argument struct{ start, mid, end int32 }

// appendCanonicalQuery appends "?" and the sorted arguments of query, or
// nothing if there are none.
func appendCanonicalQuery(dst []byte, query string) []byte {
	if query == "" {
		return dst
	}
	var fewArgs [16]argument // these two spare the heap for all but long queries
	var shortText [256]byte
	args, text := fewArgs[:0], shortText[:0]
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		arg := argument{start: int32(len(text))}
		text = appendDecoded(text, name)
		arg.mid = int32(len(text))
		text = appendDecoded(text, value)
		arg.end = int32(len(text))
		args = append(args, arg)
	}
	slices.SortFunc(args, func(a, b argument) int {
		if c := bytes.Compare(text[a.start:a.mid], text[b.start:b.mid]); c != 0 {
			return c
		}
		return bytes.Compare(text[a.mid:a.end], text[b.mid:b.end])
	})
	separator := byte('?')
	for _, arg := range args {
		dst = append(dst, separator)
		dst = appendArgument(dst, text[arg.start:arg.mid])
		dst = append(dst, '=')
		dst = appendArgument(dst, text[arg.mid:arg.end])
		separator = '&'
	}
	return dst
}

// appendDecoded appends s with "+" and escapes decoded.
func appendDecoded(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '+' {
			c = ' '
		} else if decoded, ok := escapeAt(s, i); ok {
			c, i = decoded, i+2
		}
		dst = append(dst, c)
	}
	return dst
}

// appendArgument appends a name or a value of a query, escaped.
func appendArgument(dst, s []byte) []byte {
	for _, c := range s {
		switch {
		case literals[c]&queryLiteral != 0:
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = appendEscape(dst, c)
		}
	}
	return dst
}
