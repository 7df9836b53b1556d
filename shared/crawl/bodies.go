package crawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/skitterhq/skitter/shared/weburl"
)

// NewFormRequest returns a POST of form values in UTF-8, sorted by name
// (Scrapy's FormRequest). A form on a page, with the fields it has already, is
// sent by the page's FormRequest.
func NewFormRequest(url string, values url.Values) *Request {
	r := &Request{URL: url, Method: http.MethodPost, Body: []byte(values.Encode())}
	r.SetHeader("Content-Type", "application/x-www-form-urlencoded")
	return r
}

// NewJSONRequest returns a POST of v as JSON, and a GET without a body if v is
// nil (Scrapy's JsonRequest). The error says what of v has no JSON.
func NewJSONRequest(url string, v any) (*Request, error) {
	r := &Request{URL: url}
	r.SetHeader("Content-Type", "application/json")
	r.SetHeader("Accept", "application/json, text/javascript, */*; q=0.01")
	if v == nil {
		return r, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // no browser takes the body for a page
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("json request to %s: %w", weburl.Shown(url), err)
	}
	r.Method, r.Body = http.MethodPost, bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return r, nil
}
