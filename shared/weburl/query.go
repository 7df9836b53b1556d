package weburl

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// encodeQuery returns ref, an href on a page of the scheme base, with its query
// escaped in enc. What follows is ASCII, and parsing leaves it as it is.
func encodeQuery(base, ref string, enc encoding.Encoding) string {
	if strings.IndexFunc(ref, needsEncoder) < 0 {
		return ref
	}
	scheme := strings.ToLower(schemeOf(trimSpace(ref)))
	if scheme == "" {
		scheme = base
	}
	// Standard, query state: "If url is not special, or url's scheme is "ws" or
	// "wss", then set encoding to UTF-8."
	if !isSpecialScheme(scheme) || scheme == "ws" || scheme == "wss" {
		return ref
	}
	name, _ := htmlindex.Name(enc) // an encoding that browsers do not know is used as it is
	switch name {
	case "utf-8", "utf-16le", "utf-16be", "replacement":
		return ref
	}
	ref = trimSpace(lineBreaks.Replace(ref))
	rest, query, fragment := split(ref)
	if query == "" {
		return ref
	}
	return rest + string(appendEncoded(nil, query, enc, name)) + fragment
}

// needsEncoder reports whether some encoding writes r otherwise than ASCII does.
func needsEncoder(r rune) bool { return r >= utf8.RuneSelf || isShift(r) }

// isShift reports whether ISO-2022-JP uses r to change its state.
func isShift(r rune) bool { return r == 0x0e || r == 0x0f || r == 0x1b }

// appendEncoded appends query as bytes of enc, percent-encoded: "percent-encode
// after encoding" of the standard, section 1.3. name is the encoding's name in
// the Encoding standard.
func appendEncoded(dst []byte, query string, enc encoding.Encoding, name string) []byte {
	// Encoding standard: "If code point is U+2212, set it to U+FF0D" in all
	// Japanese encoders; ISO-2022-JP has no way to write its own shifts.
	switch name {
	case "shift_jis", "euc-jp":
		query = strings.ReplaceAll(query, "\u2212", "\uff0d")
	case "iso-2022-jp":
		query = strings.Map(func(r rune) rune {
			switch {
			case r == 0x2212:
				return 0xff0d
			case isShift(r):
				return utf8.RuneError
			}
			return r
		}, query)
	}

	encoder := enc.NewEncoder().Transformer
	src, buf := []byte(query), make([]byte, 256)
	for {
		nDst, nSrc, err := encoder.Transform(buf, src, true)
		for _, c := range buf[:nDst] {
			if classes[c]&inQuery != 0 || c == '#' {
				dst = appendEscape(dst, c)
			} else {
				dst = append(dst, c)
			}
		}
		src = src[nSrc:]
		switch {
		case err == nil:
			return dst
		case errors.Is(err, transform.ErrShortDst) && nDst > 0:
			// The buffer is full; go on with the rest.
		default:
			// A letter that the encoding lacks.
			r, size := utf8.DecodeRune(src)
			dst = append(dst, "%26%23"...)
			dst = strconv.AppendInt(dst, int64(r), 10)
			dst = append(dst, "%3B"...)
			src = src[size:]
		}
	}
}
