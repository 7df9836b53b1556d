package extract_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skitterhq/skitter/shared/extract"
)

func TestDetectEncoding(t *testing.T) {
	const (
		meta1251  = "<meta charset=windows-1251>"
		longStart = "<!doctype html><html><head><!--" // and a comment of some KiB
	)
	tests := []struct {
		name        string
		contentType string
		body        string
		encoding    string
		text        string // is found in the text
	}{
		{"ENC-01: a byte order mark beats the header and is no text", "text/html; charset=cp1251", "\xef\xbb\xbf\xd0\x9f", "utf-8", "П"},
		{"ENC-02: a meta element with its attributes in any order", "text/html", "<meta content='text/html;charset=windows-1251' http-equiv='Content-Type'>\xcf\xf0", "windows-1251", "Пр"},
		{"ENC-03: gb2312 is the big superset", "text/html", "<meta charset=gb2312>\xfd\x9b", "gbk", "龥"},
		{"ENC-04: iso-8859-1 is windows-1252", "text/html; charset=iso-8859-1", "\x93hi\x94", "windows-1252", "“hi”"},
		{"ENC-05: an odd label is legal", "text/html;charset=visual", "\xe0", "iso-8859-8", "א"},
		{"ENC-05: an unknown label says nothing", "text/html;charset=foo-8", meta1251 + "\xcf", "windows-1251", "П"},
		{"ENC-06: a description that talks of charsets is none", "text/html", `<meta name="description" content="charset=gbk"><p>café au lait`, "utf-8", "café au lait"},
		{"ENC-07: what can be read as ASCII is not in utf-16", "text/html", `<meta http-equiv="content-type" content="text/html;charset=utf-16">é`, "utf-8", "é"},
		{"ENC-08: the header beats the meta element", "text/html; charset=utf-8", "<meta charset=windows-1252>é", "utf-8", "é"},
		{"ENC-16: JSON in the header's encoding", "application/json; charset=windows-1251", "{\"a\":\"\xcf\xf0\"}", "windows-1251", `{"a":"Пр"}`},
		{"in JSON, meta is somebody's text", "application/json", `{"a":"<meta charset=gbk>é"}`, "utf-8", "é"},
		{"the header's charset is quoted", `text/html; charset="koi8-r"`, "\xcd", "koi8-r", "м"},
		{"the header's charset has blanks around its sign", "text/html; Charset = KOI8-R ; x=y", "\xcd", "koi8-r", "м"},
		{"the word charset stands elsewhere, too", "text/html; x=charset; charset=koi8-r", "\xcd", "koi8-r", "м"},
		{"a meta element after more than 1 KiB", "", longStart + strings.Repeat("x", 8<<10) + "-->" + meta1251 + "\xcf", "windows-1251", "П"},
		{"a meta element after a script that is long", "", "<head><script>" + strings.Repeat("if (a<b) c();\n", 800) + "</SCRIPT>" + meta1251 + "\xcf", "windows-1251", "П"},
		{"meta in a script is somebody's text", "", "<script>w('<meta charset=gbk>')</script>é", "utf-8", "é"},
		{"meta in a comment is somebody's text", "", "<!-- <meta charset=gbk> -->é", "utf-8", "é"},
		{"meta in an attribute is somebody's text", "", `<div title="<meta charset=gbk>">é`, "utf-8", "é"},
		{"the shortest comment ends at once", "", "<!-->" + meta1251 + "\xcf", "windows-1251", "П"},
		{"charset in a meta element needs no http-equiv", "", "<META\nCHARSET = 'koi8-r'/>\xcd", "koi8-r", "м"},
		{"the first charset attribute counts", "", "<meta charset=koi8-r charset=gbk>\xcd", "koi8-r", "м"},
		{"a meta element in a long body is too late", "", "<head></head><body>" + strings.Repeat("x", 2<<10) + "<body>" + meta1251 + "é", "utf-8", "é"},
		{"x-user-defined in a meta element is windows-1252", "", "<meta charset=x-user-defined>\xe9", "windows-1252", "é"},
		{"an XML declaration", "application/rss+xml", `<?xml version="1.0" encoding="windows-1251"?><a>` + "\xcf", "windows-1251", "П"},
		{"a meta element beats an XML declaration", "", `<?xml version="1.0" encoding="windows-1251"?><meta charset=koi8-r>` + "\xcd", "koi8-r", "м"},
		{"a label that browsers refuse says nothing", "text/html; charset=iso-2022-kr", "plain", "utf-8", "plain"},
		{"UTF-8 is what is valid, beyond 1 KiB of ASCII", "", strings.Repeat("x", 3<<10) + "é", "utf-8", "é"},
		{"UTF-8 that was cut off", "", "é\xe2\x82", "utf-8", "é"},
		{"ASCII that was cut off in its first letter beyond", "", "une page de la table, et les autres\xc3", "utf-8", "une page"},
		{"an escape sequence among letters beyond ASCII", "", "\x1b$Btr\xe8s", "windows-1252", "tr\u00e8s"},
		{"a meta element in a body that begins early", "", "<html><body>" + meta1251 + "\xcf", "windows-1251", "П"},
		{"a slash after meta", "", "<meta/charset=koi8-r>\xcd", "koi8-r", "м"},
		{"UTF-8 with one byte spoilt", "", strings.Repeat("the end of the page and the other é ", 20) + "\xff", "utf-8", "other é"},
		{"iso-2022-jp looks like ASCII", "", "\x1b$BF|K\\\x1b(B", "iso-2022-jp", "日本"},
		{"an escape sequence of a terminal is no Japanese", "", "\x1b[0m", "utf-8", "\x1b[0m"},
		{"UTF-16 by its mark", "text/html", "\xff\xfe\x1f\x04", "utf-16le", "П"},
		{"bytes that mean nothing in the header's encoding", "text/html; charset=utf-8", "a\xffb", "utf-8", "a\ufffdb"},
		{"an image", "text/html", "\x89PNG\r\n\x1a\n\x00\xff", "windows-1252", "PNG"},
		{"nothing", "", "", "utf-8", ""},
		{"half a tag", "", "<meta charset='", "utf-8", ""},
		{"a letter after a sign", "", "<", "utf-8", "<"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			doc := extract.NewDocument([]byte(test.body), test.contentType, "http://example.com/")
			if got := doc.Encoding(); got != test.encoding {
				t.Errorf("got encoding %q, want %q", got, test.encoding)
			}
			if got := extract.DetectEncoding([]byte(test.body), test.contentType); got != doc.Encoding() {
				t.Errorf("DetectEncoding says %q, the document %q", got, doc.Encoding())
			}
			if got := doc.Text(); !strings.Contains(got, test.text) || strings.HasPrefix(got, "\ufeff") {
				t.Errorf("got text %q, want one that has %q", got, test.text)
			}
		})
	}
}

