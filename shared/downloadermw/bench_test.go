package downloadermw_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/origins"
	"github.com/skitterhq/skitter/shared/stats"
)

// A cannedWeb answers every request with the same page, in no time.
type cannedWeb struct {
	body    []byte
	headers http.Header
	chunked bool
}

func (w *cannedWeb) RoundTrip(req *http.Request) (*http.Response, error) {
	resp := &http.Response{
		StatusCode: 200, Header: w.headers.Clone(), Body: io.NopCloser(bytes.NewReader(w.body)), ContentLength: int64(len(w.body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if w.chunked {
		resp.ContentLength, resp.TransferEncoding = -1, []string{"chunked"}
	}
	return resp, nil
}

// BenchmarkChain is what a page costs in the downloader, without the network.
func BenchmarkChain(b *testing.B) {
	text := page + page[:128<<10-len(page)] // 128 KiB
	for _, test := range []struct {
		name    string
		coding  string
		chunked bool
	}{
		{"small", "", false}, {"plain", "", false}, {"plain, chunked", "", true},
		{"gzip", "gzip", true}, {"deflate", "deflate", true}, {"br", "br", true}, {"zstd", "zstd", true},
	} {
		b.Run(test.name, func(b *testing.B) {
			text := text
			if test.name == "small" {
				text = text[:1<<10]
			}
			web := &cannedWeb{body: []byte(text), headers: http.Header{"Content-Type": {"text/html"}}, chunked: test.chunked}
			if test.coding != "" {
				web.body = []byte(pack(b, text, test.coding))
				web.headers.Set("Content-Encoding", test.coding)
			}
			h := benchChain(b, web)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				resp, err := h.Fetch(b.Context(), &crawl.Request{URL: "http://example.com/a/page.html?id=1"})
				if err != nil || len(resp.Body) != len(text) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHandler is the handler's part of it.
func BenchmarkHandler(b *testing.B) {
	web, err := handlers.HTTP(handlers.Options{RoundTripper: &cannedWeb{body: []byte("hello"), headers: http.Header{}}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := web.Fetch(b.Context(), &crawl.Request{URL: "http://example.com/a/page.html?id=1"}); err != nil {
			b.Fatal(err)
		}
	}
}

func benchChain(b *testing.B, web http.RoundTripper) downloader.Handler {
	s, st, log := with(b, nil), new(stats.Collector), noLog()
	handler, err := handlers.HTTP(handlers.Options{RoundTripper: web})
	if err != nil {
		b.Fatal(err)
	}
	store := &fakeStore{now: time.Now, rows: map[string]origins.Row{
		"http://example.com": {Status: 200, Body: []byte(noPrivate), Expires: time.Now().Add(time.Hour)},
	}}
	offsite, err := downloadermw.Offsite([]string{"example.com"}, st, log)
	if err != nil {
		b.Fatal(err)
	}
	return downloader.Chain(handler.ForJob(s),
		offsite,
		downloadermw.Retry(s, st, log, time.Now),
		downloadermw.NewRobots(store, time.Now).Middleware(s, st, log),
		downloadermw.DownloadTimeout(s),
		downloadermw.DefaultHeaders(s),
		downloadermw.UserAgent(s, "job"),
		downloadermw.HTTPCompression(s, st, log, nil),
		downloadermw.Redirect(s, downloadermw.RedirectOptions{}, log),
		downloadermw.DownloaderStats(s, st),
	)
}
