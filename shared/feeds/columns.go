package feeds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A columnMatch tells whether any item of a feed has any of the columns that
// the feed is to have, so that a file of empty rows is not taken for a success.
type columnMatch struct {
	columns []string // none: they are the items' own
	found   bool
	first   []string // the fields of the first item that has some
}

func (m *columnMatch) see(item crawl.Item) {
	if m.found || len(m.columns) == 0 {
		return
	}
	fields, err := item.Fields()
	if err != nil {
		return // the exporter has told it
	}
	for _, f := range fields {
		m.found = m.found || slices.Contains(m.columns, f.Name)
	}
	if m.first == nil {
		for _, f := range fields {
			m.first = append(m.first, f.Name)
		}
	}
}

// check refuses to append rows without a single value to a file whose columns
// are others. Fields that were asked for by name are had as asked, with a
// warning: an item that has none of them may be no mistake.
func (m *columnMatch) check(uri string, o Options) error {
	if m.found || m.first == nil {
		return nil
	}
	theirs, ours := strings.Join(m.columns, ","), strings.Join(m.first, ",")
	if o.header != nil {
		return fmt.Errorf("%s has the columns %s, and the items have none of them, but %s; append to another file, or overwrite this one (-O)",
			uri, theirs, ours)
	}
	o.warn("no item has any of the fields that FEED_EXPORT_FIELDS names", "feed", uri, "named", theirs, "fields", ours)
	return nil
}

// columns are those that the feed is to have whatever its items are; none if
// the items decide.
func (o Options) columns() []string {
	if o.header != nil {
		return o.header
	}
	return o.Fields
}
