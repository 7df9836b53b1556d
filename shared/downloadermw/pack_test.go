package downloadermw_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/stats"
)

// pack applies codings to a body, the first one first.
func pack(t testing.TB, body string, codings ...string) string {
	t.Helper()
	for _, coding := range codings {
		var b bytes.Buffer
		w := packer(t, coding, &b)
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		body = b.String()
	}
	return body
}

type writeCloser interface {
	Write([]byte) (int, error)
	Close() error
}

func packer(t testing.TB, coding string, b *bytes.Buffer) writeCloser {
	switch coding {
	case "gzip":
		return gzip.NewWriter(b)
	case "deflate":
		return zlib.NewWriter(b)
	case "raw deflate":
		w, err := flate.NewWriter(b, 6)
		if err != nil {
			t.Fatal(err)
		}
		return w
	case "br":
		return brotli.NewWriterLevel(b, 5)
	case "zstd":
		w, err := zstd.NewWriter(b, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	t.Fatalf("no writer of %s", coding)
	return nil
}

// zstdWindow is "hello" in a frame that asks for a window of 2^log bytes.
func zstdWindow(log byte) string {
	return "\x28\xb5\x2f\xfd\x00" + string(rune((log-10)<<3)) + "\x29\x00\x00hello"
}

// unpack sends a request through HTTPCompression to a server with a body.
func unpack(t testing.TB, settings map[string]any, req crawl.Request, encoding, body string) (*crawl.Response, error) {
	req.URL = "http://example.com/"
	headers := http.Header{"Content-Encoding": {encoding}, "Content-Length": {"99"}, "Content-Type": {"text/html"}}
	h := downloadermw.HTTPCompression(with(t, settings), new(stats.Collector), noLog(), nil)(answer(200, headers, body))
	return h.Fetch(t.Context(), &req)
}

// page is as long as a page, and no line of it is like another.
var page = func() string {
	var b strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&b, "<p>Page %d is <b>packed</b> to go faster, and unpacked to be read %x times.</p>\n", n, n*n*2654435761)
	}
	return b.String()
}()
