package lambdahost

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// call hands a call of the function URL to the API.
func (h *Host) call(ctx context.Context, payload []byte) (events.LambdaFunctionURLResponse, error) {
	var ev events.LambdaFunctionURLRequest
	if err := json.Unmarshal(payload, &ev); err != nil {
		return events.LambdaFunctionURLResponse{}, fmt.Errorf("call of the function URL: %w", err)
	}
	req, err := requestOf(ctx, ev)
	if err != nil {
		return events.LambdaFunctionURLResponse{StatusCode: http.StatusBadRequest, Body: err.Error() + "\n"}, nil
	}
	w := recorder{status: http.StatusOK, header: make(http.Header)}
	h.Control.API.ServeHTTP(&w, req)
	return w.answer(), nil
}

// requestOf is the HTTP request that an event tells of.
func requestOf(ctx context.Context, ev events.LambdaFunctionURLRequest) (*http.Request, error) {
	body := []byte(ev.Body)
	if ev.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(ev.Body); err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
	}
	u := url.URL{Scheme: "https", Host: ev.RequestContext.DomainName, RawQuery: ev.RawQueryString}
	var err error
	if u.Path, err = url.PathUnescape(ev.RawPath); err != nil {
		return nil, fmt.Errorf("path: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, ev.RequestContext.HTTP.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range ev.Headers {
		req.Header.Set(name, value)
	}
	req.RequestURI, req.RemoteAddr = ev.RawPath, ev.RequestContext.HTTP.SourceIP
	return req, nil
}

// A recorder keeps an answer: a function URL sends whole ones.
type recorder struct {
	status int
	header http.Header
	wrote  bool
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if !r.wrote {
		r.status, r.wrote = status, true
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.wrote = true
	return r.body.Write(b)
}

func (r *recorder) answer() events.LambdaFunctionURLResponse {
	out := events.LambdaFunctionURLResponse{StatusCode: r.status, Headers: make(map[string]string, len(r.header))}
	for name := range r.header {
		if name == "Set-Cookie" {
			out.Cookies = r.header.Values(name)
			continue
		}
		out.Headers[name] = r.header.Get(name)
	}
	if body := r.body.Bytes(); utf8.Valid(body) {
		out.Body = string(body)
	} else {
		out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return out
}
