package weburl_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/skitterhq/skitter/shared/weburl"
)

// parse is Parse for a URL that is right.
func parse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestParse(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"an empty path is the root", "http://example.com", "http://example.com/"},
		{"scheme and host are lowered, the path is not", "HTTP://EXAMPLE.com/A", "http://example.com/A"},
		{"blanks around it are cut", " \t\nhttp://example.com/ \x00", "http://example.com/"},
		{"line breaks in it are dropped", "ht\ntp://exam\tple.com/a\r\nb", "http://example.com/ab"},
		{"a default port is dropped", "https://example.com:443/", "https://example.com/"},
		{"another port stays", "https://example.com:80/", "https://example.com:80/"},
		{"an international host is punycode", "http://bücher.example:8080/ä?ö=ü#ß", "http://xn--bcher-kva.example:8080/%C3%A4?%C3%B6=%C3%BC#%C3%9F"},
		{"an IPv4 host is written plainly", "http://0x7f.1/", "http://127.0.0.1/"},
		{"an IPv6 host is written shortly", "http://[2001:DB8:0:0::1]:80/", "http://[2001:db8::1]/"},
		{"dot segments are resolved", "http://example.com/a/../b/./c/%2e%2E/d", "http://example.com/b/d"},
		{"a lone percent sign stays", "http://example.com/100%?q=%zz", "http://example.com/100%?q=%zz"},
		{"a backslash is a slash in a path", `http:\\example.com\a?b\c`, `http://example.com/a?b\c`},
		{"an empty query stays", "http://example.com/?#", "http://example.com/?#"},
		{"a wrong byte is U+FFFD", "http://example.com/\xff", "http://example.com/%EF%BF%BD"},
		{"other schemes are taken", "mailto:a@example.com", "mailto:a@example.com"},
		{"a number may follow another scheme", "tel:112", "tel:112"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := parse(t, test.raw).String(); got != test.want {
				t.Errorf("Parse(%q) = %q, want %q", test.raw, got, test.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, raw, reason string }{
		{"an empty text", "", "no scheme: write http:// or https://"},
		{"a host alone", "example.com", "no scheme: write http:// or https://"},
		{"a host and a path", "example.com/x", "no scheme: write http:// or https://"},
		{"a host and a port", "example.com:8080/x", "no scheme: write http:// or https://"},
		{"localhost and a port", "localhost:8080", "no scheme: write http:// or https://"},
		{"a path", "/x", "no scheme: write http:// or https://"},
		{"no host", "http://", "no host"},
		{"a port of letters", "http://example.com:port/", "the port is not a number"},
		{"a port too large", "http://example.com:65536/", "the port is above 65535"},
		{"a blank in the host", "http://ex ample/", "the host is not a valid name"},
		{"an open bracket", "http://[oops/", "the host is not a valid address"},
		{"an IPv4 address too large", "http://1.2.3.256/", "the host is not a valid address"},
		{"a URL too long", "http://example.com/" + strings.Repeat("a", weburl.MaxLength), "longer than 65536 bytes"},
		{"a URL too long once escaped", "http://example.com/" + strings.Repeat("é", weburl.MaxLength/4), "longer than 65536 bytes once escaped"},
		{"a short URL in much padding", strings.Repeat(" ", weburl.MaxLength) + "http://example.com/", "longer than 65536 bytes"},
		{"a user of many at signs", "http://" + strings.Repeat("@", 100) + "h/", "the host is too long"},
		{"a user too long once escaped", "http://" + strings.Repeat(" ", 1000) + "@h/", "the host is too long"},
		{"a user too long", "http://" + strings.Repeat("@", 5000) + "h/", "the host is too long"},
		{"another scheme's URL too long", "other:" + strings.Repeat("/", 5000), "longer than 4096 bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u, err := weburl.Parse(test.raw)
			var parseError *weburl.ParseError
			if !errors.As(err, &parseError) {
				t.Fatalf("Parse = %q, %v, want a ParseError", u, err)
			}
			if !strings.HasPrefix(parseError.Reason, test.reason) {
				t.Errorf("reason %q, want %q", parseError.Reason, test.reason)
			}
			if !u.IsZero() {
				t.Errorf("URL %q beside the error", u)
			}
			if len(err.Error()) > 400 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestErrorsHideThePassword(t *testing.T) {
	for _, raw := range []string{"http://user:secret@[oops/", "http://user:secret@h:x/a@b", "//user:secret@h/"} {
		_, err := weburl.Parse(raw)
		if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "user") {
			t.Errorf("Parse(%q) fails with %v", raw, err)
		}
	}
}

func TestResolve(t *testing.T) {
	const page = "http://example.com/dir/page.html?x=1#f"
	tests := []struct{ name, ref, want string }{
		{"nothing is the page without fragment", "", "http://example.com/dir/page.html?x=1"},
		{"a fragment", "#g", "http://example.com/dir/page.html?x=1#g"},
		{"a query", "?y", "http://example.com/dir/page.html?y"},
		{"a file", "a.html", "http://example.com/dir/a.html"},
		{"a file in another folder", "../b/a.html", "http://example.com/b/a.html"},
		{"more parents than there are", "../../../x", "http://example.com/x"},
		{"a path", "/p/12", "http://example.com/p/12"},
		{"another host", "//other.example/x", "http://other.example/x"},
		{"another host with backslashes", `/\other.example/x`, "http://other.example/x"},
		{"another host after any number of slashes", "////other.example/x", "http://other.example/x"},
		{"a scheme without slashes is relative", "http:y", "http://example.com/dir/y"},
		{"another scheme without slashes is not", "https:y", "https://y/"},
		{"a colon behind a digit", "1:2/x", "http://example.com/dir/1:2/x"},
		{"a colon behind a blank", "foo bar:baz", "http://example.com/dir/foo%20bar:baz"},
		{"padding", "\n\t /x \n", "http://example.com/x"},
		{"a script", "javascript:void(0)", "javascript:void(0)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parse(t, page).Resolve(test.ref)
			if err != nil || got.String() != test.want {
				t.Errorf("Resolve(%q) = %q, %v, want %q", test.ref, got, err, test.want)
			}
		})
	}
	t.Run("the zero URL is no base", func(t *testing.T) {
		if u, err := (weburl.URL{}).Resolve("/x"); err == nil {
			t.Errorf("Resolve = %q, want an error", u)
		}
	})
}

func TestResolveIn(t *testing.T) {
	tests := []struct {
		name, ref string
		enc       encoding.Encoding
		want      string
	}{
		{"no encoding is UTF-8", "/ф?q=п", nil, "/%D1%84?q=%D0%BF"},
		{"only the query follows the page", "/ф?q=привет#ф", charmap.Windows1251, "/%D1%84?q=%EF%F0%E8%E2%E5%F2#%D1%84"},
		{"a letter that the encoding lacks is a character reference", "?a=1&b=€x", charmap.ISO8859_1, "/?a=1&b=%26%238364%3Bx"},
		{"two such letters", "?€€", charmap.ISO8859_1, "/?%26%238364%3B%26%238364%3B"},
		{"an escape stays as it is", "?q=%D0%BF&r=п", charmap.Windows1251, "/?q=%D0%BF&r=%EF"},
		{"a byte that is an ASCII character stays", "?\u2212", japanese.ShiftJIS, "/?%81|"},
		{"Japanese", "?q=日本", japanese.EUCJP, "/?q=%C6%FC%CB%DC"},
		{"Japanese with states", "?q=サ&x", japanese.ISO2022JP, "/?q=%1B$B%5%1B(B&x"},
		{"a shift of ISO-2022-JP is not one", "?\x1bx", japanese.ISO2022JP, "/?%26%2365533%3Bx"},
		{"Chinese", "?q=龥", simplifiedchinese.GBK, "/?q=%FD%9B"},
		{"UTF-16 pages send UTF-8", "?é", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "/?%C3%A9"},
		{"line breaks go first", "?\tп\n", charmap.Windows1251, "/?%EF"},
		{"a number sign of ISO-2022-JP is no fragment", "?Ａ", japanese.ISO2022JP, "/?%1B$B%23A%1B(B"},
		{"a quote is escaped", "?п'", charmap.Windows1251, "/?%EF%27"},
		{"a query longer than the buffer", "?" + strings.Repeat("п", 1000), charmap.Windows1251, "/?" + strings.Repeat("%EF", 1000)},
		{"a query sign in the fragment is no query", "#?п", charmap.Windows1251, "/#?%D0%BF"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parse(t, "http://example.com/").ResolveIn(test.ref, test.enc)
			if err != nil || got.String() != "http://example.com"+test.want {
				t.Errorf("ResolveIn(%q) = %q, %v, want %q", test.ref, got, err, test.want)
			}
		})
	}
	t.Run("other schemes send UTF-8", func(t *testing.T) {
		for ref, want := range map[string]string{
			"mailto:a@example.com?subject=é": "mailto:a@example.com?subject=%C3%A9",
			"wss://example.com/?é":           "wss://example.com/?%C3%A9",
		} {
			got, err := parse(t, "http://example.com/").ResolveIn(ref, charmap.Windows1252)
			if err != nil || got.String() != want {
				t.Errorf("ResolveIn(%q) = %q, %v, want %q", ref, got, err, want)
			}
		}
	})
}

func TestParts(t *testing.T) {
	u := parse(t, "https://user:pass@[2001:db8::1]:8443/a%20b?c=d#e")
	for _, part := range []struct{ name, got, want string }{
		{"Scheme", u.Scheme(), "https"},
		{"Host", u.Host(), "[2001:db8::1]:8443"},
		{"Hostname", u.Hostname(), "2001:db8::1"},
		{"Port", u.Port(), "8443"},
		{"Path", u.Path(), "/a%20b"},
		{"Query", u.Query(), "c=d"},
		{"Fragment", u.Fragment(), "e"},
		{"Origin", u.Origin(), "https://[2001:db8::1]:8443"},
		{"RequestTarget", u.RequestTarget(), "/a%20b?c=d"},
		{"Redacted", u.Redacted(), "https://xxxxx@[2001:db8::1]:8443/a%20b?c=d#e"},
		{"WithoutFragment", u.WithoutFragment().String(), "https://user:pass@[2001:db8::1]:8443/a%20b?c=d"},
	} {
		if part.got != part.want {
			t.Errorf("%s = %q, want %q", part.name, part.got, part.want)
		}
	}
	if u.WithoutFragment() != parse(t, u.WithoutFragment().String()) {
		t.Error("a URL without its fragment is not equal to the same URL parsed")
	}
	for _, raw := range []string{"file:///etc/hosts", "mailto:a@example.com", "blob:x"} {
		if got := parse(t, raw).Origin(); got != "null" {
			t.Errorf("origin of %s = %q, want null", raw, got)
		}
	}
	var zero weburl.URL
	if zero.String()+zero.Scheme()+zero.Host()+zero.Path()+zero.Query()+zero.Fragment()+zero.Redacted() != "" {
		t.Error("the zero URL has parts")
	}
}

// Run with -race: a URL is shared by all goroutines that read one page.
func TestConcurrentUse(t *testing.T) {
	base := parse(t, "http://example.com/dir/")
	other := parse(t, "ftp://example.com/dir/")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, ref := range oddRefs {
				for _, b := range []weburl.URL{base, other} {
					if u, err := b.ResolveIn(ref, charmap.Windows1252); err == nil {
						weburl.RequestFingerprint("GET", u, nil, nil)
					}
				}
			}
		})
	}
	wg.Wait()
}
