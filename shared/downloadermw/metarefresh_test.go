package downloadermw_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
)

// refreshed sends a request through MetaRefresh to a page, and returns the
// target, nil if the page came through.
func refreshed(t *testing.T, values map[string]any, req *crawl.Request, contentType, page string) *crawl.Request {
	t.Helper()
	headers := http.Header{}
	if contentType != "" {
		headers.Set("Content-Type", contentType)
	}
	h := downloadermw.MetaRefresh(with(t, values), downloadermw.RedirectOptions{}, noLog())(answer(200, headers, page))
	resp, err := h.Fetch(t.Context(), req)
	var instead *crawl.Instead
	if errors.As(err, &instead) {
		if instead.Reason != "meta refresh" {
			t.Errorf("the reason is %q", instead.Reason)
		}
		return instead.Request
	}
	if err != nil || string(resp.Body) != page {
		t.Fatalf("got %+v, %v", resp, err)
	}
	return nil
}

// to is where a page of HTML refreshes to, "" if nowhere.
func to(t *testing.T, values map[string]any, page string) string {
	t.Helper()
	if target := refreshed(t, values, &crawl.Request{URL: "http://example.com/d/p"}, "text/html; charset=utf-8", page); target != nil {
		return target.URL
	}
	return ""
}

func TestContentsOfAMetaRefresh(t *testing.T) {
	const n = "http://example.com/d/n"
	for content, want := range map[string]string{
		"0;url=n": n, "0; url=n": n, "0 ; URL = n ": n, "0;n": n, "0,url=n": n, "0 url=n": n, "0 n": n, "  0;url=n": n, "\t0\n;\furl\r=\tn": n,
		"0;url='n'": n, `0;url="n"`: n, "0;url='n": n, "0;url='n' and more": n, "0;'n'": n, "0;url=n'": n + "'",
		"0.5;url=n": n, ".5;url=n": n, "1.2.3;url=n": n, "99.9;url=n": n, "00000000000000000001;url=n": n,
		"0;uri=n": "http://example.com/d/uri=n", "0;url n": "http://example.com/d/url%20n", "0;u": "http://example.com/d/u", "0;ur": "http://example.com/d/ur",
		"0;;url=n": "http://example.com/d/;url=n", "0;url==n": "http://example.com/d/=n",
		"0;url=//b.example/c": "http://b.example/c", "0;url=https://b.example/c#d": "https://b.example/c#d", "0;url=?q=é": "http://example.com/d/p?q=%C3%A9",
		// no refresh, or one to the page itself
		"": "", "5": "", "0": "", "0;": "", "0;url=": "", "0;url=''": "", "url=n": "", "n": "", "-1;url=n": "", "+1;url=n": "", "0x;url=n": "", "0/n": "", "0:n": "",
		// later than METAREFRESH_MAXDELAY
		"100;url=n": "", "101;url=n": "", "99999999999999999999999;url=n": "",
		// the page, some time later: it reloads
		"60;url=/d/p": "", "60;url=http://EXAMPLE.com:80/d/p#x": "", "0;url=/d/p": "http://example.com/d/p",
		// no page of the web
		"0;url=javascript:1": "", "0;url=file:///etc/passwd": "", "0;url=data:text/plain,x": "", "0;url=ftp://127.0.0.1/": "", "0;url=s3://b/k": "", "0;url=http://[/": "",
	} {
		page := `<html><meta http-equiv="refresh" content="` + strings.ReplaceAll(content, `"`, "&quot;") + `">`
		if got := to(t, nil, page); got != want {
			t.Errorf("%q leads to %q, want %q", content, got, want)
		}
	}
}

