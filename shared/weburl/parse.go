package weburl

import (
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
)

// MaxLength is the longest URL that is parsed, in bytes, as written and as
// serialised: 64 KiB. Servers commonly refuse request lines above 8 KiB, and
// Scrapy's URLLENGTH_LIMIT is 2083. URLs of other schemes than http and https
// may have 4 KiB at most, unless they have no path, as data: and mailto: have
// none.
const MaxLength = 64 << 10

// A ParseError says why a text is no URL.
type ParseError struct {
	// Input is the text, shortened, and without user and password.
	Input string
	// Reason says what is wrong and, where one fault is common, what to write.
	Reason string
}

func (e *ParseError) Error() string { return fmt.Sprintf("url %q: %s", e.Input, e.Reason) }

// Parse reads an absolute URL as a browser does: it trims blanks, drops line
// breaks and tabs, escapes what must be, resolves dot segments, lowers and
// punycodes the host and drops a default port. The error is a [*ParseError].
// A text without a scheme, also one like "example.com:8080/x", is an error and
// not guessed.
func Parse(raw string) (URL, error) {
	if err := checkLength(raw); err != nil {
		return URL{}, err
	}
	u, isWeb, err := web(nil, raw)
	if !isWeb {
		if err := checkScheme(raw); err != nil {
			return URL{}, err
		}
		u, err = bounded(nil, raw)
	}
	return checked(u, err, raw)
}

// Resolve reads ref, an href or a Location, as seen from u. The query is
// escaped in UTF-8. The error is a [*ParseError].
func (u URL) Resolve(ref string) (URL, error) {
	if u.IsZero() {
		return Parse(ref)
	}
	if err := checkLength(ref); err != nil {
		return URL{}, err
	}
	r, isWeb, err := web(&u, ref)
	if !isWeb {
		r, err = bounded(&u, ref)
	}
	return checked(r, err, ref)
}

// ResolveIn is Resolve for a page in the encoding enc: the query's letters
// beyond ASCII are escaped in that encoding, and those it lacks are sent as a
// numeric character reference, "%26%23NNNN%3B". Path and fragment are UTF-8 in
// every page. A nil enc and the UTF-16 encodings mean UTF-8, as the standard
// says, and so does every scheme but http, https, ftp and file.
func (u URL) ResolveIn(ref string, enc encoding.Encoding) (URL, error) {
	if enc == nil {
		return u.Resolve(ref)
	}
	if err := checkLength(ref); err != nil {
		return URL{}, err
	}
	return u.Resolve(encodeQuery(u.Scheme(), ref, enc))
}

func checkLength(raw string) error {
	if len(raw) > MaxLength {
		return &ParseError{Input: shown(raw), Reason: fmt.Sprintf("longer than %d bytes", MaxLength)}
	}
	return nil
}

// checked bounds the serialisation too, so that what was parsed once can be
// parsed again.
func checked(u URL, err error, raw string) (URL, error) {
	if err != nil {
		return URL{}, err
	}
	if len(u.text) > MaxLength {
		return URL{}, &ParseError{Input: shown(raw), Reason: fmt.Sprintf("longer than %d bytes once escaped", MaxLength)}
	}
	return u, nil
}

// checkScheme refuses what the standard would take for a scheme and a person
// would not: "example.com:8080/x" has the scheme "example.com".
func checkScheme(raw string) error {
	s := trimSpace(raw)
	scheme := schemeOf(s)
	if scheme == "" {
		return nil // the standard's parser finds that by itself
	}
	if !strings.Contains(scheme, ".") && scheme != "localhost" {
		return nil
	}
	after := s[len(scheme)+1:]
	port := len(after) - len(strings.TrimLeft(after, "0123456789"))
	if port > 0 && (port == len(after) || strings.IndexByte(`/\?#`, after[port]) >= 0) {
		return &ParseError{Input: shown(raw), Reason: "no scheme: write http:// or https:// in front of it"}
	}
	return nil
}

// shown returns raw for an error: at most 200 bytes, and nothing that may be a
// user or a password.
func shown(raw string) string {
	const limit = 200
	if i := strings.Index(raw, "//"); i >= 0 {
		end := len(raw)
		if n := strings.IndexAny(raw[i+2:], "/?#"); n >= 0 {
			end = i + 2 + n
		}
		if at := strings.LastIndexByte(raw[i+2:end], '@'); at >= 0 {
			raw = raw[:i+2] + "xxxxx@" + raw[i+2+at+1:]
		}
	}
	return short(raw, limit)
}

// short cuts a text to at most n bytes.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
