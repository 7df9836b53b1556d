package extract

import (
	"bytes"
	"slices"

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

	// maxKnown is how many addresses of such a page are known again as they
	// stand there, and maxKnownBytes how long they may be.
	maxKnown, maxKnownBytes = 4096, 512
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
	free []*streamedLink // for use again

	candidate html.Node // the element at hand

	// known are addresses that were taken or dropped. It is nil where
	// more than the address decides.
	known map[string]struct{}
}

// stream takes the links of a page in the page's order.
func (x *extraction) stream(body []byte) {
	s := linkStream{extraction: x}
	if x.seen != nil && x.ProcessValue == nil && len(x.RestrictText) == 0 {
		s.known = make(map[string]struct{})
	}
	t := newTokenReader(body)
	for {
		x.reserve(t.at, len(body))
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
	*n = html.Node{Type: html.ElementNode, DataAtom: t.atom, Attr: n.Attr[:0]}
	if n.Data = t.atom.String(); t.atom == 0 && (s.Tags != nil || s.DenyTags != nil) {
		n.Data = string(t.name)
	}
	if !s.isTag(n) {
		return
	}
	isNew := s.attributes(t)
	if len(n.Attr) == 0 {
		return
	}
	if t.atom == atom.A && len(s.open) > 0 {
		s.end(t.name, t.atom) // a link ends where the next begins
	}
	if !isNew && (t.atom == atom.A || isVoid(t.atom)) {
		return // its end tag closes no other
	}
	if len(s.open) >= maxOpenLinks {
		s.closeAll()
	}
	var l *streamedLink
	if last := len(s.free) - 1; last >= 0 {
		l, s.free = s.free[last], s.free[:last]
	} else {
		l = new(streamedLink)
	}
	n.Attr, l.node.Attr = l.node.Attr, n.Attr
	l.node.Data, l.node.DataAtom, l.node.Type = n.Data, n.DataAtom, n.Type
	l.closed = isVoid(t.atom)
	s.open = append(s.open, l)
	s.flush()
}

// attributes reads the attributes of the element at hand that are links, and
// its rel. It reports whether one is a link that is not known.
func (s *linkStream) attributes(t *tokenReader) (isNew bool) {
	n := &s.candidate
	for key, value, ok := t.attribute(); ok; key, value, ok = t.attribute() {
		isLink := s.isAttr(string(key))
		switch {
		case !isLink && string(key) != "rel":
			continue
		case len(value) > maxAddressBytes:
			s.doc.notPages++
			continue
		case len(n.Attr) >= maxLinkAttributes || attributeIndex(n, string(key)) >= 0:
			continue
		}
		a := html.Attribute{Key: attributeKey(key)}
		if _, known := s.known[string(value)]; isLink && known {
			a.Namespace = knownLink
		} else {
			a.Val = string(value)
			isNew = isNew || isLink
		}
		n.Attr = append(n.Attr, a)
	}
	return isNew
}

// knownLink is the namespace of an attribute whose address is known.
const knownLink = "known"

// takeLink takes an address, and knows it from then on. One that is no page's
// is counted each time.
func (s *linkStream) takeLink(n *html.Node, address string) {
	notPages := s.doc.notPages
	s.take(n, address)
	if s.known != nil && len(s.known) < maxKnown && len(address) <= maxKnownBytes && s.doc.notPages == notPages {
		s.known[address] = struct{}{}
	}
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
	done := 0
	for ; done < len(s.open) && s.open[done].closed; done++ {
		l := s.open[done]
		l.node.FirstChild, l.node.LastChild = nil, nil
		if len(l.text.text) > 0 {
			l.node.AppendChild(&html.Node{Type: html.TextNode, Data: string(l.text.text)})
		}
		for _, a := range l.node.Attr {
			if a.Namespace != knownLink && s.isAttr(a.Key) {
				s.takeLink(&l.node, a.Val)
			}
		}
		l.text = textWriter{text: l.text.text[:0]}
		clear(l.node.Attr)
		l.node.Attr = l.node.Attr[:0]
		s.free = append(s.free, l)
	}
	s.open = slices.Delete(s.open, 0, done)
}

// reserve makes room for the links of the whole page, if they stand as close to
// each other as so far: a slice that grows step by step is there twice.
func (x *extraction) reserve(at, length int) {
	if n := len(x.links); n >= 1024 && n == cap(x.links) && at > 0 {
		x.links = slices.Grow(x.links, max(n/8, int(float64(n)*float64(length-at)/float64(at))))
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
