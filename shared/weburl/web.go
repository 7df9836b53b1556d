package weburl

import (
	"strings"
	"unicode/utf8"
)

// web parses ref, against base if base is not nil, if the result is an http or
// https URL; it reports false if not. It is the standard's state machine for
// these two schemes, without the states: what a reference leads to is told by
// its first characters. Only a host that is not a plain name goes through the
// library. The result is that of standard.
func web(base *URL, ref string) (u URL, isWeb bool, err error) {
	raw := ref
	ref, seen := cleaned(ref)
	rest, query, fragment := split(ref)

	scheme, after := cutWebScheme(rest)
	if scheme == "" {
		if base == nil || !base.isWeb() || schemeOf(rest) != "" {
			return URL{}, false, nil
		}
	}
	if seen&backslash != 0 {
		rest, after = slashed(rest), slashed(after)
	}
	sameScheme := base != nil && scheme == base.Scheme()
	absolute := scheme != "" && !(sameScheme && !strings.HasPrefix(after, "//"))
	if !absolute && scheme != "" {
		rest = after // "http:x" on an http page is "x"
	}

	var space [256]byte // spares the heap for all but long URLs
	text := space[:0]
	switch {
	case absolute:
		text, err = u.authority(text, base, scheme, after, seen, raw)
	case strings.HasPrefix(rest, "//"):
		text, err = u.authority(text, base, base.Scheme(), rest, seen, raw)
	default:
		text = append(text, base.text[:base.path]...)
		u.colon, u.host, u.hostEnd, u.path = base.colon, base.host, base.hostEnd, base.path
		switch {
		case strings.HasPrefix(rest, "/"):
			text = appendAbsolutePath(text, rest, seen)
		case rest != "":
			path := base.Path()
			text = append(text, path[:strings.LastIndexByte(path, '/')+1]...)
			text = appendPath(text, int(base.path), rest, seen)
		default:
			text = append(text, base.Path()...)
			if query == "" {
				query = base.text[base.query:base.frag]
			}
		}
	}
	if err != nil {
		return URL{}, true, err
	}

	u.query = int32(len(text))
	if seen&inQuery == 0 {
		text = append(text, query...)
	} else {
		text = appendEscaped(text, query, inQuery)
	}
	u.frag = int32(len(text))
	text = appendEscaped(text, fragment, inFragment)
	u.text = string(text)
	return u, true, nil
}

// authority appends scheme, the authority at the start of s, and the path that
// follows it, and sets u's indices up to the path.
//
// Standard, special authority ignore slashes state: any number of slashes may
// stand before the authority.
func (u *URL) authority(text []byte, base *URL, scheme, s string, seen byte, raw string) ([]byte, error) {
	s = strings.TrimLeft(s, "/")
	end := strings.IndexByte(s, '/')
	if end < 0 {
		end = len(s)
	}
	start := len(text)
	text = append(append(text, scheme...), "://"...)
	u.colon = int32(len(scheme))
	u.host = int32(len(text))

	text, port, ok := appendHost(text, s[:end], base)
	if ok {
		u.hostEnd = int32(len(text))
		if port != "" && port != defaultPort(scheme) {
			text = append(append(text, ':'), port...)
		}
		u.path = int32(len(text))
	} else {
		site, err := oddAuthority(scheme, s[:end], raw)
		if err != nil {
			return nil, err
		}
		text = append(text[:start], site.text[:site.path]...)
		u.colon, u.host, u.hostEnd, u.path = site.colon, site.host, site.hostEnd, site.path
	}
	if end == len(s) {
		return append(text, '/'), nil
	}
	return appendAbsolutePath(text, s[end:], seen), nil
}

// oddAuthority has the library read user, host and port.
func oddAuthority(scheme, authority, raw string) (URL, error) {
	if authority == "" {
		return URL{}, &ParseError{Input: shown(raw), Reason: "no host"}
	}
	tooLong := &ParseError{Input: shown(raw), Reason: "the host is too long"}
	if len(authority) > maxAuthority || strings.Count(authority, "@") > maxAts {
		return URL{}, tooLong
	}
	parsed, err := parser.Parse(scheme + "://" + authority + "/")
	if err != nil {
		return URL{}, &ParseError{Input: shown(raw), Reason: reason(err)}
	}
	site := indexed(parsed.Href(false))
	if int(site.path-site.colon) > maxAuthority {
		return URL{}, tooLong // once escaped; it could not be parsed again
	}
	return site, nil
}

// appendAbsolutePath appends a path that starts with a slash.
func appendAbsolutePath(text []byte, p string, seen byte) []byte {
	root := len(text)
	return appendPath(append(text, '/'), root, p[1:], seen)
}

// cleaned returns ref without blanks around it and line breaks in it, as valid
// UTF-8, and the union of the classes of its bytes.
func cleaned(ref string) (string, byte) {
	ref = trimSpace(ref)
	seen := classesOf(ref)
	if seen&lineBreak != 0 {
		ref = lineBreaks.Replace(ref)
		seen = classesOf(ref)
	}
	if seen&nonASCII != 0 && !utf8.ValidString(ref) {
		ref = string([]rune(ref)) // U+FFFD for each byte that is wrong
	}
	return ref, seen
}

var lineBreaks = strings.NewReplacer("\t", "", "\n", "", "\r", "")

func slashed(s string) string { return strings.ReplaceAll(s, `\`, "/") }

// split cuts query and fragment off ref; both keep their sign.
func split(ref string) (rest, query, fragment string) {
	if i := strings.IndexByte(ref, '#'); i >= 0 {
		ref, fragment = ref[:i], ref[i:]
	}
	if i := strings.IndexByte(ref, '?'); i >= 0 {
		ref, query = ref[:i], ref[i:]
	}
	return ref, query, fragment
}
