package handlers

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Data answers data: URLs, which carry their page in themselves (RFC 2397). The
// media type becomes the Content-Type, and the status is 200. Base64 is read as
// browsers read it: blanks, and padding that is missing, are no fault. A URL
// without a comma, or whose base64 is none, fails as "bad-url". DOWNLOAD_MAXSIZE
// holds.
//
// Source: Fetch standard, "data: URL processor".
func Data(s settings.Settings) downloader.Handler {
	return downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		u, err := weburl.Parse(req.URL)
		if err != nil {
			return nil, failure(req, ReasonBadURL, err)
		}
		u = u.WithoutFragment()
		mediaType, body, err := readData(strings.TrimPrefix(u.String(), "data:"))
		if err != nil {
			return nil, failure(req, ReasonBadURL, err)
		}
		if limit := Maxsize(req, s.DownloadMaxsize); limit > 0 && int64(len(body)) > limit {
			return nil, failure(req, ReasonTooLarge, fmt.Errorf("%d bytes, the limit is %d", len(body), limit))
		}
		return &crawl.Response{
			URL: u.String(), Status: http.StatusOK, Headers: http.Header{"Content-Type": {mediaType}}, Body: body, Request: req,
		}, nil
	})
}

// plainText is the media type of a data: URL that names none.
const plainText = "text/plain;charset=US-ASCII"

// readData reads what follows "data:".
func readData(text string) (mediaType string, body []byte, err error) {
	head, data, found := strings.Cut(text, ",")
	if !found {
		return "", nil, errors.New("a data: URL without the comma before its data")
	}
	body = percentDecoded(data)
	mediaType = strings.Trim(string(percentDecoded(head)), asciiBlanks)
	if without, ok := cutBase64(mediaType); ok {
		mediaType = without
		if body, err = forgivingBase64(body); err != nil {
			return "", nil, err
		}
	}
	if strings.HasPrefix(mediaType, ";") {
		mediaType = "text/plain" + mediaType
	}
	if !isMediaType(mediaType) {
		mediaType = plainText
	}
	return mediaType, body, nil
}

const asciiBlanks = "\t\n\f\r "

// cutBase64 cuts the mark of base64 off a media type: a semicolon, blanks, and
// the word in letters of any size.
func cutBase64(mediaType string) (string, bool) {
	const mark = "base64"
	at := len(mediaType) - len(mark)
	if at < 0 || !strings.EqualFold(mediaType[at:], mark) {
		return mediaType, false
	}
	return strings.CutSuffix(strings.TrimRight(mediaType[:at], " "), ";")
}

// isMediaType reports whether a text begins with a type and a subtype, and can
// stand in a header.
func isMediaType(text string) bool {
	essence, _, _ := strings.Cut(text, ";")
	major, minor, found := strings.Cut(strings.TrimRight(essence, asciiBlanks), "/")
	return found && isToken(major) && isToken(minor) && !hasControl(text)
}

// percentDecoded replaces each %XX by its byte; what is no such thing stays.
func percentDecoded(s string) []byte {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if one, err := url.PathUnescape(s[i : i+3]); err == nil {
				b = append(b, one...)
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return b
}

// forgivingBase64 decodes as the Infra standard says, "forgiving-base64 decode".
func forgivingBase64(data []byte) ([]byte, error) {
	kept := strings.Map(func(r rune) rune {
		if strings.ContainsRune(asciiBlanks, r) {
			return -1
		}
		return r
	}, string(data))
	if len(kept)%4 == 0 {
		kept = strings.TrimSuffix(strings.TrimSuffix(kept, "="), "=")
	}
	body, err := base64.RawStdEncoding.DecodeString(kept)
	if err != nil {
		return nil, fmt.Errorf("the data is no base64: %w", err)
	}
	return body, nil
}