func TestPlacesOfAMetaRefresh(t *testing.T) {
	const meta = `<meta http-equiv="refresh" content="0;url=n">`
	const n = "http://example.com/d/n"
	none := map[string]any{"METAREFRESH_IGNORE_TAGS": []any{}}
	tests := []struct {
		name     string
		settings map[string]any
		page     string
		want     string
	}{
		{name: "in the head", page: "<head><title>t</title>" + meta, want: n},
		{name: "in the body", page: "<body><p>" + meta, want: n},
		{name: "other quotes, order and case", page: `<META CONTENT='0; URL="n"' x HTTP-EQUIV=Refresh />`, want: n},
		{name: "in XHTML", page: `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><meta http-equiv="refresh" content="0;url=n" /></html>`, want: n},
		{name: "relative to the base", page: `<base href="/b/">` + meta, want: "http://example.com/b/n"},
		{name: "relative to a base behind it", page: meta + `<base href="/b/">`, want: "http://example.com/b/n"},
		{name: "in a comment", page: "<!-- " + meta + " -->"},
		{name: "in a comment that never ends", page: "<!-- " + meta},
		{name: "in a script", page: "<script>document.write('" + meta + "')</script>"},
		{name: "behind a script", page: "<script>if (a < b) x('<meta')</script>" + meta, want: n},
		{name: "in the title", page: "<title>" + meta + "</title>"},
		{name: "in a title in the body", page: "<body><div><title>" + meta + "</title></div>"},
		{name: "in a title that never ends", page: "<title>" + meta},
		{name: "in a title that ends itself", page: "<title/>" + meta},
		{name: "behind a title in the body", page: "<body><div><title>a<b</title></div>" + meta, want: n},
		{name: "in a text area", page: "<textarea>" + meta + "</textarea>"},
		{name: "in a frame's text", page: "<iframe>" + meta + "</iframe><style>" + meta + "</style><xmp>" + meta + "</xmp>"},
		{name: "in CDATA, which HTML has not", page: "<![CDATA[" + meta + "]]>"},
		{name: "behind CDATA", page: "<![CDATA[x]]>" + meta, want: n},
		{name: "in a template", page: "<template><p>" + meta + "</template>"},
		{name: "behind templates", page: "<template><template></template>" + meta + "</template>" + strings.Replace(meta, "n\"", "m\"", 1), want: "http://example.com/d/m"},
		{name: "in an attribute", page: `<p title='` + meta + `'>`},
		{name: "in noscript", page: "<noscript>" + meta + "</noscript>"},
		{name: "in noscript that counts", settings: none, page: "<noscript>" + meta + "</noscript>", want: n},
		{name: "in an element of the setting", settings: map[string]any{"METAREFRESH_IGNORE_TAGS": "DIV"}, page: "<div><div></div>" + meta + "</div>"},
		{name: "behind an element of the setting", settings: map[string]any{"METAREFRESH_IGNORE_TAGS": "div"}, page: "<div></div>" + meta, want: n},
		{name: "of two the first", page: meta + `<meta http-equiv="refresh" content="0;url=m">`, want: n},
		{name: "a first that reloads the page", page: `<meta http-equiv="refresh" content="5">` + meta},
		{name: "a first that cannot be read", page: `<meta http-equiv="refresh" content="soon">` + meta, want: n},
		{name: "of two attributes the first", page: `<meta http-equiv="refresh" content="0;url=n" content="0;url=m">`, want: n},
		{name: "other elements and other equivs", page: `<meta name="refresh" content="0;url=n"><meta http-equiv="refreshing" content="0;url=n"><p http-equiv="refresh" content="0;url=n">`},
		{name: "the element of another name", page: `<metadata http-equiv="refresh" content="0;url=n">`},
		{name: "at the 4,096th character", page: strings.Repeat("é", 4096-len(meta)) + meta, want: n},
		{name: "behind it", page: strings.Repeat("é", 4097-len(meta)) + meta},
		{name: "a shorter limit", settings: map[string]any{"METAREFRESH_MAXDELAY": 5}, page: `<meta http-equiv="refresh" content="5;url=n">`},
		{name: "a longer limit", settings: map[string]any{"METAREFRESH_MAXDELAY": "10m"}, page: `<meta http-equiv="refresh" content="599;url=n">`, want: n},
		{name: "switched off", settings: map[string]any{"METAREFRESH_ENABLED": false}, page: meta},
		{name: "nothing", page: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := to(t, test.settings, test.page); got != test.want {
				t.Errorf("leads to %q, want %q", got, test.want)
			}
		})
	}
}

func TestAPageWrittenByHand(t *testing.T) {
	page, err := os.ReadFile("testdata/refresh.html")
	if err != nil {
		t.Fatal(err)
	}
	if got := to(t, nil, string(page)); got != "http://example.com/archive/2026/index.html?from=n%C3%A4he" {
		t.Errorf("leads to %q", got)
	}
	without := bytes.Replace(page, []byte(`<META Http-Equiv`), []byte(`<META Http-Eqiuv`), 1)
	if got := to(t, nil, string(without)); got != "" {
		t.Errorf("without its refresh it leads to %q", got)
	}
}