func TestUTF8IsNotCopied(t *testing.T) {
	body := []byte("<p>é</p>")
	doc := extract.NewDocument(body, "text/html", "http://example.com/")
	if got := doc.UTF8(); &got[0] != &body[0] {
		t.Error("the body was copied")
	}
}

// TestEncodingCorpus reads pages whose encoding is known; see testdata.
func TestEncodingCorpus(t *testing.T) {
	const pages, want = 109, 105
	data, err := os.ReadFile("testdata/encodings.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	read, right := 0, 0
	for line := range bytes.Lines(data) {
		var c struct {
			File, Encoding, Title, Kind string
			ContentType                 string `json:"content_type"`
			Body                        []byte
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		read++
		doc := extract.NewDocument(c.Body, c.ContentType, "http://example.com/")
		if doc.Encoding() == c.Encoding && strings.Contains(doc.CSS("title").Text(), strings.TrimSpace(c.Title)) {
			right++
			continue
		}
		// A page that declares nothing may be guessed wrong; no other may.
		t.Logf("%s (%s): got %s, want %s", c.File, c.Kind, doc.Encoding(), c.Encoding)
		if c.Kind != "none" {
			t.Errorf("%s declares its encoding", c.File)
		}
	}
	t.Logf("%d of %d right", right, read)
	if read != pages || right < want {
		t.Errorf("%d of %d pages are right, want %d of %d", right, read, want, pages)
	}
}

// FuzzDetectEncoding looks for a text that is none, for one that is not the same
// each time, and for an order other than that of the standard: byte order mark,
// header, declaration.
func FuzzDetectEncoding(f *testing.F) {
	for _, seed := range [][2]string{
		{"<meta charset=gbk>", "text/html"}, {"\x1b$B<!--><body", "charset='"}, {"\xef\xbb\xbf\xd0\x9f", "text/html; charset=cp1251"},
		{"<meta content='text/html;charset=windows-1251' http-equiv='Content-Type'>\xcf\xf0", "text/html"}, {"<meta charset=gb2312>\xfd\x9b", "text/html"},
		{"\x93hi\x94", "text/html; charset=iso-8859-1"}, {"\xe0", "text/html; charset=visual"}, {"<meta charset=windows-1251>\xcf", "text/html; charset=foo-8"},
		{"<meta name=description content='charset=gbk'><p>caf\xc3\xa9 au lait</p>", "text/html"}, {"\xff\xfe<\x00p\x00", ""}, {"\xfe\xff\xd8\x00", "application/json"},
		{"<meta http-equiv=content-type content='text/html;charset=utf-16'>\xc3\xa9", "text/html"}, {"<meta charset=windows-1252>\xc3\xa9", "text/html; charset=utf-8"},
		{"<?xml version='1.0' encoding='windows-1251'?><a>\xcf\xf0</a>", "text/xml"}, {"{\"a\":\"\xcf\xf0\"}", "application/json; charset=windows-1251"},
	} {
		f.Add([]byte(seed[0]), seed[1])
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		doc := extract.NewDocument(body, contentType, "http://example.com/")
		text := doc.Text()
		if !utf8.ValidString(text) {
			t.Errorf("the text is not valid: %q", text)
		}
		// One byte becomes three at most: U+FFFD, or a letter of a charset of
		// one byte. GB18030 and Big5 have letters of two bytes that become two
		// runes.
		if len(text) > 3*len(body)+3 {
			t.Errorf("%d bytes become %d", len(body), len(text))
		}
		if string(doc.UTF8()) != text {
			t.Error("the text and the bytes of it differ")
		}
		if again := extract.NewDocument(body, contentType, "http://example.com/"); again.Encoding() != doc.Encoding() || again.Text() != text {
			t.Errorf("%s the first time, %s the second", doc.Encoding(), again.Encoding())
		}
		marked := append([]byte("\xef\xbb\xbf"), body...)
		if m := extract.NewDocument(marked, contentType, "http://example.com/"); m.Encoding() != "utf-8" || m.Text() != strings.ToValidUTF8(m.Text(), "") {
			t.Errorf("with a byte order mark it is in %s", m.Encoding())
		}
		if !bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) && !bytes.HasPrefix(body, []byte("\xff\xfe")) && !bytes.HasPrefix(body, []byte("\xfe\xff")) {
			if h := extract.NewDocument(body, "text/html; charset=koi8-r", "http://example.com/"); h.Encoding() != "koi8-r" {
				t.Errorf("the header says koi8-r, and it is read in %s", h.Encoding())
			}
		}
	})
}
