package weburl_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/idna"

	"github.com/skitterhq/skitter/shared/weburl"
)

func TestRegisteredDomain(t *testing.T) {
	tests := []struct{ name, host, want string }{
		{"one label below the suffix", "example.com", "example.com"},
		{"more labels", "a.b.example.co.uk", "example.co.uk"},
		{"upper case and a final dot", "WWW.Example.COM.", "example.com"},
		{"a suffix that a company gives away", "a.github.io", "a.github.io"},
		{"letters beyond ASCII", "www.bücher.de", "xn--bcher-kva.de"},
		{"a suffix alone", "co.uk", "co.uk"},
		{"a single label", "localhost", "localhost"},
		{"an IPv4 address", "192.0.2.1", "192.0.2.1"},
		{"an IPv6 address", "2001:db8::1", "2001:db8::1"},
		{"an IPv6 address in brackets", "[2001:db8::1]", "[2001:db8::1]"},
		{"an IPv6 address with an IPv4 tail", "[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]"},
		{"no hostname", ".example.com", ".example.com"},
		{"nothing", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := weburl.RegisteredDomain(test.host); got != test.want {
				t.Errorf("RegisteredDomain(%q) = %q, want %q", test.host, got, test.want)
			}
		})
	}
}

func TestRegisteredDomainOfPublicSuffixList(t *testing.T) {
	call := regexp.MustCompile(`(?m)^checkPublicSuffix\('(.*)', (?:null|'(.*)')\);`)
	calls := call.FindAllStringSubmatch(string(testdata(t, "test_psl.txt")), -1)
	if len(calls) < 75 {
		t.Errorf("%d cases read, want at least 75", len(calls))
	}
	for _, c := range calls {
		host, want := c[1], c[2]
		if want == "" {
			want = strings.ToLower(host) // null: there is none, and the host stands for itself
		}
		if ascii, err := idna.Lookup.ToASCII(want); err == nil {
			want = ascii
		}
		if got := weburl.RegisteredDomain(host); got != want {
			t.Errorf("RegisteredDomain(%q) = %q, want %q", host, got, want)
		}
	}
}
