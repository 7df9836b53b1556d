package legs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

const nameCSVFeed = "csv_feed"

// CSVFeed reads the rows of CSV files: Scrapy's CSVFeedSpider as a leg. A row is
// read by ParseRow, or makes an item of its columns.
//
// A row that has more or fewer fields than there are headers, or a quote that
// never closes, is left out, logged and counted as leg/NAME/bad_row_count; the
// others are read. So are they where ParseRow fails for one: the page fails with
// the first errors once all are read.
//
// Pages are passed over that are HTML, XML or JSON, by their Content-Type or
// the ending of their address.
type CSVFeed struct {
	// Name is the leg's name, unique in its spider.
	//
	// Default: csv_feed.
	Name string `json:"name,omitempty"`

	// Delimiter is the character between fields, such as ; or a tab (\t).
	//
	// Default: a comma.
	Delimiter string `json:"delimiter,omitempty"`

	// Quotechar is the character round fields that have delimiters or line
	// ends in them. Twice within such a field it stands for itself.
	//
	// Default: a double quote.
	Quotechar string `json:"quotechar,omitempty"`

	// Headers are the names of the columns, for files without a header line.
	//
	// Default: the first row.
	Headers []string `json:"headers,omitempty"`

	// Encoding is the file's encoding, as a WHATWG label.
	//
	// Default: found as that of a page is, see extract.DetectEncoding.
	Encoding string `json:"encoding,omitempty"`

	// Fields are the item's fields by name, each with the header of its
	// column.
	//
	// Default: a field for each column, with its header as its name.
	Fields map[string]string `json:"fields,omitempty"`

	// Only says which pages are read.
	Only Only `json:"only,omitzero"`

	// AdaptResponse gives the body to read in place of the page's own; nil
	// reads nothing.
	AdaptResponse func(page *spider.Page) ([]byte, error) `json:"-"`

	// ParseRow reads a row, whose fields it has by their headers. It takes the
	// place of fields.
	ParseRow func(ctx context.Context, page *spider.Page, row map[string]string, out *spider.Output) error `json:"-"`

	// ProcessResults changes what came of a row, or leaves some of it out.
	ProcessResults func(page *spider.Page, results spider.Results) spider.Results `json:"-"`
}

// Leg makes the leg.
func (o CSVFeed) Leg() spider.Leg {
	name := nameOr(o.Name, nameCSVFeed)
	return spider.Leg{Name: name, SetSpider: func(top *spider.Spider) (spider.Leg, error) {
		var m mistakes
		l := &csvFeed{CSVFeed: o, name: name}
		l.delimiter = character("delimiter", nameOr(o.Delimiter, ","), &m)
		l.quote = character("quotechar", nameOr(o.Quotechar, `"`), &m)
		if l.delimiter == l.quote {
			m.add("quotechar", errors.New("it is the delimiter, too"))
		}
		if o.Encoding != "" {
			if _, err := htmlindex.Get(o.Encoding); err != nil {
				m.add("encoding", fmt.Errorf("%q is none of the labels of the Encoding Standard, such as utf-8 and windows-1252", o.Encoding))
			}
			l.contentType = "text/csv; charset=" + o.Encoding
		}
		for _, field := range slices.Sorted(maps.Keys(o.Fields)) {
			if header := o.Fields[field]; len(o.Headers) > 0 && !slices.Contains(o.Headers, header) {
				m.add("fields."+field, fmt.Errorf("there is no column %q; there are %s", header, strings.Join(o.Headers, ", ")))
			}
		}
		wanted := o.Only.compile(top, &m)
		return spider.Leg{Name: name, ProcessResponse: func(ctx context.Context, page *spider.Page, out *spider.Output) error {
			if !wanted(page) {
				return nil
			}
			return l.read(ctx, page, out)
		}}, m.err()
	}}
}

// character reads an option that is one character.
func character(option, text string, m *mistakes) rune {
	if text == `\t` {
		return '\t'
	}
	c, size := utf8.DecodeRuneInString(text)
	if size != len(text) || c == '\n' || c == '\r' || c == utf8.RuneError {
		m.add(option, fmt.Errorf("%q is not one character", text))
	}
	return c
}

// A csvFeed is a CSVFeed that is bound to its spider.
type csvFeed struct {
	CSVFeed
	name             string
	delimiter, quote rune
	contentType      string // says the encoding; "" for the page's own
}

