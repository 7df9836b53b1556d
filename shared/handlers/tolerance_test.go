package handlers_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/handlertest"
)

func TestOddAnswersAreReadAsBrowsersDo(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	const five = "Content-Length: 5\r\n\r\nhello"
	partial := []string{"partial"}
	tests := []struct {
		name    string
		raw     string
		status  int
		headers http.Header // those that must be there, or not where nil
		body    string
		flags   []string
		odd     string // what the log calls it; "" where net/http takes it as it is
	}{
		{name: "a line without colon", raw: ok + "nonsense\r\nX-A: b\r\n" + five, headers: http.Header{"X-A": {"b"}},
			odd: "a header line without colon"},
		{name: "a line without colon, and one folded under it", raw: ok + "X-A: b\r\nnonsense\r\n more\r\n" + five,
			headers: http.Header{"X-A": {"b"}}, odd: "without colon"},
		{name: "a blank before the colon", raw: ok + "X-A : b\r\nContent-Length\t: 5\r\n\r\nhello", headers: http.Header{"X-A": {"b"}},
			odd: "a header name that is none"},
		{name: "a blank in a name", raw: ok + "X A: b\r\n" + five, headers: http.Header{"X A": nil, "X-A": nil}, odd: "name"},
		{name: "a name with a letter that is none", raw: ok + "X-Ä: b\r\n" + five, odd: "name"},
		{name: "a control character", raw: ok + "X-A: a\x00b\x01c\r\n" + five, headers: http.Header{"X-A": {"a b c"}}, odd: "control"},
		{name: "a carriage return in a value", raw: ok + "X-A: a\rSet-Cookie: b\r\n" + five,
			headers: http.Header{"X-A": {"a Set-Cookie: b"}, "Set-Cookie": nil}, odd: "control"},
		{name: "two carriage returns at the ends", raw: ok + "X-A: b\r\r\nContent-Length: 5\r\n\r\r\nhello", headers: http.Header{"X-A": {"b"}}, odd: "control"},
		{name: "a tab in a value", raw: ok + "X-A: a\tb\r\n" + five, headers: http.Header{"X-A": {"a\tb"}}},
		{name: "bytes that are no ASCII in a value", raw: ok + "X-A: \xe4\xff\r\n" + five, headers: http.Header{"X-A": {"\xe4\xff"}}},
		{name: "a leading blank line", raw: "\r\n\n" + ok + five, odd: "a blank line before the status"},
		{name: "ICY", raw: "ICY 200 OK\r\nicy-name: radio\r\n\r\nhello", headers: http.Header{"Icy-Name": {"radio"}}, flags: partial,
			odd: "an odd status line"},
		{name: "a status without reason", raw: "HTTP/1.1 404\r\n" + five, status: 404},
		{name: "a status with a blank but no reason", raw: "HTTP/1.1 404 \r\n" + five, status: 404},
		{name: "a version without point", raw: "HTTP/1 200 OK\r\n" + five, odd: "status"},
		{name: "another version", raw: "HTTP/1.2 200 OK\r\n" + five, odd: "status"},
		{name: "a version of small letters", raw: "http/1.1 200 ok\r\n" + five, odd: "status"},
		{name: "HTTP/2 that is none", raw: "HTTP/2 200\r\n" + five, odd: "status"},
		{name: "several blanks before the status", raw: "HTTP/1.1   301 Moved\r\nLocation: /a\r\n" + five, status: 301,
			headers: http.Header{"Location": {"/a"}}, odd: "status"},
		{name: "no blank after the status", raw: "HTTP/1.1 200OK\r\n" + five, odd: "status"},
		{name: "no number at all", raw: "HTTP/1.1 OK\r\n" + five, odd: "status"},
		{name: "a mark of byte order before the status", raw: "\xef\xbb\xbf" + ok + five, odd: "status"},
		{name: "Transfer-Encoding: identity", raw: ok + "Transfer-Encoding: identity\r\n" + five, odd: "Transfer-Encoding"},
		{name: "Transfer-Encoding said twice", raw: ok + "Transfer-Encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
			odd: "Transfer-Encoding"},
		{name: "Transfer-Encoding with a list", raw: ok + "Transfer-Encoding: identity, Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", odd: "Transfer-Encoding"},
		{name: "the same length twice", raw: ok + "Content-Length: 5\r\n" + five},
		{name: "a list of the same length", raw: ok + "Content-Length: 5, 5\r\n\r\nhello", odd: "Content-Length"},
		{name: "a length that is none", raw: ok + "Content-Length: many\r\n\r\nhello", flags: partial, odd: "Content-Length"},
		{name: "a length below 0", raw: ok + "Content-Length: -1\r\n\r\nhello", flags: partial, odd: "Content-Length"},
		{name: "an empty length", raw: ok + "Content-Length:\r\n\r\nhello", flags: partial, odd: "Content-Length"},
		{name: "a length that is too long", raw: ok + "Content-Length: 99999999999999999999\r\n\r\nhello", flags: partial, odd: "Content-Length"},
		{name: "a folded line", raw: ok + "X-A: b\r\n c\r\n" + five, headers: http.Header{"X-A": {"b c"}}},
		{name: "a folded line under nothing", raw: ok + "  X-B: a\r\nX-A: b\r\n" + five, headers: http.Header{"X-A": {"b"}, "X-B": nil}, odd: "folded"},
		{name: "ends of lines without carriage return", raw: "HTTP/1.1 200 OK\nX-A: b\nContent-Length: 5\n\nhello", headers: http.Header{"X-A": {"b"}}},
		{name: "headers that end with the connection", raw: "HTTP/1.0 302 Found\r\nLocation: /a\r\n", status: 302,
			headers: http.Header{"Location": {"/a"}}, body: "-", flags: partial, odd: "headers without end"},
		{name: "an informal answer before", raw: "HTTP/1.1 103 Early Hints\r\nnonsense\r\n\r\n" + ok + "nonsense\r\n" + five, odd: "without colon"},
		{name: "a header without name", raw: ok + ": b\r\n" + five, odd: "name"},
		{name: "all at once", raw: "\r\nHTTP/1 203\r\nnonsense\r\nX-A : \x01\r\nContent-Length: 5, 5\r\n\r\nhello", status: 203,
			headers: http.Header{"X-A": {""}}, odd: "a blank line before the status, an odd status line, a header line without colon"},
	}
	for _, test := range tests {
		// However the bytes come, what is read is the same.
		for way, write := range map[string]func(net.Conn, string){
			"at once": func(conn net.Conn, raw string) { io.WriteString(conn, raw) },
			"byte by byte": func(conn net.Conn, raw string) {
				for n := range raw {
					io.WriteString(conn, raw[n:n+1])
				}
			},
		} {
			t.Run(test.name+", "+way, func(t *testing.T) {
				var logged bytes.Buffer
				log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
				server := handlertest.Serve(t, func(_ int, _ string, conn net.Conn) bool { write(conn, test.raw); return false })
				resp, err := newHandler(t, handlers.Options{Logger: log}).Fetch(t.Context(), &crawl.Request{URL: server.URL})
				if err != nil {
					t.Fatal(err)
				}
				status, body := test.status, strings.TrimPrefix(test.body, "-")
				if status == 0 {
					status = 200
				}
				if test.body == "" {
					body = "hello"
				}
				if resp.Status != status || string(resp.Body) != body {
					t.Errorf("status %d, body %q, want %d, %q", resp.Status, resp.Body, status, body)
				}
				if diff := cmp.Diff(test.flags, resp.Flags); diff != "" {
					t.Errorf("flags (-want +got): %s", diff)
				}
				for name, want := range test.headers {
					if diff := cmp.Diff(want, resp.Headers[name]); diff != "" {
						t.Errorf("%s (-want +got): %s", name, diff)
					}
				}
				if got := logged.String(); (got != "") != (test.odd != "") || !strings.Contains(got, test.odd) {
					t.Errorf("logged %q, want %q", got, test.odd)
				}
			})
		}
	}
}

