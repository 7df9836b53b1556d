package feeds

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A csvExporter writes CSV as Scrapy and Python do (RFC 4180): lines end in
// CRLF, and a cell is quoted where it must be, its own line breaks unchanged.
// Package encoding/csv would make CRLF of those.
type csvExporter struct {
	w       io.Writer
	options Options
	columns []string // nil until the first item
	titled  bool     // the header line is there
	warned  bool
	buf     []byte
}

func newCSV(w io.Writer, o Options) (*csvExporter, error) {
	if o.header == nil {
		return &csvExporter{w: w, options: o, columns: o.Fields}, nil
	}
	if len(o.Fields) > 0 && !slices.Equal(o.Fields, o.header) {
		return nil, fmt.Errorf("the file has the columns %s, and FEED_EXPORT_FIELDS says %s",
			strings.Join(o.header, ","), strings.Join(o.Fields, ","))
	}
	return &csvExporter{w: w, options: o, columns: o.header, titled: true}, nil
}

// longestHeader is how many bytes of a file are searched for its first line.
const longestHeader = 1 << 20

// columnsOf returns the columns of a CSV file.
func columnsOf(f *os.File) ([]string, error) {
	columns, err := csv.NewReader(io.LimitReader(f, longestHeader)).Read()
	if err != nil {
		return nil, fmt.Errorf("%s: its first line has no columns to go on with: %w", f.Name(), err)
	}
	columns[0] = strings.TrimPrefix(columns[0], "\ufeff")
	return columns, nil
}

func (c *csvExporter) Begin() error { return nil }

func (c *csvExporter) Item(item crawl.Item) error {
	fields, err := item.Fields()
	if err != nil {
		return &ItemError{err}
	}
	columns := c.columns
	if len(columns) == 0 {
		for _, f := range fields {
			columns = append(columns, f.Name)
		}
	}
	if len(columns) == 0 {
		return &ItemError{errors.New("it has no fields, so there are no columns yet")}
	}
	c.buf = c.buf[:0]
	if !c.titled {
		c.title(columns)
	}
	if err := c.row(columns, fields); err != nil {
		return &ItemError{err}
	}
	if _, err := c.w.Write(c.buf); err != nil {
		return err
	}
	if len(c.options.Fields) == 0 {
		c.tellDropped(columns, fields)
	}
	c.columns, c.titled = columns, true
	return nil
}

func (c *csvExporter) End() error { return nil }

func (c *csvExporter) title(columns []string) {
	for i, name := range columns {
		c.cell(i, len(columns), c.guarded(name))
	}
	c.buf = append(c.buf, '\r', '\n')
}

func (c *csvExporter) row(columns []string, fields []crawl.Field) error {
	for i, name := range columns {
		var value any
		if at := slices.IndexFunc(fields, func(f crawl.Field) bool { return f.Name == name }); at >= 0 {
			value = fields[at].Value
		}
		text, isText, err := cellText(value)
		if err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		if isText {
			text = c.guarded(text)
		}
		c.cell(i, len(columns), text)
	}
	c.buf = append(c.buf, '\r', '\n')
	return nil
}

// tellDropped counts fields that have no column, and warns of the first.
func (c *csvExporter) tellDropped(columns []string, fields []crawl.Field) {
	var dropped []string
	for _, f := range fields {
		if !slices.Contains(columns, f.Name) {
			dropped = append(dropped, f.Name)
			c.options.count("feedexport/field_dropped_count")
		}
	}
	if len(dropped) > 0 && !c.warned {
		c.warned = true
		why := "fields left out of the CSV, whose columns are those of its first item; FEED_EXPORT_FIELDS names others"
		if c.options.header != nil {
			why = "fields left out of the CSV, which has no columns for them; append to another file to have them"
		}
		c.options.warn(why, "fields", strings.Join(dropped, ","), "columns", strings.Join(columns, ","))
	}
}

// cell appends a cell. As in Python, a line of one empty cell is "", as it
// would be an empty line otherwise.
func (c *csvExporter) cell(i, of int, text string) {
	if i > 0 {
		c.buf = append(c.buf, ',')
	}
	if !strings.ContainsAny(text, ",\"\r\n") && !(text == "" && of == 1) {
		c.buf = append(c.buf, text...)
		return
	}
	c.buf = append(c.buf, '"')
	for _, b := range []byte(text) {
		if b == '"' {
			c.buf = append(c.buf, '"')
		}
		c.buf = append(c.buf, b)
	}
	c.buf = append(c.buf, '"')
}

func (c *csvExporter) guarded(text string) string {
	if c.options.GuardFormulas && text != "" && strings.IndexByte("=+-@\t\r", text[0]) >= 0 {
		return "'" + text
	}
	return text
}

// cellText is a value in a cell, and whether it is a text and no number: lists
// of plain values joined by commas, nested values as JSON, null as nothing.
func cellText(v any) (text string, isText bool, err error) {
	switch v := v.(type) {
	case nil:
		return "", false, nil
	case string:
		return v, true, nil
	case json.Number:
		return v.String(), false, nil
	case []any:
		return joined(v)
	}
	raw, err := encodeJSON(v)
	if err != nil {
		return "", false, err
	}
	if strings.HasPrefix(raw, "{") {
		return raw, true, nil
	}
	if !strings.HasPrefix(raw, "[") && !strings.HasPrefix(raw, `"`) {
		return raw, false, nil // a number or a boolean
	}
	// A Go value that is a list or a text in JSON: a []string, a time.
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var plain any
	if err := dec.Decode(&plain); err != nil {
		return "", false, err
	}
	return cellText(plain)
}

func joined(list []any) (string, bool, error) {
	texts := make([]string, len(list))
	for i, v := range list {
		if nested(v) {
			raw, err := encodeJSON(list)
			return raw, true, err
		}
		var err error
		if texts[i], _, err = cellText(v); err != nil {
			return "", false, err
		}
	}
	return strings.Join(texts, ","), true, nil
}

func nested(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

func encodeJSON(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read these cells
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
