package extract

import (
	"errors"
	"slices"

	"github.com/PuerkitoBio/goquery"
	"github.com/skitterhq/skitter/shared/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding"
)

// A Document is a page that can be asked for links and values. The work is done
// when it is first needed, and once. It is used by one goroutine at a time.
type Document struct {
	body        []byte
	contentType string
	address     string

	encoding string // "" until it was looked for
	utf8     []byte // the body in UTF-8, without its byte order mark
	text     string
	root     *html.Node

	kindKnown bool // xml is set
	xml       bool // it is read as XML

	parseMaxsize int64
	sized        bool // tokenized is set
	tokenized    bool
	truncated    bool

	goquery *goquery.Document

	base          weburl.URL
	queryEncoding encoding.Encoding // nil for UTF-8
	resolves      bool              // base and queryEncoding are set

	data      any   // the body's JSON
	dataErr   error // why it is none
	dataLarge bool  // it is too large for one
	dataRead  bool
	embedded  embedded

	notPages int
	wrong    []error // selectors
}

// NewDocument returns the document of a body that was fetched from an address.
// contentType is the Content-Type header, which may be empty. The body must not
// be changed afterwards, as it is not copied.
func NewDocument(body []byte, contentType, url string) *Document {
	return &Document{body: body, contentType: contentType, address: url, parseMaxsize: DefaultParseMaxsize}
}

// Encoding returns the name of the page's encoding; see [DetectEncoding].
func (d *Document) Encoding() string {
	d.UTF8()
	return d.encoding
}

// UTF8 returns the body in UTF-8 and without byte order mark. It shares the
// body's memory where the page is in UTF-8, and must not be changed.
func (d *Document) UTF8() []byte {
	if d.encoding == "" {
		var mark int
		d.encoding, mark = detect(d.body, d.contentType)
		d.utf8 = decode(d.body[mark:], d.encoding)
	}
	return d.utf8
}

// Text returns the body as text: the markup and all, decoded. What a reader
// sees of an element is [Selection.Text].
func (d *Document) Text() string {
	if d.text == "" {
		d.text = string(d.UTF8())
	}
	return d.text
}

// Root returns the root of the tree, a node of type html.DocumentNode. The tree
// may be changed; goquery and selectors see the change.
func (d *Document) Root() *html.Node {
	if d.root == nil {
		switch {
		case d.IsXML():
			d.root, d.truncated = parseXML(d.UTF8())
		case d.Tokenized():
			d.root = parseFlat(d.UTF8()[:min(len(d.UTF8()), maxFlatBytes)], largeNesting)
		default:
			d.root = parse(d.UTF8())
		}
	}
	return d.root
}

// Goquery returns the document for goquery, on the same tree. A selector that
// is wrong matches nothing there, without a word; FindMatcher with a [Query] is
// safe from that.
func (d *Document) Goquery() *goquery.Document {
	if d.goquery == nil {
		d.goquery = goquery.NewDocumentFromNode(d.Root())
		if u, err := weburl.Parse(d.address); err == nil {
			d.goquery.Url = u.NetURL()
		}
	}
	return d.goquery
}

// Base returns what the page's addresses are relative to: the href of its first
// base element, else its own address. The zero URL says that neither is a URL.
func (d *Document) Base() weburl.URL {
	d.prepareToResolve()
	return d.base
}

// Resolve reads an address as it stands on the page. As in browsers, the query
// is escaped in the page's encoding and all else in UTF-8.
func (d *Document) Resolve(ref string) (weburl.URL, error) {
	d.prepareToResolve()
	if d.base.IsZero() {
		return weburl.Parse(ref)
	}
	return d.base.ResolveIn(ref, d.queryEncoding)
}

func (d *Document) prepareToResolve() {
	if d.resolves {
		return
	}
	d.resolves = true
	if name := d.Encoding(); name != nameUTF8 {
		d.queryEncoding = encodingNamed(name)
	}
	address, err := weburl.Parse(d.address)
	if err == nil {
		d.base = address
	}
	if !hasMarkup(d.contentType) || d.IsXML() {
		return // XML has no base element, and there is no need to parse a large answer of an API
	}
	var href string
	var found bool
	if d.Tokenized() {
		href, found = streamedBase(d.UTF8())
	} else {
		href, found = baseHref(d.Root())
	}
	if !found {
		return
	}
	base, err := weburl.Parse(href)
	if !address.IsZero() {
		base, err = address.Resolve(href)
	}
	// The standard forbids the two schemes, whose URLs nothing is relative to.
	if err == nil && base.Scheme() != "data" && base.Scheme() != "javascript" {
		d.base = base
	}
}

// baseHref returns the href of the first base element that has one.
func baseHref(n *html.Node) (string, bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Base && c.Namespace == "" {
			if href, found := attribute(c, "href"); found {
				return href, true
			}
		}
		if href, found := baseHref(c); found {
			return href, true
		}
	}
	return "", false
}

// TakeErr returns what was wrong with selectors since it was last called,
// nested ones included, and nil if nothing was.
func (d *Document) TakeErr() error {
	err := errors.Join(d.wrong...)
	d.wrong = nil
	return err
}

// blame keeps the error of a selector, once if it is used in a loop.
func (d *Document) blame(err error) {
	same := func(e error) bool { return e.Error() == err.Error() }
	if len(d.wrong) < maxWrong && !slices.ContainsFunc(d.wrong, same) {
		d.wrong = append(d.wrong, err)
	}
}

// maxWrong bounds the list of selectors that are wrong; a program that makes
// them up in a loop is told of the first ones.
const maxWrong = 20

// TakeNotPages returns how many addresses on the page were passed over as links
// to no page since it was last called: those that are no URL, and those of
// other schemes, such as mailto.
func (d *Document) TakeNotPages() int {
	n := d.notPages
	d.notPages = 0
	return n
}

// Page resolves an address and reports whether it can be fetched. One that
// cannot is counted; see [Document.TakeNotPages].
func (d *Document) Page(ref string) (weburl.URL, bool) {
	u, err := d.Resolve(ref)
	if err != nil || !Fetchable(u) {
		d.notPages++
		return weburl.URL{}, false
	}
	return u, true
}

// Fetchable reports whether a URL's scheme is one that can be fetched: http,
// https, file or ftp. Whether this crawl may is another matter.
func Fetchable(u weburl.URL) bool {
	switch u.Scheme() {
	case "https", "http", "file", "ftp":
		return true
	}
	return false
}
