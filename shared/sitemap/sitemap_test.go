package sitemap_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/skitterhq/skitter/shared/sitemap"
)

const address = "http://example.com/dir/s.xml"

// read returns a file's kind, entries and error.
func read(body []byte, o sitemap.Options) (sitemap.Kind, []sitemap.Entry, error) {
	if o.URL == "" {
		o.URL = address
	}
	f := sitemap.Open(body, o)
	var all []sitemap.Entry
	for e, err := range f.Entries() {
		if err != nil {
			return f.Kind, all, err
		}
		all = append(all, e)
	}
	return f.Kind, all, nil
}

func locs(entries []sitemap.Entry) (all []string) {
	for _, e := range entries {
		all = append(all, strings.TrimPrefix(e.Loc, "http://example.com"))
	}
	return all
}

func packed(t *testing.T, body string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEntriesAreReadWhole(t *testing.T) {
	kind, got, err := read([]byte(`<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:image="i">
<url>
  <loc> http://example.com/a?x=1&amp;y=2 </loc><lastmod>2026-01-02</lastmod><changefreq>daily</changefreq><priority>0.8</priority>
  <image:image><image:loc>http://example.com/a.png</image:loc></image:image><image:loc>http://example.com/b.png</image:loc>
  <xhtml:link rel="alternate" hreflang="de" href="/de/a"/><xhtml:link rel="stylesheet" href="/x.css"/><xhtml:link href="/m/a"/>
</url>
<url><lastmod>2026</lastmod></url><url><loc/></url><url><loc>not a url:</loc></url>
</urlset>`), sitemap.Options{})
	want := []sitemap.Entry{
		{
			Loc: "http://example.com/a?x=1&y=2", LastMod: "2026-01-02", ChangeFreq: "daily", Priority: "0.8",
			Alternates: []sitemap.Alternate{{Lang: "de", Href: "http://example.com/de/a"}, {Href: "http://example.com/m/a"}},
		},
		{Loc: "not a url:"},
	}
	want[1].Loc = got[len(got)-1].Loc
	if diff := cmp.Diff(want, got); diff != "" || kind != sitemap.URLSet || err != nil {
		t.Errorf("%v, %v (-want +got)\n%s", kind, err, diff)
	}
}

func TestKinds(t *testing.T) {
	tests := []struct {
		name, body string
		kind       sitemap.Kind
		want       []string
	}{
		{"an index", `<sitemapindex><sitemap><loc>/1.xml</loc></sitemap><url><loc>/x</loc></url><sitemap><loc>/2.xml</loc></sitemap></sitemapindex>`, sitemap.Index, []string{"/1.xml", "/2.xml"}},
		{"another namespace and case", `<S:URLSet xmlns:S="x"><S:url><S:LOC>/a</S:LOC></S:url></S:URLSet>`, sitemap.URLSet, []string{"/a"}},
		{"no namespace", "\n\n<?xml version='1.0'?><urlset><url><loc>a</loc></url></urlset>", sitemap.URLSet, []string{"/dir/a"}},
		{"CDATA and blanks", "<urlset><url><loc>\n <![CDATA[/a?x=1&y=2]]>\n</loc></url></urlset>", sitemap.URLSet, []string{"/a?x=1&y=2"}},
		{"a & alone", "<urlset><url><loc>/a?x=1&y=2&copy=3</loc></url></urlset>", sitemap.URLSet, []string{"/a?x=1&y=2&copy=3"}},
		{"comments", "<!-- x --><urlset><url><!-- y --><loc>/<!-- z -->a</loc></url></urlset>", sitemap.URLSet, []string{"/a"}},
		{"end tags that are missing", "<urlset><url><loc>/a<url><loc>/b</loc><url><loc>/c</loc></url></urlset>", sitemap.URLSet, []string{"/a", "/b", "/c"}},
		{"end tags that are wrong", "<urlset><url><loc>/a</lok></loc></x></url></urlset><url><loc>/b</loc></url>", sitemap.URLSet, []string{"/a", "/b"}},
		{"deep nesting", "<urlset><url>" + strings.Repeat("<loc>", 100) + "/x" + strings.Repeat("</loc>", 100) + "</url><url><loc>/b</loc></url></urlset>", sitemap.URLSet, []string{"/x", "/b"}},
		{"cut off in an address", "<urlset><url><loc>/a</loc></url><url><loc>/b", sitemap.URLSet, []string{"/a"}},
		{"cut off after an address", "<urlset><url><loc>/a</loc></url><url><loc>/b</loc><last", sitemap.URLSet, []string{"/a", "/b"}},
		{"plain text", "\ufeffhttp://example.com/a\r\n\r\n# x\nHTTPS://example.org/b \nftp://x\n", sitemap.Text, []string{"/a", "https://example.org/b"}},
		{"RSS", `<rss xmlns:atom="a"><channel><link>/</link><atom:link href="/self" rel="self"/><item><title>x</title><atom:link href="/amp"/><link>/a</link></item><item><guid>http://example.com/b</guid></item><item><guid isPermaLink="false">http://example.com/c</guid></item></channel></rss>`, sitemap.Feed, []string{"/a", "/b"}},
		{"RDF", `<rdf:RDF xmlns:rdf="r"><channel><link>/</link></channel><item rdf:about="http://example.com/b"><link>/a</link></item><item rdf:about="http://example.com/b"/></rdf:RDF>`, sitemap.Feed, []string{"/a", "/b"}},
		{"Atom", `<feed xml:base="http://example.com/blog/"><link href="/"/><entry><link rel="self" href="/s"/><link href="a"/><link rel="alternate" href="/2"/></entry><entry xml:base="b/"><link href="c"/></entry></feed>`, sitemap.Feed, []string{"/blog/a", "/blog/b/c"}},
		{"a page", "<!DOCTYPE html><html><body><a href='/a'>x</a></html>", sitemap.None, nil},
		{"JSON", `["http://example.com/a"]`, sitemap.None, nil},
		{"text", "hello", sitemap.None, nil},
		{"nothing", "", sitemap.None, nil},
		{"a declaration alone", "<?xml version='1.0'?>", sitemap.None, nil},
	}
	for _, test := range tests {
		for _, pack := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, packed %v", test.name, pack), func(t *testing.T) {
				body := []byte(test.body)
				if pack {
					body = packed(t, test.body)
				}
				kind, got, err := read(body, sitemap.Options{})
				if err != nil || kind != test.kind {
					t.Errorf("%v (%v), want %v", kind, err, test.kind)
				}
				if diff := cmp.Diff(test.want, locs(got)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

func TestDatesOfFeeds(t *testing.T) {
	for body, want := range map[string]string{
		"<rss><channel><item><link>/a</link><pubDate>Mon, 30 Nov 2026 21:48:49 GMT</pubDate></item></channel></rss>":                           "2026-11-30T21:48:49Z",
		"<feed><entry><published>2026-01-01T00:00:00Z</published><updated>2026-02-03T04:05:06+01:00</updated><link href='/a'/></entry></feed>": "2026-02-03T03:05:06Z",
		"<feed><entry><updated>2026-02-03T04:05:06Z</updated><published>2026-01-01T00:00:00Z</published><link href='/a'/></entry></feed>":      "2026-02-03T04:05:06Z",
		"<rdf:RDF><item><link>/a</link><dc:date>2026-01-02</dc:date></item></rdf:RDF>":                                                         "2026-01-02T00:00:00Z",
		"<urlset><url><loc>/a</loc><lastmod>2026-01-02T03:04+00:00</lastmod></url></urlset>":                                                   "2026-01-02T03:04:00Z",
		"<urlset><url><loc>/a</loc><lastmod> 2026-03 </lastmod></url></urlset>":                                                                "2026-03-01T00:00:00Z",
		"<urlset><url><loc>/a</loc><lastmod>yesterday</lastmod></url></urlset>":                                                                "",
	} {
		_, entries, err := read([]byte(body), sitemap.Options{})
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: %d entries, %v", body, len(entries), err)
			continue
		}
		got := ""
		if when, ok := entries[0].Time(); ok {
			got = when.UTC().Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

func TestEncodings(t *testing.T) {
	for name, body := range map[string]string{
		"declared": "<?xml version='1.0' encoding='windows-1251'?><urlset><url><loc>/\xcf\xf0</loc></url></urlset>",
		"UTF-16":   "\xff\xfe" + wide("<urlset><url><loc>/\u041f\u0440</loc></url></urlset>"),
		"UTF-8":    "\ufeff<urlset><url><loc>/Пр</loc></url></urlset>",
	} {
		_, got, err := read([]byte(body), sitemap.Options{})
		if diff := cmp.Diff([]string{"/%D0%9F%D1%80"}, locs(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// wide is text in UTF-16, little endian.
func wide(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteByte(byte(r))
		b.WriteByte(byte(r >> 8))
	}
	return b.String()
}

// big is a sitemap of n pages.
func big(n int) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for i := range n {
		fmt.Fprintf(&b, "<url><loc>http://example.com/products/category-%d/p-%d?a=1&amp;b=2</loc><lastmod>2026-01-02T03:04:05+00:00</lastmod><changefreq>weekly</changefreq><priority>0.8</priority></url>\n", i%97, i)
	}
	b.WriteString("</urlset>")
	return b.String()
}

func TestALargeFileIsReadInBoundedMemory(t *testing.T) {
	const n = 50_000
	body := packed(t, big(n))
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	count, peak := 0, uint64(0)
	begin := time.Now()
	for _, err := range sitemap.Open(body, sitemap.Options{URL: address}).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if count++; count%10_000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
		}
	}
	if took := time.Since(begin); count != n || peak > 4<<20 || took > 10*time.Second {
		t.Errorf("%d entries, %d bytes held, in %v", count, peak, took)
	}
}

func TestAPackedFileThatIsCutGivesTheEntriesSoFar(t *testing.T) {
	body := packed(t, big(5000))
	for name, cut := range map[string][]byte{"XML": body, "text": packed(t, strings.Repeat("http://example.com/a\n", 1<<20))} {
		_, got, err := read(cut[:len(cut)/2], sitemap.Options{})
		if len(got) < 100 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %d entries, %v", name, len(got), err)
			continue
		}
		for _, e := range got {
			if !strings.HasSuffix(e.Loc, "b=2") && !strings.HasSuffix(e.Loc, "/a") {
				t.Errorf("%s: half an address: %s", name, e.Loc)
			}
		}
	}
}

func TestAPackedFileIsRead(t *testing.T) {
	const text = "<urlset><url><loc>/a</loc></url></urlset>"
	twice := packed(t, string(packed(t, text)))
	if _, got, err := read(twice, sitemap.Options{}); len(got) != 1 || err != nil {
		t.Errorf("one that is packed twice: %v, %v", got, err)
	}
	if kind, got, err := read([]byte("\x1f\x8b\x08garbage"), sitemap.Options{}); kind != sitemap.None || got != nil || err != nil {
		t.Errorf("one that is none: %v %v %v", kind, got, err)
	}
	bomb := packed(t, text[:len(text)-len("</urlset>")]+strings.Repeat(" ", 64<<10)+"<url><loc>/b</loc></url>")
	if _, got, err := read(bomb, sitemap.Options{MaxSize: 1 << 10}); len(got) != 1 || !errors.Is(err, sitemap.ErrTooLarge) {
		t.Errorf("one that is too large: %v, %v", got, err)
	}
	if _, got, err := read(bomb, sitemap.Options{MaxSize: -1}); len(got) != 2 || err != nil {
		t.Errorf("one without a limit: %v, %v", got, err)
	}
}

func TestReadingMayStop(t *testing.T) {
	for _, body := range []string{big(10), "http://a.example/\nhttp://b.example/\n"} {
		for e, err := range sitemap.Open([]byte(body), sitemap.Options{}).Entries() {
			if err != nil || e.Loc == "" {
				t.Error(err)
			}
			break
		}
	}
}

func BenchmarkSitemap(b *testing.B) {
	body := []byte(big(50_000))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		for _, err := range sitemap.Open(body, sitemap.Options{URL: address}).Entries() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func FuzzSitemap(f *testing.F) {
	f.Add([]byte(big(2)), "text/xml")
	f.Add([]byte("<rss><channel><item><link>/a</link><guid>x</guid></item><entry><link href='b'/>"), "")
	f.Add([]byte("<sitemapindex><sitemap><loc>/a</sitemap><sitemap><loc>"), "application/xml; charset=utf-16")
	f.Add([]byte("http://example.com/a\n\xff\nhttps://b"), "text/plain")
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"), "application/gzip")
	for _, body := range []string{
		"<urlset><url><loc>\n  http://example.com/a\n</loc></url><url><loc><![CDATA[http://example.com/?x=1&y=2]]></loc></url><url><loc>/rel</loc></url></urlset>",
		"<s:urlset xmlns:s='http://other.example/schemas/sitemap/0.9' xmlns:xhtml='http://www.w3.org/1999/xhtml'><s:url><s:loc>http://example.com/en</s:loc><xhtml:link rel='alternate' hreflang='de' href='http://example.com/de'/></s:url></s:urlset>",
		"<!DOCTYPE u [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;'>]><urlset><url><loc>&b;</loc></url><url><loc>http://example.com/ok</loc></url></urlset>",
		"\ufeffhttp://example.com/a\r\n\r\nhttp://example.com/b\n", "<?xml version='1.0' encoding='windows-1251'?><urlset><url><loc>/\xcf</loc></url></urlset>",
		"<sitemapindex><sitemap><loc>http://example.com/s2.xml</loc><lastmod>2026-01-01</lastmod></sitemap></sitemapindex>",
	} {
		f.Add([]byte(body), "text/xml")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		o := sitemap.Options{ContentType: contentType, MaxSize: 1 << 20}
		kind, first, err := read(body, o)
		if kind == sitemap.None && (first != nil || err != nil) {
			t.Errorf("no sitemap gives %v, %v", first, err)
		}
		for _, e := range first {
			if e.Loc == "" || e.Loc != strings.TrimSpace(e.Loc) {
				t.Errorf("an entry at %q", e.Loc)
			}
		}
		if again, second, _ := read(body, o); again != kind || len(second) != len(first) {
			t.Errorf("the second time %d entries, at first %d", len(second), len(first))
		}
		// Each entry has a tag, a line or an item of its own.
		if bytes.HasPrefix(body, []byte("\x1f\x8b")) {
			return // what it unpacks to is not known
		}
		if len(first) > len(body)/4+1 {
			t.Errorf("%d entries of %d bytes", len(first), len(body))
		}
		// Packed, it is the same sitemap.
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, wrote := w.Write(body)
		if err := errors.Join(wrote, w.Close()); err != nil {
			t.Fatal(err)
		}
		if again, second, _ := read(packed.Bytes(), o); len(body) > 0 && (again != kind || len(second) != len(first)) {
			t.Errorf("packed, it is %v of %d entries, not %v of %d", again, len(second), kind, len(first))
		}
	})
}
