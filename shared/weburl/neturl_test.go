package weburl_test

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// sent returns the first line and the Host header that net/http writes.
func sent(t *testing.T, req *http.Request, write func(*http.Request, *bytes.Buffer) error) (target, host string) {
	t.Helper()
	var wire bytes.Buffer
	if err := write(req, &wire); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(&wire)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "GET "); ok {
			target = strings.TrimSuffix(rest, " HTTP/1.1")
		}
		if rest, ok := strings.CutPrefix(lines.Text(), "Host: "); ok {
			host = rest
		}
	}
	return target, host
}

func TestNetURLSendsTheseBytes(t *testing.T) {
	tests := []struct{ name, raw, target, host, proxied string }{
		{name: "a plain URL", raw: "http://example.com/a?b=c#d", target: "/a?b=c", host: "example.com"},
		{name: "no path", raw: "http://example.com", target: "/", host: "example.com"},
		{name: "an empty query", raw: "http://example.com/?", target: "/?", host: "example.com"},
		{name: "a port", raw: "http://example.com:8080/", target: "/", host: "example.com:8080"},
		{name: "a default port", raw: "http://example.com:80/", target: "/", host: "example.com"},
		{name: "IPv6", raw: "http://[2001:db8::1]:8080/", target: "/", host: "[2001:db8::1]:8080"},
		{name: "an escaped slash", raw: "http://example.com/a%2Fb", target: "/a%2Fb", host: "example.com"},
		{name: "escapes in lower case", raw: "http://example.com/%e9%7e", target: "/%e9%7e", host: "example.com"},
		{name: "a lone percent sign", raw: "http://example.com/sale-100%", target: "/sale-100%", host: "example.com"},
		{name: "an escape of another time", raw: "http://example.com/%u0041?q=%zz", target: "/%u0041?q=%zz", host: "example.com"},
		{name: "a bar", raw: "http://example.com/a|b?c|d", target: "/a|b?c|d", host: "example.com"},
		{name: "brackets and quotes", raw: "http://example.com/[a]'b'?[c]'d'", target: "/[a]'b'?[c]%27d%27", host: "example.com"},
		{name: "two slashes", raw: "http://example.com//a", target: "//a", host: "example.com"},
		{name: "two slashes and a lone percent sign", raw: "http://example.com//a%", target: "http://example.com//a%", host: "example.com"},
		{name: "a star", raw: "http://example.com/*", target: "/*", host: "example.com"},
		{name: "a user", raw: "http://user:pass@example.com/a%", target: "/a%", host: "example.com"},
		{name: "a name with an underscore", raw: "http://a_b.example.com/", target: "/", host: "a_b.example.com"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := parse(t, test.raw)
			target, host := sent(t, &http.Request{URL: u.NetURL()}, func(r *http.Request, b *bytes.Buffer) error { return r.Write(b) })
			if target != test.target || host != test.host {
				t.Errorf("sent are %s and %s, want %s and %s", target, host, test.target, test.host)
			}
			target, host = sent(t, &http.Request{URL: u.ProxyNetURL()}, func(r *http.Request, b *bytes.Buffer) error { return r.WriteProxy(b) })
			if want := "http://" + u.Host() + u.RequestTarget(); target != want || host != test.host {
				t.Errorf("to a proxy, sent are %s and %s, want %s and %s", target, host, want, test.host)
			}
		})
	}
}

// Only what net/url would rewrite may be in Opaque, which its other methods and
// net/http's proxies do not understand.
func TestNetURLKeepsThePath(t *testing.T) {
	for _, path := range []string{"/", "/a", "/a%2Fb", "/%e9", "//a", "/[a]", "/a;b=c"} {
		if got := parse(t, "http://example.com"+path).NetURL(); got.Opaque != "" || got.EscapedPath() != path {
			t.Errorf("%s is in Opaque %q and EscapedPath %q", path, got.Opaque, got.EscapedPath())
		}
	}
}

func TestNetURLCarriesNoPassword(t *testing.T) {
	if got := parse(t, "http://user:secret@example.com/").NetURL(); got.User != nil {
		t.Errorf("user %v, want none", got.User)
	}
}

func TestNetURLSendsTheCorpus(t *testing.T) {
	n := 0
	for _, c := range wptURLs(t) {
		u, err := c.parse()
		if err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
			continue
		}
		n++
		got := u.NetURL()
		want := u.RequestTarget()
		if strings.HasPrefix(got.Opaque, "//") {
			want = u.Scheme() + "://" + u.Host() + want
		}
		if got.RequestURI() != want || got.Host != u.Host() {
			t.Errorf("%s is sent as %s to %s", u, got.RequestURI(), got.Host)
		}
	}
	if n < 200 {
		t.Errorf("%d URLs checked, want at least 200", n)
	}
}