func (l *csvFeed) read(ctx context.Context, page *spider.Page, out *spider.Output) error {
	body := page.Body
	switch {
	case l.AdaptResponse != nil:
		var err error
		if body, err = l.AdaptResponse(page); err != nil || body == nil {
			return err
		}
	case !isCSV(page):
		return nil
	}
	doc := extract.NewDocument(body, nameOr(l.contentType, page.Headers.Get("Content-Type")), page.Response.URL)
	rows := csvRows{rest: doc.UTF8(), delimiter: l.delimiter, quote: l.quote, line: 1, vain: max(leastVain, 2*len(doc.UTF8()))}
	bad := badRows{leg: l.name, page: page, out: out}
	defer bad.count()
	headers := l.Headers
	for len(headers) == 0 {
		fields, line, ok := rows.next()
		if fields == nil {
			return nil // nothing is there
		}
		if !ok {
			bad.add(line, "a quote in it never closes")
			continue
		}
		headers = fields
	}
	columns, err := l.columns(headers)
	if err != nil {
		return err
	}
	entries := entryReader{page: page, out: out, process: l.ProcessResults}
	for !out.Stopped() {
		fields, line, ok := rows.next()
		switch {
		case fields == nil:
			return errors.Join(entries.errs...)
		case !ok:
			bad.add(line, "a quote in it never closes")
		case len(fields) != len(headers):
			bad.add(line, fmt.Sprintf("it has %d fields, the header has %d", len(fields), len(headers)))
		default:
			entries.read(func(out *spider.Output) error { return l.row(ctx, page, columns, fields, out) })
		}
	}
	return errors.Join(entries.errs...)
}

// csvColumns are the columns of a file.
type csvColumns struct {
	headers []string
	fields  []csvColumn // of the item
}

type csvColumn struct {
	name   string
	number int
}

// columns finds the columns of the item's fields, once for all rows. Of two
// columns of one name the last one counts, as in Python's DictReader.
func (l *csvFeed) columns(headers []string) (csvColumns, error) {
	c := csvColumns{headers: headers}
	last := make(map[string]int, len(headers))
	for i, header := range headers {
		last[header] = i
	}
	if len(l.Fields) == 0 {
		placed := make(map[string]bool, len(headers))
		for _, header := range headers {
			if !placed[header] {
				placed[header] = true
				c.fields = append(c.fields, csvColumn{header, last[header]})
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(l.Fields)) {
		number, found := last[l.Fields[field]]
		if !found && l.ParseRow == nil {
			return c, fmt.Errorf("field %s: the file has no column %q; it has %q", field, l.Fields[field], headers[:min(len(headers), maxListed)])
		}
		c.fields = append(c.fields, csvColumn{field, number})
	}
	return c, nil
}

// row reads one row that is good.
func (l *csvFeed) row(ctx context.Context, page *spider.Page, columns csvColumns, fields []string, out *spider.Output) error {
	if l.ParseRow != nil {
		row := make(map[string]string, len(fields))
		for i, header := range columns.headers {
			row[header] = fields[i]
		}
		return l.ParseRow(ctx, page, row, out)
	}
	item := make(object, len(columns.fields))
	for i, c := range columns.fields {
		item[i] = member{c.name, fields[c.number]}
	}
	out.Item(item)
	return nil
}

// badRows tells of rows that are left out: the first ones by name, all of them
// by number.
type badRows struct {
	leg  string
	page *spider.Page
	out  *spider.Output
	n    int
}

// maxLoggedRows bounds what is logged of a file that is none.
const maxLoggedRows = 10

func (b *badRows) add(line int, why string) {
	if b.n++; b.n <= maxLoggedRows {
		b.page.Log.Warn("a row is left out", "leg", b.leg, "line", line, "why", why)
	}
}

func (b *badRows) count() {
	if b.n > maxLoggedRows {
		b.page.Log.Warn("more rows are left out", "leg", b.leg, "rows", b.n-maxLoggedRows)
	}
	if b.n > 0 {
		b.out.Count("leg/"+b.leg+"/bad_row_count", b.n)
	}
}

// isCSV reports whether a page may be CSV: what its type says, and else what its
// address says, unless it is something else.
func isCSV(page *spider.Page) bool {
	if hasType(page, "text/csv", "text/x-csv", "application/csv", "application/x-csv", "text/comma-separated-values", "text/tab-separated-values", "application/vnd.ms-excel") {
		return true
	}
	if u, err := weburl.Parse(page.Response.URL); err == nil {
		switch strings.ToLower(path.Ext(u.Path())) {
		case ".csv", ".tsv", ".tab":
			return true
		}
	}
	return hasType(page, "", "text/plain", "application/octet-stream", "binary/octet-stream", "application/force-download") &&
		!isHTML(page) && !isRobots(page) && !looksLikeMarkup(page.Body)
}

// looksLikeMarkup reports whether a body begins like XML or JSON.
func looksLikeMarkup(body []byte) bool {
	head := strings.TrimLeft(string(body[:min(len(body), sniffed)]), " \t\r\n\ufeff")
	return head != "" && strings.ContainsAny(head[:1], "<{[")
}
