package weburl

import "strings"

// schemeOf returns the scheme that s starts with: a letter, then letters,
// digits, "+", "-" and ".", up to a colon. It returns "" if there is none.
func schemeOf(s string) string {
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return s[:i]
		default:
			return ""
		}
	}
	return ""
}

// cutWebScheme cuts "http:" or "https:" off s, in any case, and returns the
// scheme in lower case; "" if s starts with neither.
func cutWebScheme(s string) (scheme, rest string) {
	if len(s) >= 5 && strings.EqualFold(s[:5], "http:") {
		return "http", s[5:]
	}
	if len(s) >= 6 && strings.EqualFold(s[:6], "https:") {
		return "https", s[6:]
	}
	return "", s
}

// isSpecialScheme reports whether the standard calls scheme special: its URLs
// have a host, "\" is read as "/", and the query may follow the page's
// encoding.
func isSpecialScheme(scheme string) bool {
	switch scheme {
	case "http", "https", "ws", "wss", "ftp", "file":
		return true
	}
	return false
}

// defaultPort returns the port of scheme, which is http or https.
func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// trimSpace cuts C0 controls and spaces off both ends.
func trimSpace(s string) string {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}