func TestWhichPagesRefresh(t *testing.T) {
	const page = `<html><meta http-equiv="refresh" content="0;url=n">`
	get := crawl.Request{URL: "http://example.com/d/p"}
	tests := []struct {
		name, contentType string
		req               crawl.Request
		page              string
		want              bool
	}{
		{name: "HTML", contentType: "Text/HTML;charset=utf-8", req: get, page: page, want: true},
		{name: "XHTML", contentType: "application/xhtml+xml", req: get, page: page, want: true},
		{name: "what looks like HTML", req: get, page: page, want: true},
		{name: "what does not", req: get, page: `refresh ` + page},
		{name: "text", contentType: "text/plain", req: get, page: page},
		{name: "XML", contentType: "text/xml", req: get, page: page},
		{name: "a feed that is called HTML", contentType: "text/html", req: get, page: `<?xml version="1.0"?><rss><meta http-equiv="refresh" content="0;url=n"/></rss>`},
		{name: "JSON", contentType: "application/json", req: get, page: `"` + page},
		{name: "HEAD", contentType: "text/html", req: crawl.Request{URL: get.URL, Method: "HEAD"}, page: page},
		{name: "a POST", contentType: "text/html", req: crawl.Request{URL: get.URL, Method: "POST"}, page: page, want: true},
		{name: "a file", contentType: "text/html", req: crawl.Request{URL: "file:///p.html"}, page: page},
		{name: "dont_redirect", contentType: "text/html", req: crawl.Request{URL: get.URL, Options: crawl.Options{DontRedirect: true}}, page: page},
		{name: "a page that a callback wants in every status", contentType: "text/html", req: crawl.Request{URL: get.URL, Options: crawl.Options{HandleStatusAll: true}}, page: page, want: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := refreshed(t, nil, &test.req, test.contentType, test.page) != nil; got != test.want {
				t.Errorf("refreshes: %t", got)
			}
		})
	}
}

func TestEncodingsOfAMetaRefresh(t *testing.T) {
	const page = `<html><meta http-equiv="refresh" content="0;url=ä?q=ä">`
	var wide []byte
	for _, c := range utf16.Encode([]rune(page)) {
		wide = append(wide, byte(c), byte(c>>8))
	}
	latin := strings.ReplaceAll(page, "ä", "\xe4")
	for name, test := range map[string]struct{ contentType, page, want string }{
		"UTF-8":                   {"text/html", page, "http://example.com/d/%C3%A4?q=%C3%A4"},
		"Latin-1 by the header":   {"text/html; charset=iso-8859-1", latin, "http://example.com/d/%C3%A4?q=%E4"},
		"Latin-1 by a meta":       {"text/html", `<meta charset="iso-8859-1">` + latin, "http://example.com/d/%C3%A4?q=%E4"},
		"UTF-16 by its mark":      {"text/html", "\xff\xfe" + string(wide), "http://example.com/d/%C3%A4?q=%C3%A4"},
		"UTF-16 by the header":    {"text/html; charset=utf-16le", string(wide), "http://example.com/d/%C3%A4?q=%C3%A4"},
		"a mark before it":        {"text/html", "\xef\xbb\xbf" + page, "http://example.com/d/%C3%A4?q=%C3%A4"},
		"bytes that are no UTF-8": {"text/html; charset=utf-8", "\xff" + strings.ReplaceAll(page, "ä", "a"), "http://example.com/d/a?q=a"},
	} {
		got := refreshed(t, nil, &crawl.Request{URL: "http://example.com/d/p"}, test.contentType, test.page)
		if got == nil || got.URL != test.want {
			t.Errorf("%s: %+v, want %s", name, got, test.want)
		}
	}
}

func TestAMetaRefreshIsAGET(t *testing.T) {
	req := &crawl.Request{
		URL: "http://example.com/c", Method: "POST", Body: []byte("a=b"), Callback: "page", Meta: crawl.Values{"a": 1}, Priority: 5,
		Headers:  http.Header{"X": {"y"}, "Content-Type": {"a"}, "Referer": {"http://example.com/index"}, "Authorization": {"Basic x"}},
		Progress: crawl.Progress{RetryTimes: 2, RedirectURLs: []string{"http://example.com/a"}, RedirectReasons: []string{"301"}},
	}
	want := req.Clone()
	want.URL, want.Method, want.Body, want.Priority, want.RetryTimes = "http://b.example/", "GET", nil, 7, 0
	want.Headers = http.Header{"X": {"y"}}
	want.RedirectURLs = append(want.RedirectURLs, "http://example.com/c")
	want.RedirectReasons = append(want.RedirectReasons, "meta refresh")
	got := refreshed(t, nil, req, "text/html", `<html><meta http-equiv="refresh" content="0;url=http://b.example/">`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the target's request differs (-want +got):\n%s", diff)
	}
}

func TestMetaRefreshesAndRedirectsCountTogether(t *testing.T) {
	req := &crawl.Request{URL: "http://example.com/c", Progress: crawl.Progress{RedirectURLs: []string{"http://example.com/a", "http://example.com/b"}}}
	h := downloadermw.MetaRefresh(with(t, map[string]any{"REDIRECT_MAX_TIMES": 2}), downloadermw.RedirectOptions{}, noLog())(
		answer(200, http.Header{"Content-Type": {"text/html"}}, `<html><meta http-equiv="refresh" content="0;url=d">`))
	if got := outcome(h.Fetch(t.Context(), req)); got != "failure redirect-max-times" {
		t.Errorf("the third is a %s", got)
	}
}
