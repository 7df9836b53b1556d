package handlers_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/handlertest"
)

func TestBodies(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 100<<10) // 1.6 MiB, more than is trusted
	const keep = "HTTP/1.1 200 OK\r\n"
	tests := []struct {
		name     string
		raw      string
		req      crawl.Request
		settings map[string]any
		want     string
		flags    []string
	}{
		{name: "with its length", raw: keep + "Content-Length: 5\r\n\r\nhello", want: "hello"},
		{name: "empty", raw: keep + "Content-Length: 0\r\n\r\n"},
		{name: "large, with its length", raw: keep + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(large)) + large, want: large},
		{name: "in chunks", raw: keep + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", want: "hello"},
		{name: "large, in a chunk", raw: keep + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", len(large)) + large + "\r\n0\r\n\r\n", want: large},
		{name: "without length", raw: keep + "\r\nhello", want: "hello", flags: []string{"partial"}},
		{name: "of HTTP/1.0", raw: "HTTP/1.0 200 OK\r\n\r\nhello", want: "hello", flags: []string{"partial"}},
		{name: "more than announced", raw: keep + "Content-Length: 2\r\n\r\nhello", want: "he"},
		{name: "of no content", raw: "HTTP/1.1 204 No Content\r\n\r\n"},
		{name: "of a HEAD that announces more than the limit", req: crawl.Request{Method: "HEAD"},
			raw: keep + "Content-Length: 99999999999\r\n\r\n"},
		{name: "of a HEAD without length", req: crawl.Request{Method: "HEAD"}, raw: keep + "Connection: close\r\n\r\n"},
		{name: "as large as the limit", settings: map[string]any{"DOWNLOAD_MAXSIZE": 5}, raw: keep + "Content-Length: 5\r\n\r\nhello", want: "hello"},
		{name: "without limit in the settings", settings: map[string]any{"DOWNLOAD_MAXSIZE": 0}, raw: keep + "Content-Length: 5\r\n\r\nhello", want: "hello"},
		{name: "without limit in the request", settings: map[string]any{"DOWNLOAD_MAXSIZE": 3},
			req: crawl.Request{Options: crawl.Options{DownloadMaxsize: -1}}, raw: keep + "Content-Length: 5\r\n\r\nhello", want: "hello"},
		{name: "too short, where that is borne", settings: map[string]any{"DOWNLOAD_FAIL_ON_DATALOSS": false},
			raw: keep + "Content-Length: 10\r\n\r\nhi", want: "hi", flags: []string{"dataloss"}},
		{name: "chunks without end, where that is borne", settings: map[string]any{"DOWNLOAD_FAIL_ON_DATALOSS": false},
			raw: keep + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", want: "hi", flags: []string{"dataloss"}},
		{name: "of a status of one's own", raw: "HTTP/1.1 999 Denied\r\nContent-Length: 2\r\n\r\nno", want: "no"},
		{name: "of a redirect with a bad address", raw: "HTTP/1.1 302 Found\r\nLocation: http://[/\r\nContent-Length: 1\r\n\r\nx", want: "x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.req.URL = handlertest.Serve(t, handlertest.Sends(test.raw)).URL
			h := newHandler(t, handlers.Options{}).ForJob(with(t, test.settings))
			resp, err := h.Fetch(t.Context(), &test.req)
			if err != nil {
				t.Fatal(err)
			}
			if string(resp.Body) != test.want || !reflect.DeepEqual(resp.Flags, test.flags) {
				t.Errorf("body of %d bytes, flags %v; want %d bytes, flags %v", len(resp.Body), resp.Flags, len(test.want), test.flags)
			}
		})
	}
}

func TestABodyWithoutLengthThatIsCutIsPartial(t *testing.T) {
	server := handlertest.Serve(t, func(_ int, _ string, conn net.Conn) bool {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\nhello")
		conn.(*net.TCPConn).SetLinger(0) // a reset instead of an end
		return false
	})
	resp, err := newHandler(t, handlers.Options{}).Fetch(t.Context(), &crawl.Request{URL: server.URL})
	if reason(err) == "reset" {
		t.Skip("the reset overtook the headers")
	}
	if err != nil || !resp.HasFlag(crawl.FlagPartial) {
		t.Errorf("got %+v, %v, want the flag partial", resp, err)
	}
}

// Two bodies that were read one after the other share a buffer for a while.
func TestBodiesDoNotShareMemory(t *testing.T) {
	server := handlertest.Serve(t, func(n int, _ string, conn net.Conn) bool {
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\npage%d\r\n0\r\n\r\n", n)
		return true
	})
	h := newHandler(t, handlers.Options{})
	var bodies [][]byte
	for range 5 {
		resp, err := h.Fetch(t.Context(), &crawl.Request{URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, resp.Body)
	}
	for n, body := range bodies {
		if want := fmt.Sprintf("page%d", n); string(body) != want {
			t.Errorf("body %d became %q", n, body)
		}
	}
}

func TestALargeBodyIsWarnedOf(t *testing.T) {
	var logged bytes.Buffer
	h := newHandler(t, handlers.Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	job := h.ForJob(with(t, map[string]any{"DOWNLOAD_WARNSIZE": 4}))
	for _, body := range []string{"four", "fives"} {
		server := handlertest.Serve(t, handlertest.Sends("HTTP/1.1 200 OK\r\n\r\n"+body))
		if _, err := job.Fetch(t.Context(), &crawl.Request{URL: strings.Replace(server.URL, "//", "//u:secret@", 1)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := logged.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "bytes=5") || strings.Contains(got, "secret") {
		t.Errorf("logged %q", got)
	}
}

// Each early way out gives its connection back or closes it: a host's 8
// connections would be used up by the ninth that does not.
func TestNoConnectionIsLeaked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			w.Write(make([]byte, 100<<10))
		case "/redirect":
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusFound)
		case "/slow":
			<-r.Context().Done()
		case "/short":
			w.Header().Set("Content-Length", "10")
			w.Write([]byte("hi"))
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	h := newHandler(t, handlers.Options{ConnsPerHost: 8})
	job := h.ForJob(with(t, map[string]any{"DOWNLOAD_MAXSIZE": 1000}))
	want := map[string]string{"/large": "too-large", "/redirect": "", "/slow": "timeout", "/short": "dataloss", "/": ""}
	var all sync.WaitGroup
	for path, want := range want {
		all.Go(func() {
			for range 20 {
				req := &crawl.Request{URL: server.URL + path, Options: crawl.Options{DownloadTimeout: 20 * time.Second}}
				if path == "/slow" {
					req.DownloadTimeout = 20 * time.Millisecond
				}
				if _, err := job.Fetch(t.Context(), req); reason(err) != want {
					t.Errorf("%s: %q, want %q", path, reason(err), want)
					return
				}
			}
		})
	}
	all.Wait()
}

// A closer notes whether it was closed.
type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestBodiesAreClosed(t *testing.T) {
	for name, answer := range map[string]http.Response{
		"that are read":                {StatusCode: 200, ContentLength: 5},
		"that are too short":           {StatusCode: 200, ContentLength: 10},
		"that are announced too large": {StatusCode: 200, ContentLength: 1 << 40},
		"of another protocol":          {StatusCode: 101, ContentLength: -1},
	} {
		body := &closer{Reader: strings.NewReader("hello")}
		answer.Body = body
		h := newHandler(t, handlers.Options{RoundTripper: roundTripper(func(*http.Request) (*http.Response, error) { return &answer, nil })})
		h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})
		if !body.closed {
			t.Errorf("bodies %s are not closed", name)
		}
	}
}
