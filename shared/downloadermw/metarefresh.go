package downloadermw

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/weburl"
)

// reasonMetaRefresh is what redirect_reasons says of a meta refresh.
const reasonMetaRefresh = "meta refresh"

// maxRefreshText is how much of a page's text is searched: 4,096 characters, as
// in Scrapy.
const maxRefreshText = 4096

// MetaRefresh puts the target of a page's <meta http-equiv="refresh"> in the
// place of the request, as a GET, with a *crawl.Instead whose reason is "meta
// refresh". It stands outside of HTTPCompression and so sees the page unpacked.
//
// The element is looked for in the first 4,096 characters of an HTML page that
// was not asked for by HEAD. As in browsers it does not count inside of comments,
// templates, scripts and other elements of plain text, nor here inside of
// METAREFRESH_IGNORE_TAGS; the first that can be read counts. Its content is read
// by the HTML standard's "shared declarative refresh steps". It is followed to an
// http or https page if its delay is below METAREFRESH_MAXDELAY; one that leads
// to the page itself only without a delay, since else the page is one that
// reloads.
//
// For the rest it is a redirect: see [Redirect] for what the target keeps. Of
// opts the Referer is used.
//
// Settings: METAREFRESH_ENABLED, METAREFRESH_IGNORE_TAGS, METAREFRESH_MAXDELAY,
// REDIRECT_MAX_TIMES, REDIRECT_PRIORITY_ADJUST, REDIRECT_DROP_HEADERS. Request
// option: DontRedirect.
func MetaRefresh(s settings.Settings, opts RedirectOptions, log *slog.Logger) downloader.Middleware {
	if !s.MetaRefreshEnabled {
		return off
	}
	m := &metaRefresh{hops: hops{settings: s, referer: opts.Referer, log: log}}
	for _, tag := range s.MetaRefreshIgnoreTags {
		m.ignored = append(m.ignored, strings.ToLower(tag))
	}
	return downloader.Hooks{ProcessResponse: m.response}.Middleware()
}

type metaRefresh struct {
	hops
	ignored []string
}

func (m *metaRefresh) response(_ context.Context, req *crawl.Request, resp *crawl.Response) (*crawl.Response, error) {
	if req.DontRedirect || req.HTTPMethod() == http.MethodHead || !mayRefresh(resp) {
		return resp, nil
	}
	address, err := weburl.Parse(req.URL)
	if err != nil || address.Scheme() != "http" && address.Scheme() != "https" {
		return resp, nil
	}
	page := extract.NewDocument(resp.Body, resp.Headers.Get("Content-Type"), req.URL)
	if page.IsXML() {
		return resp, nil
	}
	found, ok := findRefresh(beginning(page.UTF8()), m.ignored)
	if !ok || found.url == "" || found.delay >= m.settings.MetaRefreshMaxDelay {
		return resp, nil
	}
	target, err := page.Resolve(found.url)
	if err != nil || target.Scheme() != "http" && target.Scheme() != "https" {
		return resp, nil
	}
	if found.delay > 0 && weburl.Canonical(target) == weburl.Canonical(address) {
		return resp, nil
	}
	return nil, m.to(req, resp, hop{target: target, reason: reasonMetaRefresh, asGET: true})
}

// mayRefresh leaves out nearly all pages that do not refresh, before anything is
// decoded.
func mayRefresh(resp *crawl.Response) bool {
	contentType := resp.Headers.Get("Content-Type")
	media, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml":
	case "":
		if !strings.HasPrefix(http.DetectContentType(resp.Body), "text/html") {
			return false
		}
	default:
		return false
	}
	// A character has up to four bytes. In UTF-16 alone the word has other ones.
	start := resp.Body[:min(len(resp.Body), 4*maxRefreshText)]
	return bytes.IndexByte(start, 0) >= 0 || hasRefresh(start)
}

// hasRefresh reports whether a text has the word refresh, in any case. It goes
// by the f, the rarest of its letters.
func hasRefresh(text []byte) bool {
	return hasRefreshBy('f', text) || hasRefreshBy('F', text)
}

func hasRefreshBy(f byte, text []byte) bool {
	const word, before = "refresh", len("re")
	for from := 0; ; {
		at := bytes.IndexByte(text[from:], f)
		if at < 0 {
			return false
		}
		from += at + 1
		start := from - 1 - before
		if start >= 0 && start+len(word) <= len(text) && strings.EqualFold(string(text[start:start+len(word)]), word) {
			return true
		}
	}
}

// beginning is the part of a page that is searched.
func beginning(page []byte) []byte {
	n := 0
	for i := range string(page[:min(len(page), 4*maxRefreshText)]) {
		if n == maxRefreshText {
			return page[:i]
		}
		n++
	}
	return page[:min(len(page), 4*maxRefreshText)]
}

// A refresh is what a meta element asks for. An empty url is the page itself.
type refresh struct {
	delay time.Duration
	url   string
}

// longestDelay is what a delay is cut to, so that it does not overflow.
const longestDelay = 1 << 31

// parseRefresh reads the content of a meta element. Source: HTML standard,
// "shared declarative refresh steps".
func parseRefresh(content string) (refresh, bool) {
	const blanks = "\t\n\f\r "
	rest := strings.TrimLeft(content, blanks)
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if digits == 0 && !strings.HasPrefix(rest, ".") {
		return refresh{}, false
	}
	seconds := 0
	for _, digit := range rest[:digits] {
		seconds = min(10*seconds+int(digit-'0'), longestDelay)
	}
	found := refresh{delay: time.Duration(seconds) * time.Second}
	rest = strings.TrimLeft(rest[digits:], "0123456789.")
	if rest == "" {
		return found, true
	}
	if !strings.ContainsRune(";,"+blanks, rune(rest[0])) {
		return refresh{}, false
	}
	rest = strings.TrimLeft(rest, blanks)
	if strings.HasPrefix(rest, ";") || strings.HasPrefix(rest, ",") {
		rest = rest[1:]
	}
	found.url = refreshURL(strings.TrimLeft(rest, blanks))
	return found, true
}

// refreshURL takes "url=" and quotes off an address, where they are there.
func refreshURL(s string) string {
	const blanks = "\t\n\f\r "
	if len(s) > 0 && (s[0] == 'u' || s[0] == 'U') {
		if len(s) < 3 || !strings.EqualFold(s[:3], "url") {
			return s
		}
		value, found := strings.CutPrefix(strings.TrimLeft(s[3:], blanks), "=")
		if !found {
			return s
		}
		s = strings.TrimLeft(value, blanks)
	}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		s, _, _ = strings.Cut(s[1:], s[:1])
	}
	return strings.Trim(s, blanks)
}

// skipped are elements whose meta elements never count: a template's content is
// not on the page.
func skipped(tag string, ignored []string) bool {
	return tag == "template" || slices.Contains(ignored, tag)
}
