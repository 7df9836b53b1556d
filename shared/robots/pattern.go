package robots

import "strings"

// A rule is one Allow or Disallow line, taken apart so that matching needs one
// walk along the path, whatever the pattern.
type rule struct {
	prefix   string   // what the path starts with
	parts    []string // what follows, each anywhere behind the one before
	anchored bool     // the path ends with the last part, or is the prefix
	allow    bool
	octets   int // length of the pattern, escapes written alike
}

// compile takes a pattern apart.
//
// RFC 9309, 2.2.3: "*" designates 0 or more instances of any character, "$"
// the end of the match pattern. Both are themselves when escaped.
func compile(pattern string, allow bool) rule {
	r := rule{allow: allow}
	pattern, r.anchored = strings.CutSuffix(pattern, "$")
	if r.anchored {
		r.octets++
	}
	r.octets += strings.Count(pattern, "*")
	if strings.HasSuffix(pattern, "*") {
		r.anchored = false // the star takes all up to the end
	}
	first := true
	for part := range strings.SplitSeq(pattern, "*") {
		part = normalize(part)
		r.octets += len(part)
		if first {
			r.prefix = part
		} else if part != "" {
			r.parts = append(r.parts, part)
		}
		first = false
	}
	return r
}

// matches reports whether the rule is about path, a normalized path.
//
// RFC 9309, 2.2.2: "The matching MUST start with the first octet of the path.
// [...] The match evaluates positively if and only if the end of the path from
// the rule is reached before a difference in octets is encountered."
//
// Each part is taken at its first place: a later one would leave less to the
// parts behind it.
func (r rule) matches(path string) bool {
	rest, ok := strings.CutPrefix(path, r.prefix)
	if !ok {
		return false
	}
	parts := r.parts
	if r.anchored {
		if len(parts) == 0 {
			return rest == ""
		}
		if rest, ok = strings.CutSuffix(rest, parts[len(parts)-1]); !ok {
			return false
		}
		parts = parts[:len(parts)-1]
	}
	for _, part := range parts {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return true
}

// normalize writes escapes alike in a rule and in a URL.
//
// RFC 9309, 2.2.2: "Octets in the URI and robots.txt paths outside the range of
// the ASCII coded character set, and those in the reserved range defined by
// RFC 3986, MUST be percent-encoded as defined by RFC 3986 prior to comparison.
// If a percent-encoded ASCII octet is encountered in the URI, it MUST be
// unencoded prior to comparison, unless it is a reserved character in the URI
// as defined by RFC 3986 or the character is outside the unreserved character
// range."
//
// A reserved octet that stands unescaped stays so: "/" would match nothing
// otherwise. "*" and "$" are decoded, as here they have no meaning any more.
func normalize(s string) string {
	i := 0
	for i < len(s) && kinds[s[i]] == plain {
		i++
	}
	if i == len(s) {
		return s
	}
	out := make([]byte, i, len(s)+16)
	copy(out, s)
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			c = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
			if isUnreserved(c) || c == '*' || c == '$' {
				out = append(out, c)
			} else {
				out = appendEscape(out, c)
			}
		case c == '%' || kinds[c] == plain:
			out = append(out, c)
		default:
			out = appendEscape(out, c)
		}
	}
	return string(out)
}

// plain is the kind of the octets that stand for themselves: unreserved and
// reserved ones.
const plain = 1

var kinds = func() (t [256]byte) {
	for c := range 256 {
		if isUnreserved(byte(c)) || strings.IndexByte(":/?#[]@!$&'()*+,;=", byte(c)) >= 0 {
			t[c] = plain
		}
	}
	return t
}()

// isUnreserved follows RFC 3986, 2.3.
func isUnreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// unhex returns the value of the hexadecimal digit c.
func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}
