package downloadermw_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/stats"
)

func TestOffsiteScope(t *testing.T) {
	one := []string{"example.com"}
	tests := []struct {
		name    string
		domains []string
		req     crawl.Request
		dropped bool
	}{
		{"the domain itself", one, crawl.Request{URL: "http://example.com/a"}, false},
		{"a subdomain", one, crawl.Request{URL: "https://a.b.example.com/"}, false},
		{"any port", one, crawl.Request{URL: "http://example.com:8080/"}, false},
		{"capitals", []string{"Example.COM"}, crawl.Request{URL: "http://EXAMPLE.com/"}, false},
		{"a dot at the end", one, crawl.Request{URL: "http://example.com./"}, false},
		{"another domain", one, crawl.Request{URL: "http://example.org/"}, true},
		{"a domain that ends alike", one, crawl.Request{URL: "http://badexample.com/"}, true},
		{"the domain in another's name", one, crawl.Request{URL: "http://example.com.evil.example/"}, true},
		{"the domain as a user", one, crawl.Request{URL: "http://example.com@evil.example/"}, true},
		{"a slash that is none", one, crawl.Request{URL: `http://evil.example\@example.com/`}, true},
		{"one of several", []string{"a.example", "b.example"}, crawl.Request{URL: "http://b.example/"}, false},
		{"an international name", []string{"bücher.example"}, crawl.Request{URL: "http://xn--bcher-kva.example/"}, false},
		{"an address", []string{"127.0.0.1"}, crawl.Request{URL: "http://127.0.0.1:8000/"}, false},
		{"an address of IPv6", []string{"::1"}, crawl.Request{URL: "http://[::1]/"}, false},
		{"no host", one, crawl.Request{URL: "data:,x"}, true},
		{"no URL", one, crawl.Request{URL: "nonsense"}, true},
		{"no domains allow all", nil, crawl.Request{URL: "http://example.org/"}, false},
		{"allow_offsite", one, crawl.Request{URL: "http://example.org/", Options: crawl.Options{AllowOffsite: true}}, false},
		{"dont_filter", one, crawl.Request{URL: "http://example.org/", DontFilter: true}, false},
		{"dont_filter after a redirect", one,
			crawl.Request{URL: "http://example.org/", DontFilter: true, Progress: crawl.Progress{RedirectURLs: []string{"http://example.com/"}}}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			scope, err := downloadermw.OffsiteScope(test.domains)
			if err != nil {
				t.Fatal(err)
			}
			if err := scope(&test.req); (err != nil) != test.dropped || err != nil && outcome(nil, err) != "drop offsite" {
				t.Errorf("%s within %v: %v", test.req.URL, test.domains, err)
			}
		})
	}
}

func TestAllowedDomainsThatAreNoneAreRefused(t *testing.T) {
	tests := map[string]string{
		"http://example.com/":  `it is a URL; write "example.com"`,
		"https://a.example:81": `it is a URL; write "a.example"`,
		"example.com/shop":     "it is no bare domain",
		"example.com:8080":     `all ports of a domain are allowed; write "example.com"`,
		".example.com":         `subdomains are allowed in any case; write "example.com"`,
		"*.example.com":        `subdomains are allowed in any case; write "example.com"`,
		"":                     "it is empty",
		"a b":                  "it is no valid host name",
	}
	for domain, want := range tests {
		_, err := downloadermw.OffsiteScope([]string{"fine.example", domain})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `allowed domain "`) {
			t.Errorf("%q: error %v, want %s", domain, err, want)
		}
	}
	_, err := downloadermw.Offsite([]string{"a/b", "c/d"}, new(stats.Collector), noLog())
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two bad domains: error %v", err)
	}
}

func TestOffsiteCountsAndLogsEachDomainOnce(t *testing.T) {
	var st stats.Collector
	var logged bytes.Buffer
	mw, err := downloadermw.Offsite([]string{"example.com"}, &st, logTo(&logged))
	if err != nil {
		t.Fatal(err)
	}
	h := mw(answer(200, nil, "ok"))
	for url, want := range map[string]string{
		"http://example.com/": "response ok", "http://a.example/1": "drop offsite", "http://u:secret@a.example/2": "drop offsite", "http://b.example/": "drop offsite",
	} {
		if got := outcome(h.Fetch(t.Context(), &crawl.Request{URL: url})); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	want := map[string]int64{"offsite/filtered": 3, "offsite/domains": 2}
	if got := st.Take(); !reflect.DeepEqual(got, want) {
		t.Errorf("stats %v, want %v", got, want)
	}
	if strings.Count(logged.String(), "\n") != 2 || strings.Contains(logged.String(), "secret") {
		t.Errorf("logged %s", logged.String())
	}
}
