package extract

import (
	"bytes"
	"mime"
	"path"
	"strings"

	"github.com/skitterhq/skitter/shared/extract/xmltoken"
	"github.com/skitterhq/skitter/shared/weburl"
	"golang.org/x/net/html/atom"
)

// IsXML reports whether the document is read as XML and not as HTML. The first
// of these that says something decides:
//
//  1. a root element named html: HTML, also if it is XHTML,
//  2. the Content-Type: one of XML, such as text/xml or application/rss+xml; or
//     one of something else, but for text/html and text/plain,
//  3. the ending of the address, such as .xml or .rss, unless the Content-Type
//     says text/html,
//  4. the body: XML if it begins with an XML declaration and its root is no
//     element of HTML.
func (d *Document) IsXML() bool {
	if !d.kindKnown {
		d.kindKnown = true
		d.xml = d.looksLikeXML()
	}
	return d.xml
}

func (d *Document) looksLikeXML() bool {
	kind := xmlType(d.contentType)
	if kind == isNotXML {
		return false
	}
	ending := kind == unsaid && hasXMLEnding(d.address)
	body := bytes.TrimLeft(d.UTF8(), " \t\r\n")
	declared := bytes.HasPrefix(body, []byte("<?xml"))
	if kind != isXMLType && !ending && !declared {
		return false
	}
	root := rootName(body)
	if strings.EqualFold(root, "html") {
		return false
	}
	switch {
	case kind == isXMLType:
		return true
	case ending:
		return root != ""
	}
	return root != "" && atom.Lookup([]byte(strings.ToLower(root))) == 0
}

// What a Content-Type says.
type xmlness int

const (
	unsaid    xmlness = iota // nothing, or what servers say of any file
	saidHTML                 // text/html, which servers say of feeds, too
	isXMLType                // a type of XML
	isNotXML
)

func xmlType(contentType string) xmlness {
	media, _, _ := strings.Cut(contentType, ";")
	switch media = strings.ToLower(strings.TrimSpace(media)); media {
	case "", "text/plain", "application/octet-stream", "binary/octet-stream", "application/force-download":
		return unsaid
	case "text/html":
		return saidHTML
	case "application/xhtml+xml", "application/vnd.wap.xhtml+xml":
		return isNotXML
	case "text/xml", "application/xml", "application/x-xml", "application/rss", "application/x-rss+xml":
		return isXMLType
	}
	if strings.HasSuffix(media, "+xml") {
		return isXMLType
	}
	if _, _, err := mime.ParseMediaType(media); err != nil {
		return unsaid
	}
	return isNotXML
}

// hasXMLEnding reports whether an address ends like the name of an XML file.
func hasXMLEnding(address string) bool {
	u, err := weburl.Parse(address)
	if err != nil {
		return false
	}
	switch strings.ToLower(path.Ext(u.Path())) {
	case ".xml", ".rss", ".atom", ".rdf", ".xsl", ".xslt", ".svg":
		return true
	}
	return false
}

// beginningBytes is how much of a body is looked at for its root element.
const beginningBytes = 64 << 10

// rootName returns the local name of the root element, "" if none comes.
func rootName(body []byte) string {
	r := xmltoken.NewBytes(body[:min(len(body), beginningBytes)])
	for {
		switch r.Next() {
		case xmltoken.Start:
			return r.Name().Local
		case xmltoken.EOF:
			return ""
		}
	}
}
