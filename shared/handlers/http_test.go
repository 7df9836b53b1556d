package handlers_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/handlertest"
)

func TestAResponseTellsAllOfTheAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Page", "a")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "not here")
	}))
	defer server.Close()

	req := &crawl.Request{URL: server.URL + "/a?b=c#d"}
	resp, err := newHandler(t, handlers.Options{}).Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Status != 404 || string(resp.Body) != "not here" || resp.Headers.Get("X-Page") != "a" {
		t.Errorf("status %d, body %q, headers %v", resp.Status, resp.Body, resp.Headers)
	}
	if resp.URL != server.URL+"/a?b=c" || resp.Protocol != "HTTP/1.1" || resp.IPAddress != "127.0.0.1" {
		t.Errorf("url %s, protocol %s, address %s", resp.URL, resp.Protocol, resp.IPAddress)
	}
	if resp.Latency <= 0 || resp.Request != req || resp.Flags != nil {
		t.Errorf("latency %s, request %v, flags %v", resp.Latency, resp.Request, resp.Flags)
	}
}

func TestWhatIsSentIsWhatTheRequestSays(t *testing.T) {
	server := handlertest.Serve(t, func(_ int, _ string, conn net.Conn) bool {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		return true
	})
	host := strings.TrimPrefix(server.URL, "http://")
	tests := []struct {
		name string
		req  crawl.Request
		want []string // the lines of the request, the first one first
		body string
	}{
		{"a plain request has two lines", crawl.Request{URL: "/a?b=c#fragment"},
			[]string{"GET /a?b=c HTTP/1.1", "Host: " + host}, ""},
		{"escapes that are none stay", crawl.Request{URL: "/sale-100%?q=%zz"},
			[]string{"GET /sale-100%?q=%zz HTTP/1.1", "Host: " + host}, ""},
		{"headers go as given", crawl.Request{URL: "/", Headers: http.Header{"X-A": {"1", "2"}, "User-Agent": {"me"}}},
			[]string{"GET / HTTP/1.1", "Host: " + host, "User-Agent: me", "X-A: 1", "X-A: 2"}, ""},
		{"a host of one's own", crawl.Request{URL: "/", Headers: http.Header{"Host": {"example.com"}}},
			[]string{"GET / HTTP/1.1", "Host: example.com"}, ""},
		{"a body has its length", crawl.Request{URL: "/", Method: "POST", Body: []byte("a=1")},
			[]string{"POST / HTTP/1.1", "Host: " + host, "Content-Length: 3"}, "a=1"},
		{"a proxy's password stays", crawl.Request{URL: "/", Headers: http.Header{"Proxy-Authorization": {"Basic x"}}},
			[]string{"GET / HTTP/1.1", "Host: " + host}, ""},
		{"a user in the URL is not sent", crawl.Request{URL: "u:p@/"}, []string{"GET / HTTP/1.1", "Host: " + host}, ""},
	}
	h := newHandler(t, handlers.Options{})
	for n, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			user, path, cut := strings.Cut(test.req.URL, "@")
			if !cut {
				user, path = "", test.req.URL
			} else {
				user += "@"
			}
			test.req.URL = "http://" + user + host + path
			before := test.req.Headers.Clone()
			if _, err := h.Fetch(t.Context(), &test.req); err != nil {
				t.Fatal(err)
			}
			head, body, _ := strings.Cut(server.Saw(n), "\r\n\r\n")
			if got := strings.Split(strings.TrimSpace(head), "\r\n"); !reflect.DeepEqual(got, test.want) || body != test.body {
				t.Errorf("sent %q with body %q, want %q with %q", got, body, test.want, test.body)
			}
			if !reflect.DeepEqual(test.req.Headers, before) {
				t.Errorf("the request's headers became %v", test.req.Headers)
			}
		})
	}
	if n := server.Connections(); n != 1 {
		t.Errorf("%d requests took %d connections, want 1", len(tests), n)
	}
}

