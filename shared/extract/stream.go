package extract

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxAddressBytes is the longest attribute that is taken for an address on
	// a page that is read by the tokenizer. Images that stand in the page
	// itself have megabytes.
	maxAddressBytes = 64 << 10

	// maxLinkText bounds the text of a link of such a page, in bytes.
	maxLinkText = 4 << 10

	// maxLinkAttributes is how many attributes of an element may be links.
	maxLinkAttributes = 100

	// maxOpenLinks is for how many links the text is awaited at a time.
	maxOpenLinks = 64
)

// A streamedLink is an element with links whose end is awaited.
type streamedLink struct {
	node   html.Node
	text   textWriter
	closed bool
}

// A linkStream takes links as the tokenizer finds them, without a tree.
type linkStream struct {
	*extraction
	open []*streamedLink // in the order of the page, some of them closed

	candidate html.Node // the element at hand
}

// stream takes the links of a page in the page's order.
func (x *extraction) stream(body []byte) {
	s := linkStream{extraction: x}
	t := newTokenReader(body)
	for {
		switch t.next() {
		case html.ErrorToken:
			s.closeAll()
			return
		case html.TextToken:
			if len(s.open) > 0 && t.raw != "script" && t.raw != "style" {
				s.write(t.content())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			s.start(t)
		case html.EndTagToken:
			if len(s.open) > 0 {
				s.end(t.name, t.atom)
			}
		}
	}
}

func (s *linkStream) start(t *tokenReader) {
	if len(s.open) > 0 && !isInline(t.atom) {
		s.gap()
	}
	n := &s.candidate
	*n = html.Node{Type: html.ElementNode, DataAtom: t.atom}
	if n.Data = t.atom.String(); t.atom == 0 && (s.Tags != nil || s.DenyTags != nil) {
		n.Data = string(t.name)
	}
	if !s.isTag(n) {
		return
	}
	for key, value, ok := t.attribute(); ok; key, value, ok = t.attribute() {
		switch {
		case !s.isAttr(string(key)) && string(key) != "rel":
		case len(value) > maxAddressBytes:
			s.doc.notPages++
		case len(n.Attr) >= maxLinkAttributes || attributeIndex(n, string(key)) >= 0:
		default:
			n.Attr = append(n.Attr, html.Attribute{Key: string(key), Val: string(value)})
		}
	}
	if len(n.Attr) == 0 {
		return
	}
	if t.atom == atom.A {
		s.end(t.name, t.atom) // a link ends where the next begins
	}
	if len(s.open) >= maxOpenLinks {
		s.closeAll()
	}
	l := &streamedLink{node: *n, closed: isVoid(t.atom)}
	s.open = append(s.open, l)
	s.flush()
}

func (s *linkStream) gap() {
	for _, l := range s.open {
		l.text.gap = true
	}
}

func (s *linkStream) write(text []byte) {
	for _, l := range s.open {
		if room := maxLinkText - len(l.text.text); !l.closed && room > 0 {
			l.text.write(string(text[:min(len(text), room)]))
		}
	}
}

// end closes the innermost link of that name, and those that were opened in it.
func (s *linkStream) end(name []byte, a atom.Atom) {
	if !isInline(a) {
		s.gap()
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		if l := s.open[i]; !l.closed && l.node.Data == string(name) {
			for _, inner := range s.open[i:] {
				inner.closed = true
			}
			break
		}
	}
	s.flush()
}

func (s *linkStream) closeAll() {
	for _, l := range s.open {
		l.closed = true
	}
	s.flush()
}

// flush takes the links that are closed, up to the first that is not.
func (s *linkStream) flush() {
	for len(s.open) > 0 && s.open[0].closed {
		l := s.open[0]
		s.open = s.open[1:]
		if len(l.text.text) > 0 {
			l.node.AppendChild(&html.Node{Type: html.TextNode, Data: string(l.text.text)})
		}
		for _, a := range l.node.Attr {
			if s.isAttr(a.Key) {
				s.take(&l.node, a.Val)
			}
		}
	}
}

// streamedBase is baseHref of a page that is read by the tokenizer alone.
func streamedBase(body []byte) (string, bool) {
	if !hasBaseTag(body) {
		return "", false
	}
	t := newTokenReader(body)
	for {
		switch t.next() {
		case html.ErrorToken:
			return "", false
		case html.StartTagToken, html.SelfClosingTagToken:
			if t.atom != atom.Base {
				continue
			}
			for key, value, ok := t.attribute(); ok; key, value, ok = t.attribute() {
				if string(key) == "href" {
					return string(value), true
				}
			}
		}
	}
}

func hasBaseTag(body []byte) bool {
	for {
		i := bytes.IndexByte(body, '<')
		if i < 0 {
			return false
		}
		if body = body[i+1:]; isTag(body, "base") {
			return true
		}
	}
}
