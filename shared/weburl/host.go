package weburl

import "strings"

// appendHost appends the host of authority in lower case and returns its port,
// "" if there is none. It reports false unless the host is a DNS name in ASCII
// or an IPv4 address in plain decimals, without user. The host of an http or
// https base, written exactly so, was checked when base was parsed and is taken
// whatever its form.
func appendHost(dst []byte, authority string, base *URL) (out []byte, port string, ok bool) {
	if base != nil && base.isWeb() {
		known := base.text[base.host:base.hostEnd]
		if after, found := strings.CutPrefix(authority, known); found && (after == "" || after[0] == ':') {
			port, ok = plainPort(after)
			return append(dst, known...), port, ok
		}
	}
	host, after := authority, ""
	if i := strings.IndexByte(authority, ':'); i >= 0 {
		host, after = authority[:i], authority[i:]
	}
	if port, ok = plainPort(after); !ok {
		return dst, "", false
	}
	start, label := len(dst), 0 // label is the length of the current label
	for i := range len(host) {
		c := host[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c |= 0x20
			label++
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_':
			label++
		case c == '-':
			// "xn--" says that the label is punycode, which may be wrong.
			if label == 3 && string(dst[len(dst)-3:]) == "xn-" {
				return dst, "", false
			}
			label++
		case c == '.' && label > 0:
			label = 0
		default:
			return dst, "", false
		}
		dst = append(dst, c)
	}
	if label == 0 {
		return dst, "", false
	}
	// A host whose last label is a number is an IPv4 address or an error.
	if last := dst[len(dst)-label]; last < 'a' || last > 'z' {
		return dst, port, plainIPv4(dst[start:])
	}
	return dst, port, true
}

// plainPort reads ":port" and reports whether it needs no rewriting: "" or 1 to
// 65535 without leading zeros.
func plainPort(s string) (string, bool) {
	if len(s) <= 1 {
		return "", true
	}
	port, n := s[1:], 0
	if port[0] == '0' || len(port) > 5 {
		return "", false
	}
	for i := range len(port) {
		if port[i] < '0' || port[i] > '9' {
			return "", false
		}
		n = n*10 + int(port[i]-'0')
	}
	return port, n <= 65535
}

// plainIPv4 reports whether host is four decimal numbers up to 255 without
// leading zeros. Shorter, octal and hexadecimal forms are rewritten by the
// standard.
func plainIPv4(host []byte) bool {
	parts, n, digits := 1, 0, 0
	for _, c := range host {
		switch {
		case c == '.' && digits > 0:
			parts, n, digits = parts+1, 0, 0
		case '0' <= c && c <= '9' && (digits == 0 || n > 0):
			n, digits = n*10+int(c-'0'), digits+1
			if n > 255 {
				return false
			}
		default:
			return false
		}
	}
	return parts == 4 && digits > 0
}
