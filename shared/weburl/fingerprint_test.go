package weburl_test

import (
	"crypto/sha1"
	"encoding/hex"
	"testing"

	"github.com/skitterhq/skitter/shared/weburl"
)

// The sums were computed by Scrapy 2.18.
func TestRequestFingerprintIsScrapys(t *testing.T) {
	tests := []struct {
		name, method, url, body string
		headers                 map[string][]string
		want                    string
	}{
		{name: "a page", method: "GET", url: "http://www.example.com", want: "28fd680a059847ede1289d72f7a0e1c470f3d8d2"},
		{name: "a query", method: "GET", url: "http://www.example.com/query?id=111&cat=222", want: "8fcf173c15d0d14f77c0c9a61209caf224e90164"},
		{name: "a body", method: "POST", url: "https://example.com/f", body: "a=1", want: "249fafa359ff9f836df00a7f2f79db7bf7d3280f"},
		{name: "letters beyond ASCII", method: "GET", url: "https://example.com/résumé", want: "efdc5170ad09f663475b72cc4574c804c40a3cf7"},
		{name: "a header", method: "GET", url: "https://example.com/", headers: map[string][]string{"Accept-Language": {"en"}}, want: "72bd2481fd0098fdbd2b761e1d4562de09eebaf2"},
		{name: "a method in lower case", method: "get", url: "http://www.example.com#top", want: "28fd680a059847ede1289d72f7a0e1c470f3d8d2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := weburl.RequestFingerprint(test.method, parse(t, test.url), []byte(test.body), test.headers)
			if got.String() != test.want {
				t.Errorf("fingerprint %s, want %s", got, test.want)
			}
		})
	}
}

// Each want is what json.dumps(..., sort_keys=True) writes.
func TestFingerprintIsOfPythonsJSON(t *testing.T) {
	tests := []struct {
		name string
		id   weburl.Identity
		want string
	}{
		{"nothing", weburl.Identity{}, `{"body": "", "headers": {}, "method": "", "url": ""}`},
		{
			"headers sorted by lower-case name, values in order",
			weburl.Identity{Headers: map[string][]string{"X-B": {"2", "1"}, "x-a": nil, "X": {""}}},
			`{"body": "", "headers": {"78": [""], "782d61": [], "782d62": ["32", "31"]}, "method": "", "url": ""}`,
		},
		{
			"names that differ in case",
			weburl.Identity{Headers: map[string][]string{"A": {"1"}, "a": {"2"}}},
			`{"body": "", "headers": {"61": ["31", "32"]}, "method": "", "url": ""}`,
		},
		{
			"characters that JSON escapes",
			weburl.Identity{URL: "\"\\/\n\r\t\f\b\x01\x7f é \U0001F600"},
			`{"body": "", "headers": {}, "method": "", "url": "\"\\/\n\r\t\f\b\u0001\u007f \u00e9 \ud83d\ude00"}`,
		},
		{
			"bytes that are no text",
			weburl.Identity{Method: "PUT", Body: []byte{0, 0xff}},
			`{"body": "00ff", "headers": {}, "method": "PUT", "url": ""}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := sha1.Sum([]byte(test.want))
			if got := test.id.Fingerprint(); got != want {
				t.Errorf("fingerprint %s, want %s, that of %s", got, hex.EncodeToString(want[:]), test.want)
			}
		})
	}
}
