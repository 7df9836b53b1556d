package extract

import (
	"bytes"
	"strings"
)

// headBytes is how far a scan for meta elements goes at least. Beyond it the
// scan ends where the body begins. Source: HTML Standard, "Determining the
// character encoding": the first 1024 bytes; real heads are longer.
const headBytes = 1024

// prescan returns the encoding that a meta element declares, "" if none does.
//
// It is the HTML Standard's "prescan a byte stream", with two differences: it
// reads the whole head and not its first 1024 bytes, and it passes over
// scripts and style sheets, where "<meta" is somebody's text.
func prescan(body []byte) string {
	s := metaScanner{body: body}
	for {
		i := bytes.IndexByte(s.body[s.at:], '<')
		if i < 0 {
			return ""
		}
		s.at += i
		rest := s.body[s.at:]
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			end := bytes.Index(rest[2:], []byte("-->"))
			if end < 0 {
				return ""
			}
			s.at += 2 + end + len("-->")
		case isTag(rest[1:], "meta"):
			s.at += len("<meta")
			if name := s.meta(); name != "" {
				return name
			}
		case isTag(rest[1:], "body") && s.at > headBytes:
			return ""
		case isTag(rest[1:], "script"):
			s.pastRaw("</script")
		case isTag(rest[1:], "style"):
			s.pastRaw("</style")
		case len(rest) > 1 && isLetter(rest[1]), len(rest) > 2 && rest[1] == '/' && isLetter(rest[2]):
			s.tag()
		case len(rest) > 1 && (rest[1] == '!' || rest[1] == '/' || rest[1] == '?'):
			end := bytes.IndexByte(rest, '>')
			if end < 0 {
				return ""
			}
			s.at += end + 1
		default:
			s.at++
		}
	}
}

type metaScanner struct {
	body []byte
	at   int
}

// meta reads the attributes of a meta element and returns the encoding that
// they declare: in charset, or in content if http-equiv makes that a
// Content-Type.
func (s *metaScanner) meta() string {
	var charset, content, httpEquiv string
	var hasCharset, hasContent, hasEquiv bool
	for {
		name, value, ok := s.attribute()
		if !ok {
			break
		}
		switch {
		case name == "charset" && !hasCharset:
			charset, hasCharset = value, true
		case name == "content" && !hasContent:
			content, hasContent = value, true
		case name == "http-equiv" && !hasEquiv:
			httpEquiv, hasEquiv = value, true
		}
	}
	label := charset
	if !hasCharset {
		if httpEquiv != "content-type" {
			return ""
		}
		label = charsetParameter(content)
	}
	return declared(label)
}

// declared is what a label means inside the page. A page whose declaration
// could be read as ASCII is not in UTF-16, whatever it says.
func declared(label string) string {
	switch name := canonicalName(label); name {
	case "utf-16le", "utf-16be":
		return nameUTF8
	case "x-user-defined":
		return nameWindows1252
	default:
		return name
	}
}

// tag passes over a tag and its attributes, which may hold a ">".
func (s *metaScanner) tag() {
	for s.at < len(s.body) && !isSpace(s.body[s.at]) && s.body[s.at] != '>' {
		s.at++
	}
	for {
		if _, _, ok := s.attribute(); !ok {
			return
		}
	}
}

// pastRaw passes over an element whose content is no markup, up to its end tag.
func (s *metaScanner) pastRaw(end string) {
	s.tag()
	for s.at < len(s.body) {
		i := bytes.Index(s.body[s.at:], []byte("</"))
		if i < 0 {
			s.at = len(s.body)
			return
		}
		s.at += i
		if len(s.body)-s.at >= len(end) && strings.EqualFold(string(s.body[s.at:s.at+len(end)]), end) {
			return
		}
		s.at += 2
	}
}

// attribute reads the next attribute of a tag, both parts in lower case. It
// reports false at the end of the tag.
func (s *metaScanner) attribute() (name, value string, ok bool) {
	n, v, ok := s.rawAttribute()
	return lowered(n), lowered(v), ok
}

// rawAttribute is attribute with both parts as they stand there.
func (s *metaScanner) rawAttribute() (name, value []byte, ok bool) {
	s.skip(func(c byte) bool { return isSpace(c) || c == '/' })
	if s.at >= len(s.body) || s.body[s.at] == '>' {
		return nil, nil, false
	}
	start := s.at
	s.skip(func(c byte) bool {
		return !isSpace(c) && c != '/' && c != '>' && (c != '=' || s.at == start)
	})
	name = s.body[start:s.at]
	s.skip(isSpace)
	if s.at >= len(s.body) || s.body[s.at] != '=' {
		return name, nil, true
	}
	s.at++
	s.skip(isSpace)
	if s.at >= len(s.body) {
		return name, nil, true
	}
	if quote := s.body[s.at]; quote == '"' || quote == '\'' {
		s.at++
		end := bytes.IndexByte(s.body[s.at:], quote)
		if end < 0 {
			s.at = len(s.body)
			return nil, nil, false
		}
		value = s.body[s.at : s.at+end]
		s.at += end + 1
		return name, value, true
	}
	start = s.at
	s.skip(func(c byte) bool { return !isSpace(c) && c != '>' })
	return name, s.body[start:s.at], true
}

func (s *metaScanner) skip(while func(byte) bool) {
	for s.at < len(s.body) && while(s.body[s.at]) {
		s.at++
	}
}

// lowered copies what may be a declaration. A longer value is none, and is not
// copied: it may be an image of a megabyte.
func lowered(b []byte) string {
	if len(b) > headBytes {
		return ""
	}
	return strings.ToLower(string(b))
}

// isTag reports whether b, which stands after a "<", is a start tag of that
// name in any case.
func isTag(b []byte, name string) bool {
	if len(b) <= len(name) || !strings.EqualFold(string(b[:len(name)]), name) {
		return false
	}
	c := b[len(name)]
	return isSpace(c) || c == '/' || c == '>'
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isSpace reports whether c is a blank of HTML.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

// xmlDeclaration returns the encoding of "<?xml … encoding=…?>" at the
// beginning, "" if there is none. Feeds have blank lines before it.
func xmlDeclaration(body []byte) string {
	rest, found := bytes.CutPrefix(bytes.TrimLeft(body[:min(len(body), 2*headBytes)], " \t\r\n"), []byte("<?xml"))
	if !found {
		return ""
	}
	declaration, _, found := bytes.Cut(rest[:min(len(rest), headBytes)], []byte("?>"))
	if !found {
		return ""
	}
	_, after, found := strings.Cut(string(declaration), "encoding")
	if !found {
		return ""
	}
	after, found = strings.CutPrefix(strings.TrimLeft(after, " \t\r\n"), "=")
	after = strings.TrimLeft(after, " \t\r\n")
	if !found || after == "" || after[0] != '"' && after[0] != '\'' {
		return ""
	}
	label, _, closed := strings.Cut(after[1:], after[:1])
	if !closed {
		return ""
	}
	return declared(label)
}
