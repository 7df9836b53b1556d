package weburl

import "strings"

// appendPath appends the path p, which has no leading slash, to dst. dst ends
// with a slash; dst[root] is the first slash of the path. Dot segments are
// resolved. seen is the union of the classes of p's bytes.
func appendPath(dst []byte, root int, p string, seen byte) []byte {
	if !mayHaveDots(p, seen) {
		if seen&inPath == 0 {
			return append(dst, p...)
		}
		return appendEscaped(dst, p, inPath)
	}
	for {
		segment, rest, more := strings.Cut(p, "/")
		switch dots(segment) {
		case 0:
			dst = appendEscaped(dst, segment, inPath)
			if more {
				dst = append(dst, '/')
			}
		case 1:
			// "." names the directory that dst already ends with.
		case 2:
			dst = parent(dst, root)
		}
		if !more {
			return dst
		}
		p = rest
	}
}

// parent cuts the last segment off dst, which ends with a slash, and keeps the
// slash before it. The root has no parent but itself.
func parent(dst []byte, root int) []byte {
	for i := len(dst) - 2; i >= root; i-- {
		if dst[i] == '/' {
			return dst[:i+1]
		}
	}
	return dst
}

// mayHaveDots reports whether a segment of p may be a dot segment. It says yes
// too often, never too seldom.
func mayHaveDots(p string, seen byte) bool {
	if strings.HasPrefix(p, ".") || strings.Contains(p, "/.") {
		return true
	}
	return seen&percent != 0 && (strings.Contains(p, "%2e") || strings.Contains(p, "%2E"))
}

// dots returns how many dots segment consists of, one or two, a dot being "."
// or "%2e" in either case. It returns 0 for any other segment.
func dots(segment string) int {
	n := 0
	for len(segment) > 0 {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && segment[0] == '%' && segment[1] == '2' && segment[2]|0x20 == 'e':
			segment = segment[3:]
		default:
			return 0
		}
		if n++; n > 2 {
			return 0
		}
	}
	return n
}
