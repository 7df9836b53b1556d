package handlers_test

import (
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/handlertest"
)

// TestPERF03NothingIsLeaked fetches a thousand of each kind that may forget a
// body, and counts what is left.
func TestPERF03NothingIsLeaked(t *testing.T) {
	const each, workers = 1000, 16
	answer := func(_ int, head string, conn net.Conn) bool {
		raw := ""
		switch path := strings.Fields(head)[1]; path {
		case "/redirect":
			raw = "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 5\r\n\r\nmoved"
		case "/maxsize":
			raw = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100000)
		case "/httperror":
			raw = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\noops"
		case "/decode_error":
			raw = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x00\x00"
		case "/timeout":
			io.Copy(io.Discard, conn)
			return false
		}
		_, err := io.WriteString(conn, raw)
		return err == nil
	}
	for _, test := range []struct {
		path, want string
		kept       bool // the connections are used again
	}{
		{"/redirect", "", true}, {"/httperror", "", true}, {"/decode_error", "", true}, {"/maxsize", "too-large", false}, {"/timeout", "timeout", false},
	} {
		t.Run(test.path[1:], func(t *testing.T) {
			server := handlertest.Serve(t, answer)
			h := newHandler(t, handlers.Options{})
			job := h.ForJob(with(t, map[string]any{"DOWNLOAD_MAXSIZE": 1000}))
			before := runtime.NumGoroutine()
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					for range each / workers {
						req := &crawl.Request{URL: server.URL + test.path}
						if test.path == "/timeout" {
							req.DownloadTimeout = 5 * time.Millisecond
						}
						if _, err := job.Fetch(t.Context(), req); reason(err) != test.want {
							t.Errorf("%v, want %q", err, test.want)
							return
						}
					}
				})
			}
			all.Wait()
			if n := server.Connections(); test.kept && n > 2*workers { // net/http may dial while one becomes free
				t.Errorf("%d connections were made for %d workers", n, workers)
			}
			h.Close()
			// Ends of connections take their time to be seen on both sides.
			for end := time.Now().Add(5 * time.Second); server.Open() > 0 || runtime.NumGoroutine() > before; {
				if time.Now().After(end) {
					t.Fatalf("%d connections are open, %d goroutines are there, %d before", server.Open(), runtime.NumGoroutine(), before)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
}

func BenchmarkFetch(b *testing.B) {
	server := handlertest.Serve(b, handlertest.Keeps("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2048\r\n\r\n"+strings.Repeat("x", 2048)))
	h := newHandler(b, handlers.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Fetch(b.Context(), &crawl.Request{URL: server.URL}); err != nil {
			b.Fatal(err)
		}
	}
}
