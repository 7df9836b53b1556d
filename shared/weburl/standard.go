package weburl

import (
	"fmt"
	"strings"

	whatwgerrors "github.com/nlnwa/whatwg-url/errors"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// parser is the standard's as of 2023 with one later change: "^" is in the path
// percent-encode set (whatwg/url#846, 2025).
var parser = whatwg.NewParser(whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')))

// standard parses ref with the state machine of the WHATWG standard, against
// base if base is not nil. It takes any URL. web does the same for http and
// https, thirty times faster.
//
// The base goes in as text: a parsed base is written to while it is read, and
// could not be shared by goroutines.
func standard(base *URL, ref string) (URL, error) {
	var parsed *whatwg.Url
	var err error
	if base == nil || !dependsOnBase(ref) {
		parsed, err = parser.Parse(ref)
	} else {
		parsed, err = parser.ParseRef(base.text, ref)
	}
	if err != nil {
		return URL{}, &ParseError{Input: shown(ref), Reason: reason(err)}
	}
	return indexed(parsed.Href(false)), nil
}

// Bounds of what the library is given. It joins paths, users and opaque hosts
// letter by letter, in time that grows with the square of their length: 64 KiB
// of "@" take it ten seconds, a bounded one some milliseconds.
const (
	// maxAuthority is the longest "user:password@host:port", in bytes. A DNS
	// name has at most 253 (RFC 1035), which escapes may treble.
	maxAuthority = 1 << 10
	// maxAts is how many "@" an authority may have. One is right.
	maxAts = 16
	// maxOther is the longest URL with a path of a scheme that is neither http
	// nor https, in bytes, its base included. Linux has file names of 4,096.
	maxOther = 4 << 10
)

// bounded is standard for a reference that anyone may have written.
func bounded(base *URL, ref string) (URL, error) {
	clean, _ := cleaned(ref)
	scheme := schemeOf(clean)
	after := clean[len(scheme):]
	opaque := scheme != "" && !isSpecialScheme(strings.ToLower(scheme)) && !strings.HasPrefix(after, ":/")
	if !opaque {
		n := len(clean)
		if base != nil {
			n += len(base.text)
		}
		if n > maxOther || strings.Count(clean, "@") > maxAts {
			return URL{}, &ParseError{Input: shown(ref), Reason: fmt.Sprintf("longer than %d bytes", maxOther)}
		}
	}
	return standard(base, ref)
}

// dependsOnBase reports whether a base may matter to ref. It spares the many
// javascript: and mailto: links of a page the parsing of its base.
func dependsOnBase(ref string) bool {
	scheme := schemeOf(trimSpace(ref))
	return scheme == "" || isSpecialScheme(strings.ToLower(scheme))
}

// reason tells the fault in words.
func reason(err error) string {
	switch whatwgerrors.Type(err) {
	case whatwgerrors.MissingSchemeNonRelativeURL:
		return "no scheme: write http:// or https:// in front of it"
	case whatwgerrors.HostMissing:
		return "no host"
	case whatwgerrors.PortInvalid:
		return "the port is not a number"
	case whatwgerrors.PortOutOfRange:
		return "the port is above 65535"
	case whatwgerrors.InvalidCredentials:
		return "a user, but no host"
	case whatwgerrors.DomainToASCII, whatwgerrors.DomainInvalidCodePoint, whatwgerrors.HostInvalidCodePoint:
		return "the host is not a valid name"
	}
	return "the host is not a valid address"
}
