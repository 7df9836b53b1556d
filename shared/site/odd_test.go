package site_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/site"
)

func TestOddIndex(t *testing.T) {
	s := newSite(t, site.Options{OtherOrigin: "http://b.test", Pages: 50})
	links := hrefs(page(t, s, "/odd/"))
	if len(links) < 20 {
		t.Errorf("got %d links, want every odd page", len(links))
	}
	for _, href := range links {
		if strings.HasPrefix(href, "/slow") {
			continue // TestWaiting has it
		}
		if got := get(s, href).Code; got == http.StatusNotFound && href != "/status/404" {
			t.Errorf("%s is not there", href)
		}
	}

	t.Run("no product links to an odd page", func(t *testing.T) {
		for n := range 50 {
			for _, href := range hrefs(string(s.AppendProduct(nil, n))) {
				if slices.Contains(links, href) || href == "/odd/" {
					t.Errorf("/p/%d links to %s", n, href)
				}
			}
		}
	})
}

func TestTruncated(t *testing.T) {
	base, client := start(t, newSite(t, site.Options{}))
	response, err := client.Get(base + "/truncated")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(body)) >= response.ContentLength || len(body) == 0 {
		t.Errorf("got %d of %d bytes and error %v, want some and an unexpected end", len(body), response.ContentLength, err)
	}
}

func TestHuge(t *testing.T) {
	base, client := start(t, newSite(t, site.Options{}))
	tests := []struct {
		name, query string
		size        int64
		announced   int64 // the Content-Length; -1: none
	}{
		{"it is a megabyte", "", 1 << 20, -1},
		{"it is as long as asked", "?bytes=100001", 100_001, -1},
		{"it can be small", "?bytes=1", 1, 1},
		{"it can be nothing", "?bytes=0", 0, 0},
		{"it can be 64 MiB", "?bytes=67108864", 64 << 20, -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			response, err := client.Get(base + "/huge" + test.query)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			size, err := io.Copy(io.Discard, response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != http.StatusOK || size != test.size || response.ContentLength != test.announced {
				t.Errorf("got status %d and %d bytes, announced as %d; want 200 and %d, announced as %d",
					response.StatusCode, size, response.ContentLength, test.size, test.announced)
			}
		})
	}

	for _, size := range []string{"67108865", "-1", "1MB"} {
		t.Run("it cannot be "+size, func(t *testing.T) {
			w := get(newSite(t, site.Options{}), "/huge?bytes="+size)
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "want 0 to 67108864") {
				t.Errorf("got status %d and %q, want 400 and what is right", w.Code, w.Body)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	base, client := start(t, newSite(t, site.Options{}))
	response, err := client.Get(base + "/empty")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ContentLength != 0 {
		t.Errorf("got status %d and %d bytes, want 200 and none", response.StatusCode, response.ContentLength)
	}
}

func TestWrongCharset(t *testing.T) {
	w := get(newSite(t, site.Options{}), "/wrong-charset")
	if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("got type %q, want utf-8", got)
	}
	// "Чайник" by the table of windows-1251.
	if want := "<h1>\xD7\xE0\xE9\xED\xE8\xEA "; !strings.Contains(w.Body.String(), want) {
		t.Errorf("got %q, want %q in it", w.Body, want)
	}
}

func TestCodings(t *testing.T) {
	s := newSite(t, site.Options{})
	tests := []struct {
		name, target, coding string
		open                 func(io.Reader) (io.Reader, error)
	}{
		{"gzip is gzip", "/gzip", "gzip", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
		{"deflate is zlib", "/deflate", "deflate", func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }},
		{"raw deflate is not", "/deflate?raw=1", "deflate", func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := get(s, test.target)
			if got := w.Header().Get("Content-Encoding"); got != test.coding {
				t.Errorf("got coding %q, want %q", got, test.coding)
			}
			r, err := test.open(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(body, []byte("<title>Squeezed</title>")) {
				t.Errorf("got %q", body)
			}
		})
	}
}

func TestBadHTML(t *testing.T) {
	body := page(t, newSite(t, site.Options{}), "/bad-html")
	before, _, found := strings.Cut(body, "<a href=/p/4")
	if opened := strings.Count(before, "<div>"); !found || opened != 600 || strings.Contains(body, "</div>") {
		t.Errorf("got %d elements opened before the link (there: %v), want 600 and none closed", opened, found)
	}
}

func TestOddLinks(t *testing.T) {
	links := hrefs(page(t, newSite(t, site.Options{}), "/odd-links"))
	base, err := url.Parse("http://shop.test/odd-links")
	if err != nil {
		t.Fatal(err)
	}
	clean := strings.NewReplacer("\t", "", "\n", "")
	var good []string
	bad := 0
	for _, href := range links {
		u, err := base.Parse(strings.TrimSpace(clean.Replace(href)))
		if err != nil {
			bad++
			continue
		}
		u.Fragment = ""
		if u.Scheme == "http" && u.Host != "" && u.Path != base.Path {
			good = append(good, u.String())
		}
	}
	if want := []string{"http://shop.test/p/5", "http://shop.test/p/5"}; !slices.Equal(good, want) {
		t.Errorf("got good links %q, want %q", good, want)
	}
	if !slices.ContainsFunc(links, func(href string) bool { return strings.Contains(href, "\t") }) {
		t.Errorf("got %q, want one with a tab", links)
	}
	if bad != 4 {
		t.Errorf("got %d links that are no URL, want 4: %q", bad, links)
	}
}
