package downloadermw_test

import (
	"context"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
)

func TestHeadersAreFilledInWhereTheyAreMissing(t *testing.T) {
	s := with(t, map[string]any{
		"DEFAULT_REQUEST_HEADERS": map[string]any{"Accept": "*/*", "X-A": []any{"1", "2"}},
		"USER_AGENT":              "skitter",
	})
	tests := []struct {
		name        string
		given, want http.Header
	}{
		{"none are there", nil, http.Header{"Accept": {"*/*"}, "X-A": {"1", "2"}, "User-Agent": {"skitter"}}},
		{"the request's own win", http.Header{"Accept": {"text/html"}, "User-Agent": {"me"}},
			http.Header{"Accept": {"text/html"}, "X-A": {"1", "2"}, "User-Agent": {"me"}}},
		{"one is left out on purpose", http.Header{"X-A": nil, "User-Agent": nil},
			http.Header{"Accept": {"*/*"}, "X-A": nil, "User-Agent": nil}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := &crawl.Request{Headers: test.given}
			h := downloader.Chain(answer(200, nil, ""), downloadermw.DefaultHeaders(s), downloadermw.UserAgent(s, "job"))
			if _, err := h.Fetch(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(req.Headers, test.want) {
				t.Errorf("sent %v, want %v", req.Headers, test.want)
			}
		})
	}
}

func TestRequestsDoNotShareTheirHeaders(t *testing.T) {
	h := downloadermw.DefaultHeaders(with(t, map[string]any{"DEFAULT_REQUEST_HEADERS": map[string]any{"X-A": []any{"1", "2", "3"}}}))(answer(200, nil, ""))
	var first, second crawl.Request
	for _, req := range []*crawl.Request{&first, &second} {
		if _, err := h.Fetch(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	first.Headers.Add("X-A", "first")
	second.Headers.Add("X-A", "second")
	if got := first.Headers["X-A"][3]; got != "first" {
		t.Errorf("the first request got the %s one's header", got)
	}
}

func TestNoUserAgentIsSentWhereNoneIsSet(t *testing.T) {
	req := &crawl.Request{}
	h := downloadermw.UserAgent(with(t, map[string]any{"USER_AGENT": ""}), "job")(answer(200, nil, ""))
	if _, err := h.Fetch(t.Context(), req); err != nil || len(req.Headers) != 0 {
		t.Errorf("headers %v, error %v", req.Headers, err)
	}
}

func TestDownloadTimeout(t *testing.T) {
	var got time.Duration
	h := downloadermw.DownloadTimeout(with(t, map[string]any{"DOWNLOAD_TIMEOUT": 7}))(downloader.HandlerFunc(
		func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
			got = req.DownloadTimeout
			return &crawl.Response{Request: req}, nil
		}))
	for own, want := range map[time.Duration]time.Duration{0: 7 * time.Second, time.Second: time.Second} {
		if _, err := h.Fetch(t.Context(), &crawl.Request{Options: crawl.Options{DownloadTimeout: own}}); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("a request's own %s became %s, want %s", own, got, want)
		}
	}
}
