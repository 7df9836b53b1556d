package weburl_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/weburl"
)

// checkWeb fails t if web parses ref, and not as the standard does. It reports
// whether it parsed it.
func checkWeb(t *testing.T, base *weburl.URL, ref string) bool {
	t.Helper()
	got, ok, gotErr := weburl.Web(base, ref)
	if !ok {
		return false
	}
	want, wantErr := weburl.Standard(base, ref)
	switch {
	case (gotErr == nil) != (wantErr == nil):
		t.Errorf("%q on %v is %q, %v; to the standard it is %q, %v", ref, base, got, gotErr, want, wantErr)
	case got != want:
		t.Errorf("%q on %v is %q, but to the standard it is %q\nin parts: %#v\nand:      %#v", ref, base, got, want, got, want)
	}
	return gotErr == nil
}

// bases differ in all that may matter to a reference.
var bases = []string{
	"http://example.com/dir/page.html?x=1#f",
	"https://example.com:8443/",
	"https://user:secret@example.com/a/b/../c//d?",
	"http://127.0.0.1:8080/x;y=z?a=b&c",
	"http://xn--bcher-kva.example/",
	"http://[2001:db8::1]/a/",
	"http://example.com/%2e%2e/100%/%7e",
	"http://a.-b.%41/",
	"file:///C:/dir/x",
	"file:///x",
	"ftp://example.com/pub/",
	"data:text/plain,x",
	"other://Host%41/a/b",
}

// oddRefs are references that are easily read wrongly.
var oddRefs = []string{
	"", "#", "#a b`<>\"", "?", "?q=a b&'=\"", "?a?b#c?d#e",
	"/", "/p/12", "/p/12?x=1&y=2#z", "p", "./p", "../p", "../../../p", ".", "..", "./", "../", "a/./b/../c", "a/..", "a/.",
	"...", ".../x", ".a", "a.", "/.a/..b/c..", "/%2e/%2E%2e/.%2e/x", "/a%2eb", "%2e", "/%2e%2e%2e", "/..//../x", "//h//../x",
	"//", "///", "//example.org", "//example.org/x", "//EXAMPLE.org:80/x", "//example.org:443", "//example.org:0443/",
	"http:", "http:/", "http:x", "http:/x", "http:///x", "http://", "http://?", "http://#", "http://a", "HTTP://A?b", "https://a#b", "http:?q", "https:#f", "https:../x",
	"http://example.com", "http://example.com:/", "http://example.com:80/", "https://example.com:80/", "http://example.com:65535/", "http://example.com:65536/", "http://example.com:x/", "http://example.com:80:80/",
	"http://a..b/", "http://.a/", "http://a./", "http://-a/", "http://a-/", "http://a-.b/", "http://a.-b/", "http://a_b/", "http://xn--a/", "http://XN--bcher-kva.example/", "http://axn--b/", "http://xn-/", "http://a--b/", "http://a.b-/",
	"http://1.2.3.4/", "http://1.2.3/", "http://01.2.3.4/", "http://1.2.3.256/", "http://0x7f.1/", "http://1.2.3.4.5/", "http://a.1/", "http://a.0x/", "http://4294967295/", "http://0.0.0.0/", "http://1.2.3.04/", "http://a.1x/", "http://1.2.3.4./",
	"http://user@example.com/", "http://@example.com/", "http://example.com@/", "http://u:p@example.com:81/x/../y", "http://[2001:db8::1]/b", "http://[2001:db8::1]:8080/b", "http://[::1", "http://[::1]x/",
	"http://bücher.example/", "http://xn--bcher-kva.example/x", "http://xn--bcher-kva.example:80", "/é", "?é=ü", "#ß", "/\xff", "/a\xc3\xff?\xe2\x82#\xf0", "/\x00", "/\x7f", "/a\tb", "/a\nb", " /x ", "\t/x\n", "/x\x01", "h\nttp://a.\tb/",
	"\\x", "/a\\b", "..\\x", "\\\\h\\x", "/\\h/x", "http:\\\\h", "http:/\\h", "http:\\h", "?a\\b#c\\d", "a\\..\\b",
	"/100%", "/%", "/%4", "/%zz?%zz#%zz", "/a|b^c`d{e}", "/[x]", "mailto:a@example.com", "javascript:void(0)", "1:2/x", "foo bar:baz", "a:b", "tel:+1",
	"file:///x", "http://example.com/a b?c d#e f", "/" + strings.Repeat("\x00", 300), "http://é.example", "http://a%41/", "http://a.-b.%41/", "http://ex ample/",
	"http://K.example/", "//:80/", "//:80", "http://:80/x", "http://example.com:80", "http://other:80/x",
}

