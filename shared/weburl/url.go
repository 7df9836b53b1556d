package weburl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// shownLength is how much of a URL a log line has at most, in bytes: those of
// data: may be long.
const shownLength = 1000

// A URL is an absolute URL as the WHATWG standard parses it. It cannot be
// changed; its methods are safe for concurrent use. Two URLs are equal (==)
// if their texts are. The zero URL is empty and stands for none.
type URL struct {
	text string // the serialisation; every part below is cut from it

	colon   int32 // end of the scheme
	host    int32 // start of the hostname; colon+1 if there is no authority
	hostEnd int32 // end of the hostname, before any ":port"
	path    int32 // start of the path
	query   int32 // index of "?", or the end of the path if there is none
	frag    int32 // index of "#", or the end of the text if there is none
}

// indexed cuts text, which must be a URL in the standard's serialisation.
func indexed(text string) URL {
	u := URL{text: text, frag: int32(len(text))}
	if i := strings.IndexByte(text, '#'); i >= 0 {
		u.frag = int32(i)
	}
	u.query = u.frag
	if i := strings.IndexByte(text[:u.frag], '?'); i >= 0 {
		u.query = int32(i)
	}
	u.colon = int32(strings.IndexByte(text, ':'))
	u.host, u.hostEnd, u.path = u.colon+1, u.colon+1, u.colon+1

	rest := text[u.path:u.query]
	if !strings.HasPrefix(rest, "//") {
		// A path that starts with "//" is written after "/.", so that it is
		// not read as an authority.
		if strings.HasPrefix(rest, "/.//") {
			u.path += 2
		}
		return u
	}
	u.host += 2
	u.path = u.query
	if i := strings.IndexByte(rest[2:], '/'); i >= 0 {
		u.path = u.host + int32(i)
	}
	if i := strings.IndexByte(text[u.host:u.path], '@'); i >= 0 {
		u.host += int32(i) + 1
	}
	u.hostEnd = u.path
	hostname := text[u.host:u.path]
	from := strings.IndexByte(hostname, ']') + 1 // the colons of an IPv6 address are no port's
	if i := strings.IndexByte(hostname[from:], ':'); i >= 0 {
		u.hostEnd = u.host + int32(from+i)
	}
	return u
}

// IsZero reports whether u is the zero URL.
func (u URL) IsZero() bool { return u.text == "" }

// String returns the standard's serialisation, the fragment included. Its query
// is in the page's order and its escapes are as the page wrote them.
func (u URL) String() string { return u.text }

// Scheme returns the scheme in lower case, without the colon.
func (u URL) Scheme() string { return u.text[:u.colon] }

// Host returns the host as a Host header carries it: IPv6 in brackets, and the
// port if it is not the scheme's default.
func (u URL) Host() string { return u.text[u.host:u.authorityEnd()] }

// Hostname returns the host without port and without brackets: a DNS name in
// lower case and punycode, or an IP address in its shortest form.
func (u URL) Hostname() string {
	h := u.text[u.host:u.hostEnd]
	if len(h) > 1 && h[0] == '[' {
		return h[1 : len(h)-1]
	}
	return h
}

// Port returns the port in decimal, or "" if it is the scheme's default.
func (u URL) Port() string {
	if end := u.authorityEnd(); u.hostEnd < end {
		return u.text[u.hostEnd+1 : end]
	}
	return ""
}

// User returns the name and password before the host, percent-encoded as in
// the text. Both are "" if there are none.
func (u URL) User() (name, password string) {
	if !u.hasAuthority() {
		return "", ""
	}
	info := strings.TrimSuffix(u.text[u.colon+3:u.host], "@")
	name, password, _ = strings.Cut(info, ":")
	return name, password
}

// Path returns the path, percent-encoded. That of an http or https URL starts
// with "/".
func (u URL) Path() string { return u.text[u.path:u.query] }

// Query returns what follows "?", percent-encoded.
func (u URL) Query() string {
	if !u.hasQuery() {
		return ""
	}
	return u.text[u.query+1 : u.frag]
}

// Fragment returns what follows "#", percent-encoded.
func (u URL) Fragment() string {
	if int(u.frag) == len(u.text) {
		return ""
	}
	return u.text[u.frag+1:]
}

// RequestTarget returns path and query, as the first line of an HTTP request
// carries them.
func (u URL) RequestTarget() string { return u.text[u.path:u.frag] }

// WithoutFragment returns u up to its "#".
func (u URL) WithoutFragment() URL {
	u.text = u.text[:u.frag]
	return u
}

// Redacted returns the text with user and password replaced by xxxxx, for logs
// and errors: a user's name alone is often a token.
func (u URL) Redacted() string {
	if name, password := u.User(); name == "" && password == "" {
		return u.text
	}
	return u.text[:u.colon+3] + "xxxxx@" + u.text[u.host:]
}

// Redact returns a URL for people to see, whatever it is: without user and
// password, and on one line. A text that is no URL is cut to 200 bytes.
func Redact(raw string) string {
	u, err := Parse(raw)
	if err != nil {
		return strings.Map(printable, shown(raw))
	}
	return u.Redacted()
}

// Shown returns a URL for logs and errors: that of [Redact], of 1,000 bytes at
// most.
func Shown(raw string) string { return short(Redact(raw), shownLength) }

// printable replaces what would move a terminal's cursor or begin a line.
func printable(r rune) rune {
	if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
		return utf8.RuneError
	}
	return r
}

// Origin returns scheme, host and port, as in "https://example.com:8443", or
// "null" for a scheme whose URLs have an opaque origin (file, data, mailto).
// Two URLs with one origin, other than null, are of one server.
func (u URL) Origin() string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.text[:u.colon] + "://" + u.Host()
	case "blob":
		// A blob's origin is that of the page it was made by.
		if inner, err := Parse(u.Path()); err == nil && inner.isWeb() {
			return inner.Origin()
		}
	}
	return "null"
}

// isWeb reports whether the scheme is http or https.
func (u URL) isWeb() bool {
	s := u.Scheme()
	return s == "http" || s == "https"
}

func (u URL) isSpecial() bool { return isSpecialScheme(u.Scheme()) }

// isOpaque reports whether the path is one string without structure, as in
// mailto:a@example.com.
func (u URL) isOpaque() bool {
	return !u.hasAuthority() && (u.path == u.query || u.text[u.path] != '/')
}

func (u URL) hasAuthority() bool { return u.host > u.colon+1 }

func (u URL) hasQuery() bool { return u.query < u.frag }

func (u URL) authorityEnd() int32 {
	if !u.hasAuthority() {
		return u.host
	}
	return u.path
}
