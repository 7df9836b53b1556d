package downloadermw_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
)

// login is what an HTTPAuth of some settings sends.
func login(t *testing.T, values map[string]any, req *crawl.Request) (string, error) {
	t.Helper()
	mw, err := downloadermw.HTTPAuth(with(t, values))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := mw(answer(200, nil, "")).Fetch(t.Context(), req)
	if err != nil {
		return "", err
	}
	return strings.Join(resp.Request.Headers["Authorization"], ","), nil
}

func TestWhoIsToldThePassword(t *testing.T) {
	const settings, own = "Basic dTpw", "Basic dzpx" // u:p, w:q
	example := map[string]any{"HTTPAUTH_USER": "u", "HTTPAUTH_PASS": "p", "HTTPAUTH_DOMAIN": "Example.com"}
	all := map[string]any{"HTTPAUTH_USER": "u", "HTTPAUTH_PASS": "p", "HTTPAUTH_DOMAIN": "*"}
	tests := []struct {
		name     string
		settings map[string]any
		url      string
		options  crawl.Options
		headers  http.Header
		want     string
	}{
		{name: "nobody", url: "http://example.com/"},
		{name: "a domain without a password is nothing", settings: map[string]any{"HTTPAUTH_DOMAIN": "example.com"}, url: "http://example.com/"},
		{name: "the domain", settings: example, url: "http://example.com/", want: settings},
		{name: "any port of it", settings: example, url: "https://EXAMPLE.com:8443/", want: settings},
		{name: "a domain below", settings: example, url: "http://www.example.com/", want: settings},
		{name: "no domain that ends alike", settings: example, url: "http://badexample.com/"},
		{name: "no domain that begins alike", settings: example, url: "http://example.com.other.example/"},
		{name: "no other", settings: example, url: "http://other.example/"},
		{name: "all", settings: all, url: "http://other.example/", want: settings},
		{name: "a header that is there stays", settings: all, url: "http://example.com/", headers: http.Header{"Authorization": {"Bearer x"}}, want: "Bearer x"},
		{name: "a header without a value stays", settings: all, url: "http://example.com/", headers: http.Header{"Authorization": nil}},
		{name: "the request's own", url: "http://example.com/", options: crawl.Options{HTTPUser: "w", HTTPPass: "q"}, want: own},
		{name: "the request's own wins", settings: example, url: "http://example.com/", options: crawl.Options{HTTPUser: "w", HTTPPass: "q"}, want: own},
		{name: "the request's own domain", settings: all, url: "http://example.com/", options: crawl.Options{HTTPUser: "w", HTTPPass: "q", HTTPAuthDomain: "example.com"}, want: own},
		{name: "not beyond the request's own domain", settings: all, url: "http://other.example/", options: crawl.Options{HTTPUser: "w", HTTPPass: "q", HTTPAuthDomain: "example.com"}},
		{name: "a password alone", url: "http://example.com/", options: crawl.Options{HTTPPass: "p"}, want: "Basic OnA="},
		{name: "Latin letters", url: "http://example.com/", options: crawl.Options{HTTPUser: "ü", HTTPPass: "é"}, want: "Basic /Drp"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := login(t, test.settings, &crawl.Request{URL: test.url, Options: test.options, Headers: test.headers})
			if err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestLogInsThatCannotBe(t *testing.T) {
	for _, test := range []struct{ user, pass, domain, want string }{
		{"u", "secret", "", "HTTPAUTH_DOMAIN is not: write the domain"},
		{"", "secret", "", "or * to send them to every site"},
		{"u", "secret", "http://example.com/", `it is a URL; write "example.com"`},
		{"u", "secret漢", "example.com", "a character that ISO-8859-1 has not"},
		{"u:v", "secret", "example.com", "the user has a colon"},
	} {
		_, err := downloadermw.HTTPAuth(with(t, map[string]any{"HTTPAUTH_USER": test.user, "HTTPAUTH_PASS": test.pass, "HTTPAUTH_DOMAIN": test.domain}))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q at %q: %v, want %s", test.user, test.domain, err, test.want)
		}
		if test.domain == "" {
			continue
		}
		_, err = login(t, nil, &crawl.Request{URL: "http://example.com/", Options: crawl.Options{HTTPUser: test.user, HTTPPass: test.pass, HTTPAuthDomain: test.domain}})
		if outcome(nil, err) != "failure bad-request" || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("of a request, %q at %q: %v", test.user, test.domain, err)
		}
	}
}
