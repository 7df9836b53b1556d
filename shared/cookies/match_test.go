package cookies_test

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/cookies"
)

func TestWhatIsSentWhere(t *testing.T) {
	tests := []struct {
		name string
		from string // the page that sets; http://example.com/ if empty
		set  []string
		to   string
		want string
	}{
		{name: "a host's cookie comes back", set: []string{"a=1"}, to: "http://example.com/x", want: "a=1"},
		{name: "and not to a host below", set: []string{"a=1"}, to: "http://www.example.com/"},
		{name: "nor above", from: "http://www.example.com/", set: []string{"a=1"}, to: "http://example.com/"},
		{name: "nor to another with the same end", set: []string{"a=1; Domain=example.com"}, to: "http://badexample.com/"},
		{name: "a domain's cookie goes below", set: []string{"a=1; Domain=example.com"}, to: "http://a.b.example.com/", want: "a=1"},
		{name: "a dot before the domain says nothing", set: []string{"a=1; Domain=.example.com"}, to: "http://www.example.com/", want: "a=1"},
		{name: "two dots are another name", set: []string{"a=1; Domain=..example.com"}, to: "http://example.com/"},
		{name: "a host may set one for its parent", from: "http://www.example.com/", set: []string{"a=1; Domain=example.com"}, to: "http://x.example.com/", want: "a=1"},
		{name: "but not for its neighbour", from: "http://www.example.com/", set: []string{"a=1; Domain=x.example.com"}, to: "http://x.example.com/"},
		{name: "nor for its child", set: []string{"a=1; Domain=www.example.com"}, to: "http://www.example.com/"},
		{name: "nor for another site", set: []string{"a=1; Domain=example.org"}, to: "http://example.org/"},
		{name: "capitals of a domain do not count", set: []string{"a=1; DOMAIN=EXAMPLE.com"}, to: "http://www.example.com/", want: "a=1"},
		{name: "the last Domain counts", from: "http://a.example.com/", set: []string{"a=1; Domain=a.example.com; Domain=example.com"}, to: "http://b.example.com/", want: "a=1"},
		{name: "an empty one means the host alone", set: []string{"a=1; Domain=example.com; Domain="}, to: "http://www.example.com/"},
		{name: "a Domain with a dot at its end is another", set: []string{"a=1; Domain=example.com."}, to: "http://example.com/"},
		{name: "a Domain with a port is another", set: []string{"a=1; Domain=example.com:80"}, to: "http://example.com/"},
		{name: "a Domain that is not ASCII is refused", set: []string{"a=1; Domain=exämple.com"}, to: "http://example.com/"},
		{name: "ports do not count", from: "http://example.com:8080/", set: []string{"a=1"}, to: "http://example.com:9090/", want: "a=1"},
		{name: "names of other scripts go by their code", from: "http://exämple.com/", set: []string{"a=1; Domain=xn--exmple-cua.com"}, to: "http://www.exämple.com/", want: "a=1"},

		{name: "a public suffix takes no cookie from below", from: "http://evil.co.uk/", set: []string{"a=1; Domain=co.uk"}, to: "http://victim.co.uk/"},
		{name: "nor a private one", from: "http://evil.github.io/", set: []string{"a=1; Domain=github.io"}, to: "http://victim.github.io/"},
		{name: "nor a top-level domain", set: []string{"a=1; Domain=com"}, to: "http://example.org/"},
		{name: "nor one that nobody knows", from: "http://a.internal/", set: []string{"a=1; Domain=internal"}, to: "http://b.internal/"},
		{name: "it may have its own", from: "http://github.io/", set: []string{"a=1; Domain=github.io"}, to: "http://github.io/", want: "a=1"},
		{name: "which nobody below has", from: "http://github.io/", set: []string{"a=1; Domain=github.io"}, to: "http://victim.github.io/"},
		{name: "below a private suffix is a domain", from: "http://me.github.io/", set: []string{"a=1; Domain=me.github.io"}, to: "http://x.me.github.io/", want: "a=1"},
		{name: "localhost may have its own", from: "http://localhost:8080/", set: []string{"a=1; Domain=localhost"}, to: "http://localhost:9090/", want: "a=1"},

		{name: "an address has cookies", from: "http://127.0.0.1/", set: []string{"a=1"}, to: "http://127.0.0.1/x", want: "a=1"},
		{name: "also as a Domain", from: "http://127.0.0.1/", set: []string{"a=1; Domain=127.0.0.1"}, to: "http://127.0.0.1/x", want: "a=1"},
		{name: "which is the same one", from: "http://127.0.0.1/", set: []string{"a=1", "a=2; Domain=127.0.0.1"}, to: "http://127.0.0.1/x", want: "a=2"},
		{name: "a host that begins with a dot is itself alone", from: "http://.example.com/", set: []string{"a=1"}, to: "http://www.example.com/"},
		{name: "and has its own", from: "http://.example.com/", set: []string{"a=1"}, to: "http://.example.com/", want: "a=1"},
		{name: "an address has no parent", from: "http://127.0.0.1/", set: []string{"a=1; Domain=0.0.1"}, to: "http://10.0.0.1/"},
		{name: "an address of version 6", from: "http://[2001:db8::1]/", set: []string{"a=1"}, to: "http://[2001:db8::1]:81/", want: "a=1"},

		{name: "the default path is the folder", from: "http://example.com/a/b", set: []string{"a=1"}, to: "http://example.com/a/c", want: "a=1"},
		{name: "and not the folder above", from: "http://example.com/a/b", set: []string{"a=1"}, to: "http://example.com/"},
		{name: "the folder's own name is in it", from: "http://example.com/a/b", set: []string{"a=1"}, to: "http://example.com/a", want: "a=1"},
		{name: "a query is no path", from: "http://example.com/?x=/a/b", set: []string{"a=1"}, to: "http://example.com/b", want: "a=1"},
		{name: "a path", set: []string{"a=1; Path=/a"}, to: "http://example.com/a/b", want: "a=1"},
		{name: "and its neighbour with the same beginning", set: []string{"a=1; Path=/a"}, to: "http://example.com/ab"},
		{name: "a path with a slash at its end", set: []string{"a=1; Path=/a/"}, to: "http://example.com/a"},
		{name: "a path that is none is the default", from: "http://example.com/a/b", set: []string{"a=1; Path=x"}, to: "http://example.com/a/", want: "a=1"},
		{name: "the last Path counts", from: "http://example.com/a/b", set: []string{"a=1; Path=/; Path=/q; Path"}, to: "http://example.com/a/", want: "a=1"},
		{name: "capitals of a path count", set: []string{"a=1; Path=/A"}, to: "http://example.com/a"},
		{name: "an odd path survives", set: []string{"a=1; Path=/a b,@;"}, to: "http://example.com/"},
		{name: "a path too long to be read is the default", set: []string{"a=1; Path=/" + strings.Repeat("x", 1024)}, to: "http://example.com/", want: "a=1"},

		{name: "a secure cookie does not go over http", from: "https://example.com/", set: []string{"a=1; Secure", "b=2"}, to: "http://example.com/", want: "b=2"},
		{name: "but over https", from: "https://example.com/", set: []string{"a=1; secure=no"}, to: "https://example.com:444/", want: "a=1"},
		{name: "http cannot set it", set: []string{"a=1; Secure"}, to: "https://example.com/"},
		{name: "this machine is trusted", from: "http://localhost:8080/", set: []string{"a=1; Secure"}, to: "http://localhost/", want: "a=1"},
		{name: "by its address too", from: "http://[::1]/", set: []string{"a=1; Secure"}, to: "http://[::1]/", want: "a=1"},

		{name: "longer paths go first", set: []string{"a=1", "b=2; Path=/x", "c=3; Path=/x/y", "d=4"}, to: "http://example.com/x/y/z", want: "c=3; b=2; a=1; d=4"},
		{name: "then the older ones", set: []string{"b=1", "a=1", "b=2"}, to: "http://example.com/", want: "b=2; a=1"},
		{name: "host and domain keep two of one name", set: []string{"a=1", "a=2; Domain=example.com"}, to: "http://example.com/", want: "a=1; a=2"},
		{name: "other schemes have none", from: "ftp://example.com/", set: []string{"a=1"}, to: "ftp://example.com/"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.from == "" {
				test.from = "http://example.com/"
			}
			j := take(t, cookies.Jars{}, test.from, test.set...)
			if got := header(t, j, test.to); got != test.want {
				t.Errorf("%s sends %q, want %q", test.to, got, test.want)
			}
		})
	}
}

