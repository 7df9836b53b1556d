package shell

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"

	"github.com/skitterhq/skitter/shared/spider"
)

// runView writes the page to a file and shows it.
func (s *Shell) runView(context.Context, string) error {
	name, body := viewable(s.page)
	f, err := os.CreateTemp("", name)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(s.Out, f.Name())
	if s.Open == nil {
		return nil
	}
	if err := s.Open(f.Name()); err != nil {
		fmt.Fprintf(s.Tell, "open it in a browser yourself: %v\n", err)
	}
	return nil
}

var (
	head = regexp.MustCompile(`(?i)<head(\s[^<>]*)?>`)
	// utf8Mark says what encoding the file has, louder than the page itself.
	utf8Mark = []byte("\xef\xbb\xbf")
)

// viewable is the page as a browser reads it from a file: in UTF-8 with a mark
// that says so, and with the address that its links are relative to.
func viewable(page *spider.Page) (pattern string, body []byte) {
	kind := strings.ToLower(page.Headers.Get("Content-Type"))
	text := page.Document().UTF8()
	switch {
	case strings.Contains(kind, "json"):
		return "skitter-*.json", text
	case strings.Contains(kind, "xml") && !strings.Contains(kind, "html"):
		return "skitter-*.xml", page.Body // its own declaration says the encoding
	case kind != "" && !strings.Contains(kind, "html"):
		return "skitter-*.txt", text
	case page.CSS("base[href]").Len() > 0:
		return "skitter-*.html", append(utf8Mark[:len(utf8Mark):len(utf8Mark)], text...)
	}
	base := []byte(`<base href="` + html.EscapeString(page.Response.URL) + `">`)
	at := 0
	if found := head.FindIndex(text); found != nil {
		at = found[1]
	}
	return "skitter-*.html", bytes.Join([][]byte{utf8Mark, text[:at], base, text[at:]}, nil)
}