func TestWebIsTheStandard(t *testing.T) {
	parsed := 0
	for _, text := range bases {
		base, err := weburl.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range oddRefs {
			if checkWeb(t, &base, ref) {
				parsed++
			}
		}
	}
	for _, ref := range oddRefs {
		checkWeb(t, nil, ref)
	}
	if parsed < 6*len(oddRefs) {
		t.Errorf("%d were parsed: the test compares next to nothing", parsed)
	}
}

func TestWebIsTheStandardOnCorpora(t *testing.T) {
	parsed := 0
	for _, c := range wptURLs(t) {
		checkWeb(t, nil, c.Input)
		all := bases
		if c.Base != nil {
			all = append(all[:len(all):len(all)], *c.Base)
		}
		for _, text := range all {
			if base, err := weburl.Parse(text); err == nil && checkWeb(t, &base, c.Input) {
				parsed++
			}
		}
	}
	t.Logf("%d were parsed", parsed)
	if parsed == 0 {
		t.Error("none was parsed: the test compares nothing")
	}
}

// Fuzzing seldom writes a URL; this puts together pieces of them.
func TestWebIsTheStandardOnRandomURLs(t *testing.T) {
	pieces := []string{
		"http:", "https:", "HTTP:", "/", "/", "/", "//", "\\", "a", "b.example", "example.com", "EXAMPLE.com", "xn--bcher-kva", "127.0.0.1", "1", "0x1", "[::1]",
		":", ":80", ":443", ":8080", "@", "u:p@", ".", "..", "../", "./", "%2e", "%2E", "-", "_", "?", "#", "&", "=", "x=1", " ", "'", "\"", "<", "^", "|", "{", "é", "\t", "\n", "\xff", "%", "%41", "%zz", ";", "+", "~",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(8) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	parsed := 0
	for range 20_000 {
		base, err := weburl.Parse("http://" + random())
		if err != nil {
			base, _ = weburl.Parse(bases[rng.IntN(len(bases))])
		}
		checkWeb(t, nil, base.String())
		ref := random()
		if checkWeb(t, &base, ref) {
			parsed++
			u, _ := base.Resolve(ref)
			checkSame(t, u)
		}
		if t.Failed() {
			return
		}
	}
	if parsed < 10_000 {
		t.Errorf("%d were parsed: the test compares next to nothing", parsed)
	}
}

// A page has some 60 links, so what one costs is what a page costs.
func TestPlainLinkCostsOneAllocation(t *testing.T) {
	base, err := weburl.Parse("https://www.example.com/a/b.html?c=d")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{
		"/p/12", "?page=2", "#top", "", "../x/y.html", "page-3.html", "//cdn.example.com/x.js",
		"http://example.org", "https://www.example.com/x?y=1&z=2#w", "HTTPS://Example.COM:8443/x", "http://127.0.0.1:8000/x",
		"/wiki/%D0%9F%D1%80", "/wiki/Прага", "/a b", " /x ", "/sale-100%",
	} {
		if n := testing.AllocsPerRun(10, func() { base.Resolve(ref) }); n > 1 {
			t.Errorf("resolving %q allocates %v times", ref, n)
		}
	}
}

func TestPartsAreFoundInTheText(t *testing.T) {
	for _, text := range append(bases, "web+x:/.//p", "mailto:a@example.com?b#c", "data:,", "http://u@h/?#", "file:///") {
		u, err := weburl.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := weburl.Indexed(u.String()); got != u {
			t.Errorf("%s in parts is %#v, want %#v", u, got, u)
		}
	}
}