func TestPlainHTTPCannotHideASecureCookie(t *testing.T) {
	secure := take(t, cookies.Jars{}, "https://www.example.com/", "a=1; Secure; Domain=example.com; Path=/login", "b=1", "c=1; Secure")
	tests := []struct {
		name, from, set string
		want            string // at https://www.example.com/login/x
	}{
		{"the same place", "http://www.example.com/", "a=2; Domain=example.com; Path=/login", "a=1; b=1; c=1"},
		{"a longer path", "http://www.example.com/", "a=2; Path=/login/x", "a=1; b=1; c=1"},
		{"a host above", "http://example.com/", "a=2; Domain=example.com; Path=/login", "a=1; b=1; c=1"},
		{"for more hosts", "http://www.example.com/", "c=2; Domain=example.com", "a=1; b=1; c=1"},
		{"not even to take it out", "http://www.example.com/", "a=; Domain=example.com; Path=/login; Max-Age=0", "a=1; b=1; c=1"},
		{"a shorter path stands behind it", "http://www.example.com/", "a=2; Path=/", "a=1; b=1; c=1; a=2"},
		{"one that was not secure", "http://www.example.com/", "b=2", "a=1; b=2; c=1"},
		{"https may", "https://www.example.com/", "a=2; Domain=example.com; Path=/login", "a=2; b=1; c=1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			j := take(t, secure, test.from, test.set)
			if got := header(t, j, "https://www.example.com/login/x"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	other, report := secure.Take("other", parseURL(t, "http://www.example.com/"), []string{"a=2; Path=/login"}, noon)
	if len(report.Refused) > 0 || other.String() == secure.String() {
		t.Errorf("another jar's cookie is refused: %v", report.Refused)
	}
}

func TestPrefixesKeepTheirPromise(t *testing.T) {
	const https = "https://www.example.com/a/b"
	tests := []struct {
		from, set string
		taken     bool
	}{
		{https, "__Secure-a=1; Secure", true},
		{https, "__Secure-a=1", false},
		{https, "__secure-a=1", false},
		{"http://localhost/", "__Secure-a=1; Secure", true},
		{https, "__Host-a=1; Secure; Path=/", true},
		{https, "__Host-a=1; Secure", false},
		{https, "__Host-a=1; Path=/", false},
		{https, "__HOST-a=1; Secure; Path=/; Domain=www.example.com", false},
		{https, "__Host-a=1; Secure; Path=/a", false},
		{"https://www.example.com/", "__Host-a=1; Secure", false}, // Path must be there
		{https, "=__Host-a=1; Secure; Path=/", false},
		{https, "__Secure-a; Secure", false},
	}
	for _, test := range tests {
		j := take(t, cookies.Jars{}, test.from, test.set)
		if taken := !j.Empty(); taken != test.taken {
			t.Errorf("%s sets %q: taken %v, want %v", test.from, test.set, taken, test.taken)
		}
	}
}
