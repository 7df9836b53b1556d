package extract

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/skitterhq/skitter/shared/extract/xmltoken"
	"golang.org/x/net/html"
)

// ErrCutOff is the error of [Document.XMLNodes] if the document ends within an
// element.
var ErrCutOff = errors.New("the document ends within an element")

var errTooManyNodes = fmt.Errorf("an element has more than %d elements, attributes and texts in it", maxXMLNodes)

// maxOutside is how many elements round those that are wanted are told apart.
const maxOutside = 1000

// XMLNodes reads the elements of one name from an XML document, one after the
// other, each as a small document of its own; so a feed of any length takes no
// more memory than its largest entry (Scrapy's iternodes). Elements of the name
// that are inside of another are parts of that.
//
// The tag is a local name, or a prefix and a local name, as in media:content.
// namespaces, which may be nil, are namespaces by prefix: an element or an
// attribute of one of these has that prefix in the tag and in selectors,
// whatever prefix the document has for it. Other prefixes count as they are
// written.
//
// An element that the end of the document has cut off is left out, and ErrCutOff
// is the last element.
func (d *Document) XMLNodes(tag string, namespaces map[string]string) iter.Seq2[Selection, error] {
	return func(yield func(Selection, error) bool) {
		d.prepareToResolve()
		n := nodeReader{
			doc: d, tag: xmltoken.Name{Local: tag}, spaces: newXMLSpaces(namespaces),
			reader: xmltoken.NewBytes(d.UTF8()), names: make(map[xmltoken.Name]int),
		}
		if prefix, local, found := strings.Cut(tag, ":"); found {
			n.tag = xmltoken.Name{Prefix: prefix, Local: local}
		}
		n.read(yield)
	}
}

// A nodeReader looks for elements of one name.
type nodeReader struct {
	doc    *Document
	tag    xmltoken.Name
	spaces *xmlSpaces
	reader *xmltoken.Reader

	outside []xmltoken.Name       // the open elements round what is looked for
	names   map[xmltoken.Name]int // how many of each name are in outside
	deeper  int                   // how many more are open than maxOutside
	inside  *xmlBuilder           // the element that is being read, nil for none
}

func (n *nodeReader) read(yield func(Selection, error) bool) {
	for {
		kind := n.reader.Next()
		switch {
		case kind == xmltoken.EOF:
			if n.inside != nil {
				yield(Selection{}, ErrCutOff)
			}
			return
		case kind == xmltoken.Start:
			n.start()
		case kind == xmltoken.End:
			if found := n.end(); found != nil && !n.give(found, yield) {
				return
			}
		case n.inside != nil:
			n.inside.take(kind, n.reader)
		}
		if n.inside != nil && n.inside.nodes > maxXMLNodes {
			yield(Selection{}, errTooManyNodes)
			return
		}
	}
}

// depth is how deep the innermost open element is.
func (n *nodeReader) depth() int {
	depth := len(n.outside) + n.deeper
	if n.inside != nil {
		depth += len(n.inside.open) - 1
	}
	return depth
}

func (n *nodeReader) start() {
	name := n.reader.Name()
	n.spaces.enter(n.depth()+1, n.reader.Attrs())
	if n.inside == nil && name.Local == n.tag.Local && n.spaces.element(name) == n.tag.Prefix {
		n.inside = newXMLBuilder()
		n.inside.spaces = n.spaces
	}
	switch {
	case n.inside != nil:
		n.inside.take(xmltoken.Start, n.reader)
	case len(n.outside) < maxOutside:
		n.outside = append(n.outside, name)
		n.names[name]++
	default:
		n.deeper++
	}
}

// end closes what an end tag closes, and returns the element that is whole then,
// nil for none.
func (n *nodeReader) end() *html.Node {
	defer func() { n.spaces.leave(n.depth()) }()
	name := n.reader.Name()
	if n.inside != nil && n.inside.names[name] > 0 {
		n.inside.take(xmltoken.End, n.reader)
		if len(n.inside.open) > 1 {
			return nil
		}
		return n.whole()
	}
	if n.deeper > 0 {
		if n.inside == nil {
			n.deeper--
		}
		return nil
	}
	if n.names[name] == 0 {
		return nil
	}
	for closed := (xmltoken.Name{}); closed != name; {
		closed = n.outside[len(n.outside)-1]
		n.names[closed]--
		n.outside = n.outside[:len(n.outside)-1]
	}
	return n.whole() // it lacks its own end tag
}

// whole ends the element that is being read, if there is one.
func (n *nodeReader) whole() *html.Node {
	if n.inside == nil {
		return nil
	}
	n.inside.flush()
	root := n.inside.root()
	n.inside = nil
	return root
}

// give hands an element over as a document of its own, and takes over what was
// found wrong with it.
func (n *nodeReader) give(root *html.Node, yield func(Selection, error) bool) bool {
	own := &Document{
		address: n.doc.address, contentType: n.doc.contentType, encoding: nameUTF8, root: root, kindKnown: true, xml: true,
		base: n.doc.base, queryEncoding: n.doc.queryEncoding, resolves: true,
	}
	more := yield(Selection{doc: own, hits: []hit{{node: root.FirstChild}}}, nil)
	for _, err := range own.wrong {
		n.doc.blame(err)
	}
	n.doc.notPages += own.notPages
	return more
}
