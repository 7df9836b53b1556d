package extract_test

import (
	"testing"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/weburl"
)

// FuzzLinks takes any bytes for a page: whatever stands there, no link is lost
// to a panic, and each can be fetched and is written as it is sent.
func FuzzLinks(f *testing.F) {
	f.Add([]byte(`<base href="/b/"><a href="x?q=ü#f" rel=nofollow>t</a><img src=" data:x"><area href="http://[">`), "text/html; charset=koi8-r")
	f.Add([]byte("<table><form><a href='//h/\x00'><svg><a href=x></svg><template><a href=y>"), "")
	f.Add([]byte(`<?xml version="1.0"?><rss><link href="http://a.example/%zz"/></rss>`), "text/xml")
	f.Add([]byte("\xff\xfe<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00x\x00>\x00"), "text/html")
	f.Add([]byte(`{"a":"<a href=\"x\">"}`), "application/json")
	every := &extract.LinkExtractor{Tags: []string{"*"}, Attrs: []string{"*"}, DenyExtensions: []string{}, Repeated: true}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		doc := extract.NewDocument(body, contentType, "http://example.com/dir/page")
		once := make(map[string]bool)
		for _, l := range (&extract.LinkExtractor{}).Extract(doc) {
			if once[l.URL] {
				t.Errorf("%s is there twice", l.URL)
			}
			once[l.URL] = true
		}
		for _, l := range every.Extract(doc) {
			u, err := weburl.Parse(l.URL)
			if err != nil {
				t.Errorf("%q is no URL: %v", l.URL, err)
				continue
			}
			if u.String() != l.URL || !extract.Fetchable(u) || u.Fragment() != "" {
				t.Errorf("%q becomes %q", l.URL, u)
			}
			delete(once, l.URL)
		}
		if len(once) > 0 {
			t.Errorf("the extractor of everything misses %v", once)
		}
	})
}
