package legs

import (
	"bytes"
	"strings"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
)

// A query is a Selector that is compiled.
type query struct {
	*extract.Query
	json bool // it reads JSON alone
}

// selector compiles a selector; that of none is nil.
func (m *mistakes) selector(option string, s Selector) *query {
	q, err := s.Compile()
	m.add(option, err)
	if q == nil {
		return nil
	}
	return &query{q, s.JMESPath != "" || s.JSONPath != ""}
}

// A scope is what is selected from: a page, or a part of it.
type scope interface {
	Select(q *extract.Query) extract.Selection
}

// in selects. A JSON path finds nothing on a page that is no JSON: legs read
// the pages of a crawl whatever they are.
func (q *query) in(s scope) extract.Selection {
	if page, whole := s.(*spider.Page); whole && q.json && !isJSON(page) {
		return extract.Selection{}
	}
	return s.Select(q.Query)
}

// isJSON reports whether a page says that it is JSON, or begins like it.
func isJSON(page *spider.Page) bool {
	if strings.Contains(strings.ToLower(page.Headers.Get("Content-Type")), "json") {
		return true
	}
	body := bytes.TrimLeft(bytes.TrimPrefix(page.Body, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(body) > 0 && (body[0] == '{' || body[0] == '[')
}
