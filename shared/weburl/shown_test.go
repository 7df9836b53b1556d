package weburl_test

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/weburl"
)

func TestShownIsOneLineWithoutCredentials(t *testing.T) {
	for raw, want := range map[string]string{
		"http://example.com/a?b#c":           "http://example.com/a?b#c",
		"http://user:secret@example.com/":    "http://xxxxx@example.com/",
		"http://secret@example.com/":         "http://xxxxx@example.com/",
		"http://example.com/a\nINFO fake":    "http://example.com/aINFO%20fake",
		"http://example.com/%0aINFO%20fake":  "http://example.com/%0aINFO%20fake",
		"http://example.com/100%":            "http://example.com/100%",
		"s3://key:secret@bucket/k":           "s3://xxxxx@bucket/k",
		"//secret@a b\r\nfake\u2028\x1b[31m": "//xxxxx@a b\ufffd\ufffdfake\ufffd\ufffd[31m",
		"":                                   "",
	} {
		if got := weburl.Shown(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
	if got := weburl.Shown("data:," + strings.Repeat("x", 5000)); len(got) > 1010 {
		t.Errorf("%d bytes", len(got))
	}
	if got := weburl.Redact("data:," + strings.Repeat("x", 5000)); len(got) != 5006 {
		t.Errorf("%d bytes", len(got))
	}
}
