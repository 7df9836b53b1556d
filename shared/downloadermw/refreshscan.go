package downloadermw

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// findRefresh returns the first meta refresh of a page that can be read, if it
// has one outside of the elements that are ignored.
func findRefresh(page []byte, ignored []string) (refresh, bool) {
	t := html.NewTokenizer(bytes.NewReader(page))
	inside, depth := "", 0 // the ignored element that is open, and how often
	for {
		switch t.Next() {
		case html.ErrorToken:
			return refresh{}, false
		case html.EndTagToken:
			if name, _ := t.TagName(); depth > 0 && string(name) == inside {
				depth--
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, attributes := t.TagName()
			tag := string(name)
			if tag == "noscript" && !skipped(tag, ignored) {
				t.NextIsNotRawText() // no script runs, so its content is elements
			}
			switch {
			case depth > 0:
				if tag == inside {
					depth++
				}
			case skipped(tag, ignored):
				inside, depth = tag, 1
			case tag == "meta" && attributes:
				if found, ok := refreshOf(t); ok {
					return found, true
				}
			}
		}
	}
}

// refreshOf reads the meta element at hand.
func refreshOf(t *html.Tokenizer) (refresh, bool) {
	var equiv, content *string
	for more := true; more; {
		var name, value []byte
		name, value, more = t.TagAttr()
		text := string(value)
		switch { // of attributes with one name the first counts
		case equiv == nil && string(name) == "http-equiv":
			equiv = &text
		case content == nil && string(name) == "content":
			content = &text
		}
	}
	if equiv == nil || content == nil || !strings.EqualFold(*equiv, "refresh") {
		return refresh{}, false
	}
	return parseRefresh(*content)
}