// A kept-alive connection dies while a function sleeps: the server has closed
// it, and the client finds out when it writes.
func TestADeadConnectionCostsNoAttempt(t *testing.T) {
	for _, method := range []string{"GET", "POST", "PATCH"} {
		t.Run(method, func(t *testing.T) {
			server := handlertest.Serve(t, func(n int, _ string, conn net.Conn) bool {
				if n == 1 {
					return false // no byte comes back
				}
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				return true
			})
			h := newHandler(t, handlers.Options{})
			for range 2 {
				req := &crawl.Request{URL: server.URL, Method: method}
				if method != "GET" {
					req.Body = []byte("a=1")
				}
				if _, err := h.Fetch(t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			if got := server.Saw(2); method != "GET" && !strings.HasSuffix(got, "a=1") {
				t.Errorf("the second try sent %q, want the body a=1", got)
			}
			if got := server.Saw(2); strings.Contains(got, "Idempotency-Key") {
				t.Errorf("a header was added: %q", got)
			}
		})
	}
}

func TestHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Set("X-Sent", string(body)+r.Header.Get("User-Agent"))
		w.Header().Set("Connection", "close") // becomes a GOAWAY
		io.WriteString(w, "hello")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	h := newHandler(t, handlers.Options{RootCAs: roots})
	for range 3 {
		resp, err := h.Fetch(t.Context(), &crawl.Request{URL: server.URL, Method: "POST", Body: []byte("a=1")})
		if err != nil {
			t.Fatal(err)
		}
		if resp.Protocol != "HTTP/2.0" || string(resp.Body) != "hello" || resp.IPAddress != "127.0.0.1" || resp.Flags != nil {
			t.Errorf("protocol %s, body %q, address %s, flags %v", resp.Protocol, resp.Body, resp.IPAddress, resp.Flags)
		}
		if got := resp.Headers["Set-Cookie"]; !reflect.DeepEqual(got, []string{"a=1", "b=2"}) {
			t.Errorf("cookies %v", got)
		}
		if got := resp.Headers.Get("X-Sent"); got != "a=1" {
			t.Errorf("the server got body and agent %q, want a=1", got)
		}
		for name := range resp.Headers {
			if strings.HasPrefix(name, ":") {
				t.Errorf("header %s", name)
			}
		}
	}
}

func TestHTTP2KeepsWithinItsConnections(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	job := newHandler(t, handlers.Options{ConnsPerHost: 2}).ForJob(with(t, map[string]any{"DOWNLOAD_VERIFY_CERTIFICATES": false}))
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if resp, err := job.Fetch(t.Context(), &crawl.Request{URL: server.URL}); err != nil || resp.Protocol != "HTTP/2.0" {
				t.Errorf("%+v, %v", resp, err)
			}
		})
	}
	all.Wait()
}

func TestCertificatesAreCheckedAsTheJobSays(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "old")
	}))
	server.TLS = &tls.Config{MaxVersion: tls.VersionTLS10, MinVersion: tls.VersionTLS10}
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	defer server.Close()

	h := newHandler(t, handlers.Options{})
	req := &crawl.Request{URL: server.URL}
	if _, err := h.Fetch(t.Context(), req); reason(err) != "tls" {
		t.Errorf("a server of TLS 1.0: %q, want tls", reason(err))
	}
	lenient := h.ForJob(with(t, map[string]any{"DOWNLOAD_VERIFY_CERTIFICATES": false}))
	if resp, err := lenient.Fetch(t.Context(), req); err != nil || string(resp.Body) != "old" {
		t.Errorf("without checks: %v", err)
	}
	if _, err := h.Fetch(t.Context(), req); reason(err) != "tls" {
		t.Errorf("another job is let through as well: %q", reason(err))
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	for name, opts := range map[string]handlers.Options{
		"a negative number":        {ConnsPerHost: -1},
		"a guard that nobody asks": {RoundTripper: http.DefaultTransport, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, nil }},
	} {
		if _, err := handlers.HTTP(opts); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
