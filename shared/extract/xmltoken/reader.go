package xmltoken

import (
	"bytes"
	"io"
)

// A Kind says what a token is.
type Kind int

// The kinds of tokens.
const (
	// EOF is the end, also one that came too early; see [Reader.Err].
	EOF Kind = iota
	// Start is a start tag. A tag such as <br/> is a Start and an End.
	Start
	// End is an end tag.
	End
	// Text is text, with its entities replaced, or the content of CDATA. Text
	// may come in several tokens, one after the other.
	Text
	// Comment is a comment. A very long one may come in several tokens.
	Comment
)

// A Name is the name of an element or an attribute, as it is written: prefixes
// are not looked up.
type Name struct {
	Prefix string // "" for none
	Local  string
}

// An Attr is an attribute of a start tag. What declares a namespace is one, too:
// xmlns, or the prefix xmlns.
type Attr struct {
	Name  Name
	Value string
}

// A Reader gives the tokens of a document in UTF-8. The document's own
// declaration of an encoding is passed over.
type Reader struct {
	src io.Reader // nil once there is no more to read
	err error
	buf []byte
	pos int // of buf: where the next token begins

	names   names
	started bool // a document type or an element has come

	name    Name
	attrs   []Attr
	data    []byte
	scratch []byte
	ends    bool // the start tag just given was one such as <br/>

	inside  string // what ends a section that is being read in pieces
	section Kind   // of what is inside; EOF for what is passed over

	noQuote [2]bool // no more " and no more ' up to the end
}

// NewReader reads a stream.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

// NewBytes reads a document that is in memory. Each text is one token then. The
// document is not changed.
func NewBytes(doc []byte) *Reader { return &Reader{buf: doc} }

// Name is the name of the start or end tag just given.
func (r *Reader) Name() Name { return r.name }

// Attrs are the attributes of the start tag just given; the slice is good until
// the next token. Of two with one name the first is given.
func (r *Reader) Attrs() []Attr { return r.attrs }

// Attr returns the value of an attribute of the start tag just given, by its
// local name, and whether it is there.
func (r *Reader) Attr(local string) (string, bool) {
	for i := range r.attrs {
		if r.attrs[i].Name.Local == local && r.attrs[i].Name.Prefix != "xmlns" {
			return r.attrs[i].Value, true
		}
	}
	return "", false
}

// Data is the text or comment just given; it is good until the next token.
func (r *Reader) Data() []byte { return r.data }

// Err returns what the stream failed with, and nil if it was read to its end.
func (r *Reader) Err() error { return r.err }

// Next goes to the next token.
func (r *Reader) Next() Kind {
	if r.ends {
		r.ends = false
		return End
	}
	r.attrs, r.data = r.attrs[:0], nil
	for {
		if r.inside != "" {
			if kind := r.piece(); kind != EOF {
				return kind
			}
			continue
		}
		if !r.has(1) {
			return EOF
		}
		if r.buf[r.pos] != '<' {
			return r.text()
		}
		if kind := r.markup(); kind != EOF {
			return kind
		}
	}
}

// markup reads what begins with "<". EOF is for what is no token.
func (r *Reader) markup() Kind {
	r.has(len("<![CDATA["))
	rest := r.rest()
	switch {
	case len(rest) > 1 && isNameStart(rest[1]):
		return r.startTag()
	case len(rest) > 2 && rest[1] == '/' && isNameStart(rest[2]):
		return r.endTag()
	case bytes.HasPrefix(rest, []byte("<!--")):
		return r.enter(Comment, "<!--", "-->")
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		return r.enter(Text, "<![CDATA[", "]]>")
	case len(rest) > 1 && rest[1] == '?':
		r.instruction()
		return EOF
	case len(rest) > 1 && rest[1] == '!':
		r.declaration()
		return EOF
	}
	return r.text()
}

// beginsMarkup reports whether a "<" and what follows it may be more than text.
func beginsMarkup(b []byte) bool {
	return isNameStart(b[1]) || b[1] == '/' || b[1] == '!' || b[1] == '?'
}

// enter begins a comment or CDATA.
func (r *Reader) enter(kind Kind, begin, end string) Kind {
	r.pos += len(begin)
	r.inside, r.section = end, kind
	return EOF
}

// piece gives what is inside of a section, up to its end or as much as is held.
// EOF is for nothing.
func (r *Reader) piece() Kind {
	n := r.find(r.inside, 0)
	after := n + len(r.inside)
	switch {
	case n >= 0:
		r.inside = ""
	case r.src == nil: // cut off
		n = len(r.rest())
		after = n
		r.inside = ""
	default:
		n = cutRune(r.rest()[:len(r.rest())-len(r.inside)+1])
		after = n
	}
	data := r.rest()[:n]
	r.pos += after
	if n == 0 || r.section == EOF {
		return EOF
	}
	r.data = r.clean(data)
	return r.section
}

// text gives the text up to the next "<". The first byte is text, whatever it
// is.
func (r *Reader) text() Kind {
	n := r.find("<", 1)
	for n > 0 && r.has(n+2) && !beginsMarkup(r.rest()[n:]) {
		if n++; r.rest()[n] != '<' {
			n = r.find("<", n)
		}
	}
	if n < 0 {
		n = len(r.rest())
		if r.src != nil {
			n = cutEntity(r.rest()[:cutRune(r.rest())])
		}
	}
	data := r.rest()[:n]
	r.pos += n
	r.data = r.unescape(r.clean(data))
	return Text
}

// instruction passes over a processing instruction. One that lacks its "?>"
// ends at a ">", or where the next markup begins.
func (r *Reader) instruction() {
	n := r.find("<", 2)
	if n < 0 {
		n = len(r.rest())
	}
	inside := r.rest()[:n]
	if i := bytes.Index(inside, []byte("?>")); i >= 0 {
		n = i + 2
	} else if i := bytes.IndexByte(inside, '>'); i >= 0 {
		n = i + 1
	}
	r.pos += n
}

// declaration passes over a document type, or what else begins with "<!".
func (r *Reader) declaration() {
	if !r.started {
		r.started = true
		for {
			if n := declarationEnd(r.rest()); n > 0 {
				r.pos += n
				return
			}
			if !r.fill() {
				break
			}
		}
	}
	r.skipTag()
}

// skipTag passes over all up to the next ">".
func (r *Reader) skipTag() {
	if n := r.find(">", 1); n >= 0 {
		r.pos += n + 1
		return
	}
	r.pos = len(r.buf)
	if r.src != nil {
		r.inside, r.section = ">", EOF
	}
}

// declarationEnd returns the length of a document type, its internal subset
// and all, and -1 if it does not end.
func declarationEnd(b []byte) int {
	subset := false
	for i := 2; i < len(b); i++ {
		switch c := b[i]; c {
		case '"', '\'':
			n := bytes.IndexByte(b[i+1:], c)
			if n < 0 {
				return -1
			}
			i += n + 1
		case '[':
			subset = true
		case ']':
			subset = false
		case '<':
			if bytes.HasPrefix(b[i:], []byte("<!--")) {
				n := bytes.Index(b[i+4:], []byte("-->"))
				if n < 0 {
					return -1
				}
				i += 4 + n + 2
			}
		case '>':
			if !subset {
				return i + 1
			}
		}
	}
	return -1
}