func TestWhatBrowsersRefuseIsRefused(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, test := range map[string]struct{ raw, want string }{
		"two lengths":                            {ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "bad-response"},
		"a list of two lengths":                  {ok + "Content-Length: 5, 6\r\n\r\nhello!", "bad-response"},
		"a length, then one that is none":        {ok + "Content-Length: 5\r\nContent-Length: x\r\n\r\nhello!", "bad-response"},
		"a length that is none, then one":        {ok + "Content-Length: x\r\nContent-Length: 5\r\n\r\nhello!", "bad-response"},
		"a length that is none, then a list":     {ok + "Content-Length: x\r\nContent-Length: 5, 5\r\n\r\nhello!", "bad-response"},
		"a transfer coding that nobody knows":    {ok + "Transfer-Encoding: zip\r\n\r\nhello", "bad-response"},
		"no HTTP":                                {"SSH-2.0-OpenSSH_9\r\n", "bad-response"},
		"no HTTP, and not even a line":           {"SSH-2.0-OpenSSH_9", "bad-response"},
		"a page without headers":                 {"<html>hello</html>", "bad-response"},
		"a status of four digits":                {"HTTP/1.1 2000 OK\r\n\r\n", "bad-response"},
		"a status below 100":                     {"HTTP/1.1 099 OK\r\n\r\n", "bad-response"},
		"blank lines only":                       {strings.Repeat("\r\n", 100), "bad-response"},
		"headers that are cut":                   {ok + "X-A: b\r\nContent-Le", "reset"},
		"headers that promise a body, and end":   {ok + "Content-Length: 5\r\n", "reset"},
		"headers that promise chunks, and end":   {ok + "Transfer-Encoding: chunked\r\n", "reset"},
		"an informal answer only":                {"HTTP/1.1 103 Early Hints\r\n\r\n", "reset"},
		"headers without end, of lines":          {ok + strings.Repeat("X-A: b\r\n", 50<<10), "bad-response"},
		"headers without end, of no colons":      {ok + strings.Repeat("nonsense\r\n", 50<<10), "bad-response"},
		"headers without end, of one line":       {ok + "X-A: " + strings.Repeat("b", 300<<10), "bad-response"},
		"informal answers without end":           {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 20000), "bad-response"},
		"an informal answer with odd ones after": {"HTTP/1.1 103 Early Hints\r\n\r\nnonsense\r\n\r\n", "bad-response"},
	} {
		t.Run(name, func(t *testing.T) {
			server := handlertest.Serve(t, handlertest.Sends(test.raw))
			resp, err := newHandler(t, handlers.Options{}).Fetch(t.Context(), &crawl.Request{URL: server.URL})
			if got := reason(err); got != test.want {
				t.Errorf("got %q, %+v, want %s", got, resp, test.want)
			}
		})
	}
}

// What comes after the announced end is nobody's answer, however the bytes fall.
func TestTheRestOfABodyIsNotTheNextAnswer(t *testing.T) {
	for name, rest := range map[string]string{
		"a line end":     "\r\n",
		"more text":      "and more",
		"another answer": "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
	} {
		t.Run(name, func(t *testing.T) {
			server := handlertest.Serve(t, handlertest.Keeps("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"+rest))
			h := newHandler(t, handlers.Options{})
			for range 50 {
				resp, err := h.Fetch(t.Context(), &crawl.Request{URL: server.URL})
				if err != nil || string(resp.Body) != "hello" {
					t.Fatalf("got %+v, %v", resp, err)
				}
			}
		})
	}
}
