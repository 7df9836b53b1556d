package handlers_test

import (
	"errors"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
)

// told is what a handler answers, in short.
func told(t *testing.T, h downloader.Handler, url string) string {
	t.Helper()
	resp, err := h.Fetch(t.Context(), &crawl.Request{URL: url})
	var failure *crawl.Failure
	if errors.As(err, &failure) {
		return failure.Reason
	}
	if err != nil {
		return err.Error()
	}
	if resp.Status != 200 || resp.Request == nil {
		t.Errorf("%s: status %d, request %v", url, resp.Status, resp.Request)
	}
	return resp.Headers.Get("Content-Type") + " " + string(resp.Body)
}

func TestData(t *testing.T) {
	const plain = "text/plain;charset=US-ASCII "
	h := handlers.Data(with(t, map[string]any{"DOWNLOAD_MAXSIZE": 20}))
	for url, want := range map[string]string{
		"data:,A%20brief%20note":                   plain + "A brief note",
		"data:,":                                   plain,
		"data:text/html,<p>x</p>":                  "text/html <p>x</p>",
		"data:;charset=utf-8,%C3%A9":               "text/plain;charset=utf-8 é",
		"data:text/html;charset=iso-8859-1,%E9":    "text/html;charset=iso-8859-1 \xe9",
		"data:text/plain;base64,aGk=":              "text/plain hi",
		"data:text/plain;base64,aGk":               "text/plain hi",
		"data:text/plain;BASE64,aG k%3D":           "text/plain hi",
		"data:text/plain; base64,aGk=":             "text/plain hi",
		"data:;base64,aGk=":                        plain + "hi",
		"data:base64,aGk=":                         plain + "aGk=",
		"data:nonsense,x":                          plain + "x",
		"data:text/html;a=%00b,x":                  plain + "x",
		"data:,a%zzb%":                             plain + "a%zzb%",
		"data:,x#fragment":                         plain + "x",
		"data:text/html;a=\"b\",c":                 "text/html;a=\"b\" c",
		"DATA:,x":                                  plain + "x",
		"data:text/html":                           "bad-url",
		"data:text/plain;base64,aGk==":             "bad-url",
		"data:text/plain;base64,a":                 "bad-url",
		"data:text/plain;base64,a-_b":              "bad-url",
		"data:,123456789012345678901":              "too-large",
		"data:;base64,MTIzNDU2Nzg5MDEyMzQ1Njc4OTA": plain + "12345678901234567890",
	} {
		if got := told(t, h, url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
