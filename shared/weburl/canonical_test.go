package weburl_test

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/weburl"
)

func TestCanonical(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"default port, dot segments and fragment go", "http://EXAMPLE.com:80/a/../b?x=#frag", "http://example.com/b?x="},
		{"user and password keep their case", "https://user:PW@Example.COM/résumé?q=a b&q=a+b&z", "https://user:PW@example.com/r%C3%A9sum%C3%A9?q=a+b&q=a+b&z="},
		{"escaped slashes stay, escaped tildes do not", "http://example.com/a%2fb%3fc/%7Euser;p=1", "http://example.com/a%2Fb%3Fc/~user;p=1"},
		{"arguments are sorted by name and value", "https://example.com/path/?b=2&a=1&a=0&c", "https://example.com/path/?a=0&a=1&b=2&c="},
		{"values of one name are sorted", "http://example.com/?a=1&a=0", "http://example.com/?a=0&a=1"},
		{"a semicolon does not separate", "http://example.com/index.html?x=1;y=2", "http://example.com/index.html?x=1%3By%3D2"},
		{"an international host", "http://bücher.example/ä?ö=ü", "http://xn--bcher-kva.example/%C3%A4?%C3%B6=%C3%BC"},
		{"a bar stays", "http://example.com/a b|c", "http://example.com/a%20b|c"},
		{"an escaped bar too", "http://example.com/a%7Cb", "http://example.com/a|b"},
		{"empty arguments go", "http://example.com/?&&a=1&", "http://example.com/?a=1"},
		{"a query without arguments goes", "http://example.com/?&", "http://example.com/"},
		{"an empty query goes", "http://example.com/?", "http://example.com/"},
		{"a name is sorted as decoded", "http://example.com/?%62=1&a=2&%7a=3", "http://example.com/?a=2&b=1&z=3"},
		{"a shorter name comes first", "http://example.com/?a-b=1&a=2", "http://example.com/?a=2&a-b=1"},
		{"a second = belongs to the value", "http://example.com/?a=b=c", "http://example.com/?a=b%3Dc"},
		{"a lone percent sign stays in a path", "http://example.com/sale-100%", "http://example.com/sale-100%"},
		{"and is escaped in a query", "http://example.com/?q=100%", "http://example.com/?q=100%25"},
		{"an escaped percent sign stays escaped", "http://example.com/100%25?q=%2520", "http://example.com/100%25?q=%2520"},
		{"a caret is escaped", "http://example.com/a^b", "http://example.com/a%5Eb"},
		{"another scheme's host is lowered", "sftp://UsEr:PaSsWoRd@www.EXAMPLE.com/", "sftp://UsEr:PaSsWoRd@www.example.com/"},
		{"a drive letter does not come out of an escape", "file:///C%7C/x", "file:///C%7C/x"},
		{"an opaque path is left alone", "mailto:a@example.com?b=2&a=1#c", "mailto:a@example.com?b=2&a=1"},
		{"its trailing blank goes", "data:x #y", "data:x"},
		{"many arguments", "http://example.com/?" + strings.Repeat("b=1&", 300) + "a=1", "http://example.com/?a=1" + strings.Repeat("&b=1", 300)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := parse(t, test.raw)
			got := weburl.Canonical(u)
			if got != test.want {
				t.Errorf("Canonical(%q) = %q, want %q", test.raw, got, test.want)
			}
			if again := weburl.Canonical(parse(t, got)); again != got {
				t.Errorf("the canonical form of %q is %q", got, again)
			}
		})
	}
}

func TestCanonicalIsStable(t *testing.T) {
	for _, path := range []string{
		"/%%34%31", "/%4%31", "/%%34%%31", "/%2%35", "/%25%34%31", "/%%25", "/%2525", "/%3f%2f%23", "/%2E%2E%2F", "/a%2e", "/%7C%5B",
		"/?%%34%31", "/?a%26b=%3D&%2B=+", "/?q=a%2520b&x=%26&b&a=", "/?=", "/?=&=a&a",
	} {
		checkCanonical(t, parse(t, "http://example.com"+path))
	}
	for _, base := range bases {
		for _, ref := range oddRefs {
			if u, err := parse(t, base).Resolve(ref); err == nil {
				checkSame(t, u)
			}
		}
	}
}

func TestCanonicalWithFragment(t *testing.T) {
	u := parse(t, "http://example.com/?b&a#!/p2")
	if got, want := weburl.CanonicalWithFragment(u), "http://example.com/?a=&b=#!/p2"; got != want {
		t.Errorf("CanonicalWithFragment = %q, want %q", got, want)
	}
	u = parse(t, "http://example.com/#!/p2")
	if got := weburl.CanonicalWithFragment(u); got != u.String() {
		t.Errorf("CanonicalWithFragment = %q, want %q", got, u)
	}
}
