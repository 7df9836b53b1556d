package extract

import (
	"bytes"
	stdhtml "html"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxTokenBytes bounds what the tokenizer holds of one tag, comment or text.
const maxTokenBytes = 256 << 10

// A tokenReader goes through a page with the tokenizer of package html, and by
// itself through tags and comments that are longer than it should hold: images
// of megabytes that stand in an attribute, and a million attributes. What
// stands in a noscript element is markup.
type tokenReader struct {
	z    *html.Tokenizer
	body []byte
	at   int // where the next token begins

	name []byte       // of the tag at hand
	atom atom.Atom    // of that name
	more bool         // it has attributes
	long *metaScanner // in a tag that is too long for the tokenizer
	text []byte       // a part of a text that is too long for it
	raw  string       // the element whose content is no markup, "" in others
}

func newTokenReader(body []byte) *tokenReader {
	t := &tokenReader{body: body}
	t.restart(0)
	return t
}

func (t *tokenReader) restart(at int) {
	t.at = min(at, len(t.body))
	t.z = html.NewTokenizer(bytes.NewReader(t.body[t.at:]))
	t.z.SetMaxBuf(maxTokenBytes)
}

// next moves to the next token.
func (t *tokenReader) next() html.TokenType {
	if t.long != nil {
		t.endLongTag()
	}
	t.text = nil
	for {
		token := t.z.Next()
		begin, length := t.at, len(t.z.Raw())
		t.at += length
		rest := t.body[begin:]
		switch {
		case length < maxTokenBytes: // else it is cut there
			switch token {
			case html.StartTagToken, html.SelfClosingTagToken:
				t.tag(t.z.TagName())
				if t.atom == atom.Noscript {
					t.z.NextIsNotRawText()
				}
				t.raw = rawElement(t.atom)
			case html.EndTagToken:
				t.tag(t.z.TagName())
				t.raw = ""
			}
			return token
		case token == html.TextToken && t.raw != "":
			// The tokenizer that goes on would not know what it is in.
			t.text = bytes.Clone(t.z.Text())
			t.restart(t.at + endTagIndex(t.body[t.at:], t.raw))
			return token
		case token == html.TextToken:
			t.text = bytes.Clone(t.z.Text())
			t.restart(t.at)
			return token
		case len(rest) > 1 && isLetter(rest[1]):
			return t.longTag(begin+1, html.StartTagToken)
		case len(rest) > 2 && rest[1] == '/' && isLetter(rest[2]):
			return t.longTag(begin+2, html.EndTagToken)
		default:
			t.restart(begin + commentLength(rest))
		}
	}
}

func (t *tokenReader) tag(name []byte, more bool) {
	t.name, t.atom, t.more = name, atom.Lookup(name), more
}

// longTag begins to read a tag whose name stands at a place of the body. Its
// name itself may be of any length, and is cut.
func (t *tokenReader) longTag(at int, token html.TokenType) html.TokenType {
	s := &metaScanner{body: t.body, at: at}
	s.skip(func(c byte) bool { return !isSpace(c) && c != '/' && c != '>' })
	t.tag(bytes.ToLower(t.body[at:min(s.at, at+maxTokenBytes)]), true)
	t.long = s
	t.raw = ""
	if token == html.StartTagToken {
		t.raw = rawElement(t.atom)
	}
	return token
}

// endLongTag goes past the attributes that nobody asked for, and past the
// content of an element whose content is no markup.
func (t *tokenReader) endLongTag() {
	for {
		if _, _, ok := t.long.rawAttribute(); !ok {
			break
		}
	}
	at := min(t.long.at+1, len(t.body))
	if t.raw != "" {
		at += endTagIndex(t.body[at:], t.raw)
	}
	t.long = nil
	t.restart(at)
}

// attribute returns the next attribute of the tag at hand, the name in lower
// case, and false if there is none. A value that is too long for an address
// may have its entities unread.
func (t *tokenReader) attribute() (name, value []byte, ok bool) {
	switch {
	case t.long != nil:
		if name, value, ok = t.long.rawAttribute(); !ok {
			return nil, nil, false
		}
		if len(value) <= maxAddressBytes && bytes.IndexByte(value, '&') >= 0 {
			value = []byte(stdhtml.UnescapeString(string(value)))
		}
		return bytes.ToLower(name), value, true
	case !t.more:
		return nil, nil, false
	}
	name, value, t.more = t.z.TagAttr()
	return name, value, len(name) > 0
}

// content is the text of a text token, with its entities read.
func (t *tokenReader) content() []byte {
	if t.text != nil {
		return t.text
	}
	return t.z.Text()
}

// rawElement is the name of an element whose content is no markup, "" for any
// other. Source: HTML Standard, "Parsing HTML fragments".
func rawElement(a atom.Atom) string {
	switch a {
	case atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp, atom.Iframe, atom.Noembed, atom.Noframes:
		return a.String()
	}
	return ""
}

// endTagIndex is where the end tag of an element begins, or the end of a text
// that has none.
func endTagIndex(text []byte, name string) int {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte("</"))
		if i < 0 {
			return len(text)
		}
		at += i
		if isTag(text[at+2:], name) {
			return at
		}
		at += 2
	}
}

// commentLength is the length of a comment or another declaration.
func commentLength(text []byte) int {
	if bytes.HasPrefix(text, []byte("<!--")) {
		if i := bytes.Index(text[2:], []byte("-->")); i >= 0 {
			return 2 + i + len("-->")
		}
		return len(text)
	}
	if i := bytes.IndexByte(text, '>'); i >= 0 {
		return i + 1
	}
	return len(text)
}
