package legs

import (
	"context"
	"errors"
	"strings"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
)

const nameXMLFeed = "xml_feed"

// XMLFeed reads the entries of XML feeds: Scrapy's XMLFeedSpider as a leg. Each
// element of one name is read by itself, so a feed of any length takes no more
// memory than its largest entry. XML that is wrong is read as far as it makes
// sense, and declared encodings and entities of HTML are understood.
//
// An entry is read by ParseNode or by fields, or by both. An error in one entry
// does not lose the others: the page fails with the first of them once all are
// read. An entry that the end of the document has cut off is left out, and the
// page counted as leg/NAME/broken_count.
//
// Pages that are no XML are passed over. Scrapy's iterator is not an option, as
// this one takes what its three take.
type XMLFeed struct {
	// Name is the leg's name, unique in its spider.
	//
	// Default: xml_feed.
	Name string `json:"name,omitempty"`

	// Itertag is the name of the entries' elements, with its prefix if it has
	// one. Elements of the name inside of another are parts of that.
	//
	// Default: item.
	Itertag string `json:"itertag,omitempty"`

	// Namespaces are namespaces by prefix. What belongs to one has that prefix
	// in itertag and in selectors, whatever prefix the document has for it.
	//
	// Default: none, prefixes count as the document has them, and what has
	// none is found without one.
	Namespaces map[string]string `json:"namespaces,omitempty"`

	// Fields make an item of each entry.
	Fields FieldList `json:"fields,omitempty"`

	// OmitMissing leaves fields that have no value out of the item.
	//
	// Default: false, they are null, and [] with all.
	OmitMissing bool `json:"omit_missing,omitempty"`

	// Incomplete says what becomes of an item that lacks a required field:
	// drop leaves it out, counted as leg/NAME/incomplete_count, and fail is an
	// error of the page.
	//
	// Default: drop.
	Incomplete string `json:"incomplete,omitempty"`

	// Only says which pages are read.
	Only Only `json:"only,omitzero"`

	// AdaptResponse gives the body to read in place of the page's own; nil
	// reads nothing.
	AdaptResponse func(page *spider.Page) ([]byte, error) `json:"-"`

	// ParseNode reads an entry. The selection is its element; an address is
	// resolved with page.Join.
	ParseNode func(ctx context.Context, page *spider.Page, node extract.Selection, out *spider.Output) error `json:"-"`

	// ProcessResults changes what came of an entry, or leaves some of it out.
	ProcessResults func(page *spider.Page, results spider.Results) spider.Results `json:"-"`
}

// Leg makes the leg.
func (o XMLFeed) Leg() spider.Leg {
	name := nameOr(o.Name, nameXMLFeed)
	return spider.Leg{Name: name, SetSpider: func(top *spider.Spider) (spider.Leg, error) {
		var m mistakes
		l := &xmlFeed{XMLFeed: o, name: name}
		l.Itertag = nameOr(o.Itertag, "item")
		if strings.ContainsAny(l.Itertag, " <>/*[]@") {
			m.add("itertag", errors.New("it is the name of an element, such as item or media:content"))
		}
		wanted := o.Only.compile(top, &m)
		m.add("incomplete", oneOf(nameOr(o.Incomplete, "drop"), "drop", "fail"))
		switch {
		case len(o.Fields) > 0:
			l.fields = &fieldReader{fail: o.Incomplete == "fail", count: "leg/" + name + "/incomplete_count"}
			l.fields.fields = compileFields("fields", o.Fields, o.OmitMissing, &m)
		case o.ParseNode == nil:
			m.add("fields", errors.New("there are none: give names with selectors, as in {title: 'title::text'}, or ParseNode in Go"))
		}
		return spider.Leg{Name: name, ProcessResponse: func(ctx context.Context, page *spider.Page, out *spider.Output) error {
			if !wanted(page) {
				return nil
			}
			return l.read(ctx, page, out)
		}}, m.err()
	}}
}

// An xmlFeed is an XMLFeed that is bound to its spider.
type xmlFeed struct {
	XMLFeed
	name   string
	fields *fieldReader // nil for none
}

func (l *xmlFeed) read(ctx context.Context, page *spider.Page, out *spider.Output) error {
	doc := page.Document()
	switch {
	case l.AdaptResponse != nil:
		body, err := l.AdaptResponse(page)
		if err != nil || body == nil {
			return err
		}
		doc = extract.NewDocument(body, "application/xml", page.Response.URL)
	case !doc.IsXML() && !looksLikeFeed(page.Body):
		return nil
	}
	entries := entryReader{page: page, out: out, process: l.ProcessResults}
	reading := newReading(page)
	for node, err := range doc.XMLNodes(l.Itertag, l.Namespaces) {
		if err != nil {
			page.Log.Warn("a feed is broken; its entries so far count", "leg", l.name, "err", err)
			out.Count("leg/"+l.name+"/broken_count", 1)
			break
		}
		entries.read(func(out *spider.Output) error {
			if l.ParseNode != nil {
				if err := l.ParseNode(ctx, page, node, out); err != nil {
					return err
				}
			}
			if l.fields != nil {
				return l.fields.item(reading, node, out)
			}
			return nil
		})
		if out.Stopped() {
			break
		}
	}
	return errors.Join(append(entries.errs, doc.TakeErr())...)
}

// An entryReader reads the entries of a feed, so that an error in one does not
// lose the others.
type entryReader struct {
	page    *spider.Page
	out     *spider.Output
	process func(*spider.Page, spider.Results) spider.Results
	errs    []error // the first maxFieldErrors
}

func (r *entryReader) read(entry func(out *spider.Output) error) {
	results := r.out.Collect(entry)
	if r.process != nil {
		results = r.process(r.page, results)
	}
	if err := r.out.GiveAll(results); err != nil && len(r.errs) < maxFieldErrors {
		r.errs = append(r.errs, err)
	}
}
