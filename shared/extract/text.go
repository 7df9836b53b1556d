package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readerText is the text of an element as somebody who looks at the page reads
// it: without scripts and style sheets, a blank between blocks, runs of blanks
// as one, none at the ends. Of an attribute or a text node it is the same of
// the value.
func readerText(h hit) string {
	if !h.isNode() {
		return collapse(h.text())
	}
	if h.node.Type == html.TextNode {
		return collapse(h.node.Data)
	}
	if c := h.node.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return collapse(c.Data)
	}
	var w textWriter
	w.children(h.node)
	return string(w.text)
}

// collapse makes each run of blanks one, and cuts them off at the ends. Text
// that is so already is returned without a copy.
func collapse(s string) string {
	s = strings.Trim(s, " \t\n\f\r")
	blank := false
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' && !blank:
			blank = true
		case isSpace(c), c == 0xc2 && strings.HasPrefix(s[i:], nbsp):
			var w textWriter
			w.write(s)
			return string(w.text)
		default:
			blank = false
		}
	}
	return s
}

// nbsp is a no-break space, which a reader takes for a blank.
const nbsp = "\u00a0"

// A textWriter collects text and makes runs of blanks one.
type textWriter struct {
	text []byte
	gap  bool // a blank is due before the next letter
}

func (w *textWriter) write(s string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isSpace(c):
			w.gap = true
			continue
		case c == 0xc2 && strings.HasPrefix(s[i:], nbsp):
			w.gap = true
			i++
			continue
		case w.gap && len(w.text) > 0:
			w.text = append(w.text, ' ')
		}
		w.gap = false
		w.text = append(w.text, c)
	}
}

func (w *textWriter) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			w.write(c.Data)
		case html.ElementNode:
			if c.DataAtom == atom.Script || c.DataAtom == atom.Style || c.DataAtom == atom.Template {
				continue
			}
			inline := isInline(c.DataAtom)
			w.gap = w.gap || !inline
			w.children(c)
			w.gap = w.gap || !inline
		}
	}
}

// isInline reports whether an element stands in a line of text, so that the
// words before and after it may touch. Source: HTML Standard, "Rendering";
// elements that it does not know are inline.
func isInline(a atom.Atom) bool {
	switch a {
	case 0, atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code,
		atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Img, atom.Ins, atom.Kbd, atom.Label,
		atom.Mark, atom.Nobr, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strike, atom.Strong,
		atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}
