package legs

import (
	"bytes"
	"mime"
	"path"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// isHTML reports whether a page is HTML: by its Content-Type, and where that
// says nothing by how it begins.
func isHTML(page *spider.Page) bool {
	header := page.Headers.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(header)
	if err != nil { // the parameters are wrong; the type may be right
		kind, _, _ = strings.Cut(header, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	switch kind {
	case "text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml":
		return true
	case "", "application/octet-stream":
		return endsAsHTML(page.Response.URL) || startsAsHTML(page.Body)
	}
	return false
}

// hasType reports whether a page's Content-Type is one of the given; "" is that
// of a page without one.
func hasType(page *spider.Page, types ...string) bool {
	media, _, _ := strings.Cut(page.Headers.Get("Content-Type"), ";")
	return slices.Contains(types, strings.ToLower(strings.TrimSpace(media)))
}

// endsAsHTML looks at the name of the file.
func endsAsHTML(address string) bool {
	u, err := weburl.Parse(address)
	if err != nil {
		return false
	}
	switch strings.ToLower(path.Ext(u.Path())) {
	case ".html", ".htm", ".xhtml":
		return true
	}
	return false
}

// startsAsHTML looks at the first tag.
func startsAsHTML(body []byte) bool {
	body = bytes.ToLower(body[:min(len(body), sniffed)])
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	for _, start := range []string{"<!doctype html", "<html", "<head", "<body", "<title", "<!--"} {
		if bytes.HasPrefix(body, []byte(start)) {
			return true
		}
	}
	return bytes.HasPrefix(body, []byte("<?xml")) && bytes.Contains(body, []byte("<html"))
}

// sniffed is how much of a body is looked at to tell what it is, in bytes; the
// standard (MIME Sniffing) looks at 1,445.
const sniffed = 1445
