package downloadermw_test

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/stats"
)

func TestBodiesAreUnpacked(t *testing.T) {
	half := func(s string) string { return s[:len(s)/2] }
	breakLast := func(s string) string { return s[:len(s)-5] + "wrong" }
	tests := []struct {
		name     string
		encoding string
		body     string
		want     string // the start of it, if it is cut
		flags    []string
		left     string // Content-Encoding
	}{
		{name: "gzip", encoding: "gzip", body: pack(t, page, "gzip"), want: page},
		{name: "gzip by its old name", encoding: "X-GZip", body: pack(t, page, "gzip"), want: page},
		{name: "gzip of several members", encoding: "gzip", body: pack(t, page, "gzip") + pack(t, page, "gzip"), want: page + page},
		{name: "gzip with bytes after its end", encoding: "gzip", body: pack(t, page, "gzip") + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", want: page},
		{name: "gzip with a wrong sum", encoding: "gzip", body: breakLast(pack(t, page, "gzip")), want: page},
		{name: "gzip that is cut", encoding: "gzip", body: half(pack(t, page, "gzip")), want: page[:100], flags: []string{"partial"}},
		{name: "deflate as it should be", encoding: "deflate", body: pack(t, page, "deflate"), want: page},
		{name: "deflate without header", encoding: "deflate", body: pack(t, page, "raw deflate"), want: page},
		{name: "deflate with bytes after its end", encoding: "deflate", body: pack(t, page, "deflate") + "trailing", want: page},
		{name: "deflate that is cut", encoding: "deflate", body: half(pack(t, page, "deflate")), want: page[:100], flags: []string{"partial"}},
		{name: "br", encoding: "br", body: pack(t, page, "br"), want: page},
		{name: "br with bytes after its end", encoding: "br", body: pack(t, page, "br") + "trailing", want: page},
		{name: "zstd", encoding: "zstd", body: pack(t, page, "zstd"), want: page},
		{name: "zstd of several frames", encoding: "zstd", body: pack(t, page, "zstd") + pack(t, page, "zstd"), want: page + page},
		{name: "zstd with the largest window", encoding: "zstd", body: zstdWindow(23), want: "hello"},
		{name: "several codings", encoding: "gzip, deflate,br", body: pack(t, page, "gzip", "deflate", "br"), want: page},
		{name: "as many as are borne", encoding: "gzip,gzip,gzip,gzip,gzip", body: pack(t, page, "gzip", "gzip", "gzip", "gzip", "gzip"), want: page},
		{name: "no coding, by name", encoding: "identity", body: page, want: page, left: "identity"},
		{name: "a coding that is not known", encoding: "lzma", body: "???", want: "???", left: "lzma"},
		{name: "one that is known on top of one that is not", encoding: "lzma, gzip", body: pack(t, "???", "gzip"), want: "???", left: "lzma"},
		{name: "one that is not known on top", encoding: "gzip, lzma", body: "???", want: "???", left: "gzip, lzma"},
		{name: "an empty body", encoding: "gzip"},
		{name: "a packed empty body", encoding: "gzip", body: pack(t, "", "gzip")},
		{name: "text that says gzip", encoding: "gzip", body: page, want: page, flags: []string{"not-encoded"}},
		{name: "text that says deflate", encoding: "deflate", body: page, want: page, flags: []string{"not-encoded"}},
		{name: "text that looks like zlib", encoding: "deflate", body: "hC is text", want: "hC is text", flags: []string{"not-encoded"}},
		{name: "text that says br", encoding: "br", body: page, want: page, flags: []string{"not-encoded"}},
		{name: "text that says zstd", encoding: "zstd", body: page, want: page, flags: []string{"not-encoded"}},
		{name: "text that says it is packed twice", encoding: "gzip, gzip", body: page, want: page, flags: []string{"not-encoded"}},
		{name: "short text that says gzip", encoding: "gzip", body: "no", want: "no", flags: []string{"not-encoded"}},
		{name: "text in Latin-1 that says gzip", encoding: "gzip", body: strings.Repeat("caf\xe9 ", 50), want: strings.Repeat("caf\xe9 ", 50), flags: []string{"not-encoded"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, err := unpack(t, nil, crawl.Request{}, test.encoding, test.body)
			if err != nil {
				t.Fatal(err)
			}
			body := string(resp.Body)
			if test.flags != nil && test.flags[0] == "partial" {
				body = body[:min(len(body), len(test.want))]
			}
			if body != test.want || !reflect.DeepEqual(resp.Flags, test.flags) {
				t.Errorf("%d bytes, flags %v; want %d bytes, flags %v", len(resp.Body), resp.Flags, len(test.want), test.flags)
			}
			if got := resp.Headers.Get("Content-Encoding"); got != test.left {
				t.Errorf("Content-Encoding %q is left, want %q", got, test.left)
			}
			if left := resp.Headers.Get("Content-Length") != ""; left != (test.left == test.encoding) {
				t.Errorf("Content-Length is left: %t", left)
			}
		})
	}
}

func TestBodiesThatCannotBeUnpackedAreFailures(t *testing.T) {
	large := map[string]any{"DOWNLOAD_MAXSIZE": 1000}
	noise := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff\xff\x01\x02\x03\x04\x05\x06\x07"
	tests := []struct {
		name     string
		settings map[string]any
		req      crawl.Request
		encoding string
		body     string
		want     string
	}{
		{name: "gzip that is broken from the start", encoding: "gzip", body: noise, want: "failure bad-encoding"},
		{name: "br that says gzip", encoding: "gzip", body: pack(t, page, "br"), want: "failure bad-encoding"},
		{name: "gzip that says deflate", encoding: "deflate", body: pack(t, page, "gzip"), want: "failure bad-encoding"},
		{name: "gzip that says br", encoding: "br", body: pack(t, page, "gzip"), want: "failure bad-encoding"},
		{name: "gzip that says zstd", encoding: "zstd", body: pack(t, page, "gzip"), want: "failure bad-encoding"},
		{name: "zstd that is cut in its first block", encoding: "zstd", body: pack(t, page, "zstd")[:40], want: "failure bad-encoding"},
		{name: "zstd with a window that is too large", encoding: "zstd", body: zstdWindow(24), want: "failure bad-encoding"},
		{name: "too many codings", encoding: "gzip,gzip,gzip,gzip,gzip,gzip", body: page, want: "failure bad-encoding"},
		{name: "gzip above the limit", settings: large, encoding: "gzip", body: pack(t, page, "gzip"), want: "failure too-large"},
		{name: "deflate above the limit", settings: large, encoding: "deflate", body: pack(t, page, "deflate"), want: "failure too-large"},
		{name: "raw deflate above the limit", settings: large, encoding: "deflate", body: pack(t, page, "raw deflate"), want: "failure too-large"},
		{name: "br above the limit", settings: large, encoding: "br", body: pack(t, page, "br"), want: "failure too-large"},
		{name: "zstd above the limit", settings: large, encoding: "zstd", body: pack(t, page, "zstd"), want: "failure too-large"},
		{name: "the inner of two above the limit", settings: large, encoding: "gzip, gzip", body: pack(t, page, "gzip", "gzip"), want: "failure too-large"},
		{name: "above the request's own limit", req: crawl.Request{Options: crawl.Options{DownloadMaxsize: 10}}, encoding: "gzip",
			body: pack(t, page, "gzip"), want: "failure too-large"},
		{name: "above the job's but not the request's limit", settings: large, req: crawl.Request{Options: crawl.Options{DownloadMaxsize: -1}},
			encoding: "gzip", body: pack(t, page, "gzip"), want: "response " + page},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, err := unpack(t, test.settings, test.req, test.encoding, test.body)
			if got := outcome(resp, err); got != test.want {
				t.Errorf("got %.100s, want %.100s", got, test.want)
			}
			var failure *crawl.Failure
			if errors.As(err, &failure) && (failure.Request == nil || failure.Message == "") {
				t.Errorf("failure %+v", failure)
			}
		})
	}
}

func TestDecodersAreSharedByManyAtOnce(t *testing.T) {
	var decoders downloadermw.Decoders
	var all sync.WaitGroup
	for n := range 8 {
		coding := []string{"gzip", "deflate", "br", "zstd"}[n%4]
		body := page[:5000*(n+1)]
		h := downloadermw.HTTPCompression(with(t, nil), new(stats.Collector), noLog(), &decoders)(
			answer(200, http.Header{"Content-Encoding": {coding}}, pack(t, body, coding)))
		broken := downloadermw.HTTPCompression(with(t, nil), new(stats.Collector), noLog(), &decoders)(
			answer(200, http.Header{"Content-Encoding": {coding}}, pack(t, body, coding)[:30]))
		all.Go(func() {
			for range 20 {
				broken.Fetch(t.Context(), &crawl.Request{}) // leaves a decoder in a bad state
				if got := outcome(h.Fetch(t.Context(), &crawl.Request{})); got != "response "+body {
					t.Errorf("%s: got %.100s", coding, got)
				}
			}
		})
	}
	all.Wait()
}
