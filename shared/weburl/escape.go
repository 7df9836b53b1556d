package weburl

// What a byte means in an http or https URL. A byte of no class stands for
// itself in path, query and fragment.
const (
	inPath     byte = 1 << iota // escaped in a path
	inQuery                     // escaped in a query
	inFragment                  // escaped in a fragment
	nonASCII                    // part of a UTF-8 sequence; escaped everywhere
	percent                     // may start an escape
	lineBreak                   // dropped wherever it stands: tab, line feed, carriage return
	backslash                   // a slash, before the query
)

// classes follows the percent-encode sets of the WHATWG URL standard, section
// 1.3, for special schemes.
var classes = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case c >= 0x80:
			t[c] = nonASCII | inPath | inQuery | inFragment
		case c <= 0x20 || c == 0x7f:
			t[c] = inPath | inQuery | inFragment
		}
	}
	for _, c := range []byte("\"<>") {
		t[c] = inPath | inQuery | inFragment
	}
	for _, c := range []byte("{}^") {
		t[c] = inPath
	}
	t['`'] = inPath | inFragment
	t['\''] = inQuery
	t['%'] = percent
	t['\\'] = backslash
	for _, c := range []byte("\t\n\r") {
		t[c] = lineBreak
	}
	return t
}()

// classesOf returns the union of the classes of s's bytes.
func classesOf(s string) (seen byte) {
	for i := range len(s) {
		seen |= classes[s[i]]
	}
	return seen
}

// appendEscaped appends s to dst, percent-encoding the bytes of the class set.
func appendEscaped(dst []byte, s string, set byte) []byte {
	for i := range len(s) {
		if classes[s[i]]&set != 0 {
			dst = appendEscape(dst, s[i])
		} else {
			dst = append(dst, s[i])
		}
	}
	return dst
}

// appendEscape appends c as "%XX", with upper-case digits.
func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}

// escapeAt returns the byte that the escape at s[i] stands for, and false if
// there is no "%XX".
func escapeAt(s string, i int) (byte, bool) {
	if i+2 >= len(s) || s[i] != '%' {
		return 0, false
	}
	hi, lo := unhex[s[i+1]], unhex[s[i+2]]
	if hi > 15 || lo > 15 {
		return 0, false
	}
	return hi<<4 | lo, true
}

// unhex holds the value of each hexadecimal digit, and 255 elsewhere.
var unhex = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case '0' <= c && c <= '9':
			t[c] = byte(c - '0')
		case 'a' <= c && c <= 'f':
			t[c] = byte(c - 'a' + 10)
		case 'A' <= c && c <= 'F':
			t[c] = byte(c - 'A' + 10)
		default:
			t[c] = 255
		}
	}
	return t
}()
