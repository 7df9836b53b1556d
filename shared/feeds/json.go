package feeds

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A jsonWriter encodes items into a buffer of its own, so that one which cannot
// be encoded leaves nothing behind.
type jsonWriter struct {
	w      io.Writer
	fields []string
	buf    bytes.Buffer
}

// encode puts the compact JSON of an item at the end of the buffer.
func (j *jsonWriter) encode(item crawl.Item) error {
	if len(j.fields) > 0 {
		var err error
		if item, err = selected(item, j.fields); err != nil {
			return &ItemError{err}
		}
	}
	raw, err := item.MarshalJSON()
	if err != nil {
		return &ItemError{err}
	}
	// It also checks what came as JSON already, and takes line breaks out.
	if err := json.Compact(&j.buf, raw); err != nil {
		return &ItemError{err}
	}
	return nil
}

func (j *jsonWriter) flush() error {
	_, err := j.w.Write(j.buf.Bytes())
	j.buf.Reset()
	return err
}

// selected is an item with those of the fields that it has.
func selected(item crawl.Item, fields []string) (crawl.Item, error) {
	var s crawl.Item
	if _, err := item.Fields(); err != nil {
		return s, err
	}
	for _, name := range fields {
		if v, found := item.Get(name); found {
			if err := s.Set(name, v); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// jsonLines writes an item a line.
type jsonLines struct{ jsonWriter }

func (j *jsonLines) Begin() error { return nil }

func (j *jsonLines) Item(item crawl.Item) error {
	j.buf.Reset()
	if err := j.encode(item); err != nil {
		return err
	}
	j.buf.WriteByte('\n')
	return j.flush()
}

func (j *jsonLines) End() error { return nil }

// jsonArray writes an array with an item a line, or indented.
type jsonArray struct {
	jsonWriter
	indent int
	begun  bool // an item stands there already
}

func (j *jsonArray) Begin() error {
	j.buf.WriteByte('[')
	return j.flush()
}

func (j *jsonArray) Item(item crawl.Item) error {
	j.buf.Reset()
	if err := j.encode(item); err != nil {
		return err
	}
	compact := bytes.Clone(j.buf.Bytes())
	j.buf.Reset()
	if j.begun {
		j.buf.WriteByte(',')
	}
	j.buf.WriteByte('\n')
	if j.indent <= 0 {
		j.buf.Write(compact)
	} else if err := json.Indent(&j.buf, compact, "", strings.Repeat(" ", j.indent)); err != nil {
		return &ItemError{err}
	}
	j.begun = true
	return j.flush()
}

func (j *jsonArray) End() error {
	if j.begun {
		j.buf.WriteByte('\n')
	}
	j.buf.WriteByte(']')
	return j.flush()
}
