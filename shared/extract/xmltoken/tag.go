package xmltoken

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// startTag reads a start tag. EOF is for one that is passed over: it is cut off
// by the end of the document, or longer than what is held of a stream.
func (r *Reader) startTag() Kind {
	r.started = true
	for {
		t := tag{Reader: r, b: r.rest(), final: r.src == nil}
		if n := t.read(); n > 0 {
			r.pos += n
			r.ends = t.closed
			return Start
		}
		r.attrs = r.attrs[:0]
		if t.final {
			r.pos = len(r.buf)
			return EOF
		}
		if !r.fill() && r.src != nil {
			r.skipTag()
			return EOF
		}
	}
}

// endTag reads an end tag.
func (r *Reader) endTag() Kind {
	n := 2
	for {
		for n < len(r.rest()) && r.rest()[n] != '<' && r.rest()[n] != '>' {
			n++
		}
		if n < len(r.rest()) || !r.fill() {
			break
		}
	}
	b := r.rest()[2:n]
	if n == len(r.rest()) && r.src != nil {
		r.skipTag()
		return EOF
	}
	r.name = r.names.name(b[:nameLength(b)])
	if n < len(r.rest()) && r.rest()[n] == '>' {
		n++
	}
	r.pos += n
	return End
}

// A tag is a start tag that is being read, from its "<" on.
type tag struct {
	*Reader
	b      []byte
	i      int
	final  bool // nothing comes after b
	closed bool // it ends with "/>"
}

// read sets the reader's name and attributes, and returns the length of the
// tag, 0 if b ends before it.
func (t *tag) read() int {
	t.i = 1 + nameLength(t.b[1:])
	t.name = t.names.name(t.b[1:t.i])
	for {
		t.blanks()
		if t.i == len(t.b) {
			return 0
		}
		switch c := t.b[t.i]; {
		case c == '>':
			return t.i + 1
		case c == '<':
			return t.i
		case c == '/':
			t.i++
			t.closed = t.i < len(t.b) && t.b[t.i] == '>'
		case !t.attribute():
			return 0
		}
	}
}

// attribute reads one attribute, and reports whether b has it whole.
func (t *tag) attribute() bool {
	n := nameLength(t.b[t.i:])
	name := t.b[t.i : t.i+n]
	t.i += n
	t.blanks()
	if n > 0 && (t.i == len(t.b) || t.b[t.i] != '=') {
		t.add(name, nil) // without a value
		return true
	}
	t.i++ // "=", or what can begin no attribute
	if n == 0 {
		return true
	}
	t.blanks()
	if t.i == len(t.b) {
		return false
	}
	if c := t.b[t.i]; c == '"' || c == '\'' {
		t.i++
		return t.quoted(name, c)
	}
	start := t.i
	for t.i < len(t.b) && !isBlank(t.b[t.i]) && t.b[t.i] != '>' {
		t.i++
	}
	t.add(name, t.b[start:t.i])
	return true
}

// quoted reads the value after its quote. One whose closing quote never comes
// ends with the tag.
func (t *tag) quoted(name []byte, quote byte) bool {
	rest := t.b[t.i:]
	missing := &t.noQuote[0]
	if quote == '\'' {
		missing = &t.noQuote[1]
	}
	n := -1
	if !*missing {
		n = bytes.IndexByte(rest, quote)
	}
	if n >= 0 {
		t.add(name, rest[:n])
		t.i += n + 1
		return true
	}
	if !t.final {
		return false
	}
	*missing = true
	if n = bytes.IndexByte(rest, '>'); n < 0 {
		return false
	}
	t.add(name, rest[:n])
	t.i += n
	return true
}

func (t *tag) add(name, value []byte) {
	if len(t.attrs) == maxAttrs {
		return
	}
	n := t.names.name(name)
	// A tag of thousands of attributes is no mistake, and not searched.
	if len(t.attrs) < maxCompared {
		for i := range t.attrs {
			if t.attrs[i].Name == n {
				return
			}
		}
	}
	t.attrs = append(t.attrs, Attr{n, string(t.attributeValue(value))})
}

// maxAttrs is how many attributes of one tag are kept.
const maxAttrs = 10_000

// maxCompared is among how many attributes one that comes twice is found.
const maxCompared = 100

func (t *tag) blanks() {
	for t.i < len(t.b) && isBlank(t.b[t.i]) {
		t.i++
	}
}

// isNameStart reports whether a name may begin with c.
func isNameStart(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == ':' || c >= utf8.RuneSelf
}

// nameLength returns the length of the name that b begins with. In a name is
// all that does not end it.
func nameLength(b []byte) int {
	for i, c := range b {
		if c <= ' ' || c == '/' || c == '>' || c == '<' || c == '=' || c == '"' || c == '\'' {
			return i
		}
	}
	return len(b)
}

func isBlank(c byte) bool { return c <= ' ' }

// names keeps the names that a document uses again and again.
type names map[string]Name

// maxNames bounds what a document of ever new names takes.
const maxNames = 1000

func (m *names) name(b []byte) Name {
	if n, known := (*m)[string(b)]; known {
		return n
	}
	s := strings.ToValidUTF8(string(b), "\ufffd")
	n := Name{Local: s}
	if prefix, local, found := strings.Cut(s, ":"); found && prefix != "" && local != "" {
		n = Name{prefix, local}
	}
	if *m == nil {
		*m = make(names)
	}
	if len(*m) < maxNames {
		(*m)[string(b)] = n
	}
	return n
}
