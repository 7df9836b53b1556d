package extract

import (
	"strings"

	"golang.org/x/net/html"
)

var (
	textEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
	attrEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;", "\n", "&#10;", "\r", "&#13;", "\t", "&#9;")
)

// renderXML writes a node of XML as it stands in a document, prefixes and all.
// Namespaces that are declared further up are not declared again.
func renderXML(b *strings.Builder, n *html.Node) {
	switch n.Type {
	case html.TextNode:
		b.WriteString(textEscaper.Replace(n.Data))
	case html.CommentNode:
		b.WriteString("<!--")
		b.WriteString(strings.ReplaceAll(n.Data, "--", "- -"))
		b.WriteString("-->")
	case html.ElementNode:
		b.WriteByte('<')
		writeXMLName(b, n.Namespace, n.Data)
		for _, a := range n.Attr {
			b.WriteByte(' ')
			writeXMLName(b, a.Namespace, a.Key)
			b.WriteString(`="`)
			b.WriteString(attrEscaper.Replace(a.Val))
			b.WriteByte('"')
		}
		if n.FirstChild == nil {
			b.WriteString("/>")
			return
		}
		b.WriteByte('>')
		renderXMLChildren(b, n)
		b.WriteString("</")
		writeXMLName(b, n.Namespace, n.Data)
		b.WriteByte('>')
	default:
		renderXMLChildren(b, n)
	}
}

func renderXMLChildren(b *strings.Builder, n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		renderXML(b, c)
	}
}

func writeXMLName(b *strings.Builder, prefix, local string) {
	if prefix != "" {
		b.WriteString(prefix)
		b.WriteByte(':')
	}
	b.WriteString(local)
}
