package handlers_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/handlertest"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestEveryFailureHasItsReason(t *testing.T) {
	const soon = 50 * time.Millisecond
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet()
	secure.StartTLS()
	defer secure.Close()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	mute := func(_ int, _ string, conn net.Conn) bool { io.Copy(io.Discard, conn); return false }
	drips := func(_ int, _ string, conn net.Conn) bool {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
		io.Copy(io.Discard, conn)
		return false
	}
	floods := func(_ int, _ string, conn net.Conn) bool {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for chunk := "1000\r\n" + strings.Repeat("x", 0x1000) + "\r\n"; ; {
			if _, err := io.WriteString(conn, chunk); err != nil {
				return false
			}
		}
	}
	noName := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "nowhere.example", IsNotFound: true}}
	}
	noAnswer := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	noLoopback := func(addr netip.AddrPort) error {
		if addr.Addr().IsLoopback() {
			return errors.New("loopback is not for crawling")
		}
		return nil
	}

	tests := []struct {
		name     string
		opts     handlers.Options
		settings map[string]any
		req      crawl.Request
		raw      handlertest.Answer // what answers, if the request has no URL
		want     string
		message  string
	}{
		{name: "a name without address", opts: handlers.Options{Dial: noName}, req: crawl.Request{URL: "http://nowhere.example/"},
			want: "dns", message: "no such host"},
		{name: "a name without address, over TLS", opts: handlers.Options{Dial: noName}, req: crawl.Request{URL: "https://nowhere.example/"},
			want: "dns"},
		{name: "a port that nobody listens to", req: crawl.Request{URL: "http://" + nobody.Addr().String()},
			want: "connect", message: "refused"},
		{name: "a forbidden address", opts: handlers.Options{Guard: noLoopback}, req: crawl.Request{URL: secure.URL},
			want: "forbidden-address", message: "loopback is not for crawling"},
		{name: "no certificate of anybody known", req: crawl.Request{URL: secure.URL}, want: "certificate"},
		{name: "https asked of http", req: crawl.Request{URL: "https://" + strings.TrimPrefix(httptestURL(t), "http://")}, want: "tls"},
		{name: "connecting takes too long", opts: handlers.Options{Dial: noAnswer},
			settings: map[string]any{"DOWNLOAD_CONNECT_TIMEOUT": soon}, req: crawl.Request{URL: "http://example.com/"}, want: "timeout"},
		{name: "connecting over TLS takes too long", opts: handlers.Options{Dial: noAnswer},
			settings: map[string]any{"DOWNLOAD_CONNECT_TIMEOUT": soon}, req: crawl.Request{URL: "https://example.com/"}, want: "timeout"},
		{name: "no answer in the job's time", settings: map[string]any{"DOWNLOAD_TIMEOUT": soon}, raw: mute,
			want: "timeout", message: "not done after 50ms"},
		{name: "no answer in the request's time", req: crawl.Request{Options: crawl.Options{DownloadTimeout: soon}}, raw: mute, want: "timeout"},
		{name: "a body that drips", req: crawl.Request{Options: crawl.Options{DownloadTimeout: soon}}, raw: drips, want: "timeout"},
		{name: "no answer but the end", raw: handlertest.Sends(""), want: "reset"},
		{name: "half a head", raw: handlertest.Sends("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"), want: "reset"},
		{name: "half a line of a head", raw: handlertest.Sends("HTTP/1.1 200 OK\r\nContent-Le"), want: "reset"},
		{name: "a body that is too short", raw: handlertest.Sends("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi"), want: "dataloss"},
		{name: "a large body that is too short", raw: handlertest.Sends("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\nhi"), want: "dataloss"},
		{name: "chunks without end", raw: handlertest.Sends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"), want: "dataloss"},
		{name: "chunks that are none", raw: handlertest.Sends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n"), want: "dataloss"},
		{name: "a body that is announced too large", settings: map[string]any{"DOWNLOAD_MAXSIZE": 1000},
			raw: handlertest.Sends("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"), want: "too-large", message: "1001 bytes are announced, the limit is 1000"},
		{name: "a body that becomes too large", req: crawl.Request{Options: crawl.Options{DownloadMaxsize: 1 << 20}}, raw: floods, want: "too-large"},
		{name: "a body without length that is too large", settings: map[string]any{"DOWNLOAD_MAXSIZE": 3},
			raw: handlertest.Sends("HTTP/1.0 200 OK\r\n\r\n1234"), want: "too-large"},
		{name: "two lengths", raw: handlertest.Sends("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), want: "bad-response"},
		{name: "no HTTP", raw: handlertest.Sends("SSH-2.0-OpenSSH_9\r\n"), want: "bad-response"},
		{name: "another protocol, unasked", raw: handlertest.Sends("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"), want: "bad-response"},
		{name: "headers without end", raw: handlertest.Sends("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 300<<10) + "\r\n\r\n"), want: "bad-response"},
		{name: "a URL that is none", req: crawl.Request{URL: "http://[::1"}, want: "bad-url"},
		{name: "a scheme that is not ours", req: crawl.Request{URL: "ftp://example.com/"}, want: "unsupported-scheme"},
		{name: "a method that is none", req: crawl.Request{URL: "http://example.com/", Method: "GET IT"}, want: "bad-request"},
		{name: "a line break in a header", req: crawl.Request{URL: "http://example.com/", Headers: http.Header{"X": {"a\r\nb"}}}, want: "bad-request"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.raw != nil {
				test.req.URL = handlertest.Serve(t, test.raw).URL
			}
			h := newHandler(t, test.opts).ForJob(with(t, test.settings))
			resp, err := h.Fetch(t.Context(), &test.req)
			if reason(err) != test.want {
				t.Fatalf("got %+v, %q, want %q", resp, reason(err), test.want)
			}
			var failure *crawl.Failure
			if errors.As(err, &failure); failure.Request != &test.req || !strings.Contains(failure.Message, test.message) {
				t.Errorf("failure %+v, want a message with %q", failure, test.message)
			}
			if !slices.Contains(handlers.Reasons(), test.want) {
				t.Errorf("%s is not in the list of reasons", test.want)
			}
		})
	}
}

func httptestURL(t *testing.T) string {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheEndOfTheInvocationIsNoFailureOfTheRequest(t *testing.T) {
	tests := []struct {
		name  string
		first string // what the server sends before it falls silent
	}{
		{"before the answer", ""},
		{"in the middle of the body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi"},
		{"in a body without length", "HTTP/1.1 200 OK\r\n\r\nhi"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			server := handlertest.Serve(t, func(_ int, _ string, conn net.Conn) bool {
				io.WriteString(conn, test.first)
				cancel()
				io.Copy(io.Discard, conn)
				return false
			})
			req := &crawl.Request{URL: strings.Replace(server.URL, "//", "//u:secret@", 1)}
			_, err := newHandler(t, handlers.Options{}).Fetch(ctx, req)
			var failure *crawl.Failure
			if !errors.Is(err, context.Canceled) || errors.As(err, &failure) {
				t.Errorf("error %v", err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("a password is told: %v", err)
			}
		})
	}

	t.Run("by its deadline, which is sooner than the request's", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		server := handlertest.Serve(t, func(_ int, _ string, conn net.Conn) bool { io.Copy(io.Discard, conn); return false })
		_, err := newHandler(t, handlers.Options{}).Fetch(ctx, &crawl.Request{URL: server.URL})
		if !errors.Is(err, context.DeadlineExceeded) || reason(err) == "timeout" {
			t.Errorf("error %v", err)
		}
	})
}

func TestByScheme(t *testing.T) {
	answer := func(body string) downloader.Handler {
		return downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
			return &crawl.Response{Body: []byte(body), Request: req}, nil
		})
	}
	h := handlers.ByScheme(map[string]downloader.Handler{"http": answer("web"), "data": answer("inline")})
	for url, want := range map[string]string{"http://a/": "web", "HTTP://a/": "web", "data:,x": "inline"} {
		if resp, err := h.Fetch(t.Context(), &crawl.Request{URL: url}); err != nil || string(resp.Body) != want {
			t.Errorf("%s: %v", url, err)
		}
	}
	named := &crawl.Request{URL: "http://a/", Options: crawl.Options{DownloadHandler: "data"}}
	if resp, err := h.Fetch(t.Context(), named); err != nil || string(resp.Body) != "inline" {
		t.Errorf("a request that names its handler: %v", err)
	}
	named.DownloadHandler = "browser"
	if _, err := h.Fetch(t.Context(), named); err == nil || err.Error() != `unknown-handler: no handler for "browser"; there are: data, http` {
		t.Errorf("error %v", err)
	}
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: "ftp://a/"})
	if err == nil || err.Error() != `unsupported-scheme: no handler for "ftp" (FTP is not built in; a project can bring a handler of its own); there are: data, http` {
		t.Errorf("error %v", err)
	}
}
