package spider

import (
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
)

// FormRequest makes a request that sends a form of the page, with the fields
// it has and those of the options (Scrapy's FormRequest.from_response). The
// error says what of the options the page does not have.
func (p *Page) FormRequest(o extract.FormOptions) (*crawl.Request, error) {
	s, err := p.Document().Submit(o)
	if err != nil {
		return nil, err
	}
	r := &crawl.Request{URL: s.URL, Method: s.Method, Body: s.Body}
	if s.Encoding != "utf-8" {
		r.Encoding = s.Encoding
	}
	if s.ContentType != "" {
		r.SetHeader("Content-Type", s.ContentType)
	}
	return r, nil
}
