package handlers_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/dnstest"
	"github.com/skitterhq/skitter/shared/handlers/handlertest"
)

// servers starts one of http, one of https and one of HTTP/2, which all tell
// what was asked of them.
func servers(t testing.TB) map[string]string {
	tells := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s %q", r.Proto, r.Host, r.RequestURI, r.Header.Get("Proxy-Authorization"))
	})
	urls := map[string]string{}
	for _, kind := range []string{"http", "https", "h2"} {
		server := httptest.NewUnstartedServer(tells)
		server.Config.ErrorLog = quiet()
		if kind == "http" {
			server.Start()
		} else {
			server.EnableHTTP2 = kind == "h2"
			server.StartTLS()
		}
		t.Cleanup(server.Close)
		urls[kind] = server.URL
	}
	return urls
}

func TestARequestGoesThroughItsProxy(t *testing.T) {
	urls := servers(t)
	protocols := map[string]string{"http": "HTTP/1.1", "https": "HTTP/1.1", "h2": "HTTP/2.0"}
	job := newHandler(t, handlers.Options{}).ForJob(with(t, map[string]any{"DOWNLOAD_VERIFY_CERTIFICATES": false}))
	for kind, url := range urls {
		host := url[strings.Index(url, "//")+2:]
		for name, start := range map[string]func() (*testProxy, string){
			"http":   func() (*testProxy, string) { p := &testProxy{password: "me:s3cret"}; return p, proxied(t, p, false) },
			"https":  func() (*testProxy, string) { p := &testProxy{password: "me:s3cret"}; return p, proxied(t, p, true) },
			"socks5": func() (*testProxy, string) { return nil, "socks5://" + serveSOCKS(t, "me", "s3cret") },
		} {
			t.Run(kind+" over "+name, func(t *testing.T) {
				proxy, at := start()
				at = strings.Replace(at, "://", "://me:s3cret@", 1)
				for n := range 2 {
					resp, err := job.Fetch(t.Context(), &crawl.Request{URL: url + "/a?q=%zz", Options: crawl.Options{Proxy: at}})
					if err != nil {
						t.Fatal(err)
					}
					if want := protocols[kind] + " " + host + ` /a?q=%zz ""`; kind != "http" && string(resp.Body) != want || resp.Status != 200 {
						t.Errorf("status %d, the server saw %s, want %s", resp.Status, resp.Body, want)
					}
					if resp.Timing.Reused != (n == 1) || (resp.Certificate != nil) != (kind != "http") || resp.IPAddress != "127.0.0.1" {
						t.Errorf("request %d: %+v", n, resp)
					}
				}
				if proxy == nil {
					return
				}
				want := []string{"CONNECT " + host}
				if kind == "http" {
					want = []string{"GET " + url + "/a?q=%zz", "GET " + url + "/a?q=%zz"}
				}
				if diff := cmp.Diff(want, proxy.asked); diff != "" {
					t.Errorf("the proxy was asked (-want +got): %s", diff)
				}
			})
		}
	}
}

func TestAProxysCredentialsAreOneLine(t *testing.T) {
	req := &crawl.Request{
		URL: servers(t)["https"], Options: crawl.Options{Proxy: proxied(t, new(testProxy), false)},
		Headers: http.Header{"Proxy-Authorization": {"Basic x\r\nX-A: b"}},
	}
	if _, err := newHandler(t, handlers.Options{}).Fetch(t.Context(), req); reason(err) != "bad-request" {
		t.Errorf("got %v, want bad-request", err)
	}
}

func TestAProxyLooksUpTheHost(t *testing.T) {
	url := servers(t)["http"]
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	for _, scheme := range []string{"socks5", "socks5h"} {
		req := &crawl.Request{URL: "http://only-the-proxy-knows.example:" + port, Options: crawl.Options{Proxy: scheme + "://" + serveSOCKS(t, "", "")}}
		if resp, err := newHandler(t, handlers.Options{}).Fetch(t.Context(), req); err != nil || !strings.Contains(string(resp.Body), "only-the-proxy-knows") {
			t.Errorf("%s: %+v, %v", scheme, resp, err)
		}
	}
}

func TestAnOddAnswerThroughATunnelIsReadToo(t *testing.T) {
	secure := httptest.NewUnstartedServer(nil)
	secure.StartTLS()
	config := secure.TLS
	secure.Close()
	config.NextProtos = []string{"http/1.1"}
	server := handlertest.ServeTLS(t, config, handlertest.Sends("ICY 200 OK\r\nnonsense\r\n\r\nhello"))
	job := newHandler(t, handlers.Options{}).ForJob(with(t, map[string]any{"DOWNLOAD_VERIFY_CERTIFICATES": false}))
	for name, proxy := range map[string]string{"direct": "none", "tunnel": proxied(t, new(testProxy), false)} {
		resp, err := job.Fetch(t.Context(), &crawl.Request{URL: server.URL, Options: crawl.Options{Proxy: proxy}})
		if err != nil || string(resp.Body) != "hello" || resp.Certificate == nil {
			t.Errorf("%s: %+v, %v", name, resp, err)
		}
	}
}

// RFC 9110, section 9.3.6: a client ignores both in an answer to CONNECT.
func TestATunnelHasNoBody(t *testing.T) {
	url := servers(t)["https"]
	job := newHandler(t, handlers.Options{}).ForJob(with(t, map[string]any{
		"DOWNLOAD_VERIFY_CERTIFICATES": false, "DOWNLOAD_CONNECT_TIMEOUT": "5s",
	}))
	for _, header := range []string{"Content-Length: 0", "Content-Length: 5", "Transfer-Encoding: chunked"} {
		proxy := proxied(t, &testProxy{headers: header + "\r\n"}, false)
		if _, err := job.Fetch(t.Context(), &crawl.Request{URL: url, Options: crawl.Options{Proxy: proxy}}); err != nil {
			t.Errorf("%s: %v", header, err)
		}
	}
}

func TestConnectionsOfOtherCredentialsAreNotShared(t *testing.T) {
	urls := servers(t)
	proxy := new(testProxy)
	at := proxied(t, proxy, false)
	job := newHandler(t, handlers.Options{}).ForJob(with(t, map[string]any{"DOWNLOAD_VERIFY_CERTIFICATES": false}))
	for _, url := range urls {
		for _, who := range []string{"a:1", "b:2", "", "a:1"} {
			req := &crawl.Request{URL: url, Options: crawl.Options{Proxy: strings.Replace(at, "://", "://"+who+"@", 1)}}
			if _, err := job.Fetch(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		// A header says the same as the URL, and takes the same connection.
		req := &crawl.Request{URL: url, Options: crawl.Options{Proxy: at}, Headers: http.Header{"Proxy-Authorization": {"Basic YToxZZ=="}}}
		if _, err := job.Fetch(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]string{}
	for key := range proxy.auths {
		addr, auth, _ := strings.Cut(key, " ")
		if other, there := seen[addr]; there && other != auth {
			t.Errorf("the connection %s has served %q and %q", addr, other, auth)
		}
		seen[addr] = auth
	}
}

func TestWhatFailsAtAProxyIsTheProxys(t *testing.T) {
	urls := servers(t)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	says := func(raw string) string { return handlertest.Serve(t, handlertest.Sends(raw)).URL }
	silent := handlertest.Serve(t, func(_ int, _ string, conn net.Conn) bool { io.Copy(io.Discard, conn); return false }).URL
	hangs := func(raw string) string {
		return handlertest.Serve(t, func(_ int, _ string, conn net.Conn) bool {
			io.WriteString(conn, raw)
			io.Copy(io.Discard, conn)
			return false
		}).URL
	}
	tests := []struct {
		name, url, proxy, want, message string
	}{
		{"nobody listens", urls["http"], "http://" + nobody.Addr().String(), "proxy", "refused"},
		{"nobody listens, for a tunnel", urls["https"], "http://" + nobody.Addr().String(), "proxy", "refused"},
		{"nobody listens, of socks", urls["https"], "socks5://me:s3cret@" + nobody.Addr().String(), "proxy", "refused"},
		{"no password", urls["http"], proxied(t, &testProxy{password: "me:s3cret"}, false), "proxy", "407"},
		{"no password, for a tunnel", urls["https"], proxied(t, &testProxy{password: "me:s3cret"}, false), "proxy", "407"},
		{"another password, of socks", urls["https"], "socks5://me:s3cret@" + serveSOCKS(t, "me", "another"), "proxy", "authentication"},
		{"no tunnel", urls["https"], proxied(t, &testProxy{status: 503}, false), "proxy", "503 Service Unavailable"},
		{"no tunnel, and words without end", urls["https"], hangs("HTTP/1.1 407 No\r\nContent-Length: 100\r\n\r\nhello"), "proxy", "407"},
		{"no HTTP", urls["https"], says("SSH-2.0\r\n"), "proxy", "no answer to CONNECT"},
		{"the end", urls["https"], says(""), "proxy", "no answer to CONNECT"},
		{"more than the tunnel", urls["https"], says("HTTP/1.1 200 OK\r\n\r\nhello"), "proxy", "said more"},
		{"no TLS", urls["http"], strings.Replace(proxied(t, new(testProxy), false), "http:", "https:", 1), "proxy", "tls"},
		{"no name of anybody", urls["http"], "http://nobody.invalid:3128", "proxy", "nobody.invalid"},
		{"the server is not there", "https://" + nobody.Addr().String(), proxied(t, new(testProxy), false), "proxy", "502"},
		{"the server's certificate", urls["https"], proxied(t, new(testProxy), false), "certificate", "x509"},
		{"no URL", urls["http"], "http://me:s3cret@ha ha/", "bad-request", "socks5h"},
		{"a host only", urls["http"], "127.0.0.1:8080", "bad-request", "socks5h"},
		{"another scheme", urls["http"], "ftp://me:s3cret@127.0.0.1", "bad-request", "socks5h"},
		{"with a path", urls["http"], "http://me:s3cret@127.0.0.1/a", "bad-request", "socks5h"},
		{"a tunnel that is not answered", urls["https"], silent, "timeout", "while waiting for the proxy's tunnel"},
	}
	resolver := dnstest.Resolver(dnstest.Names(nil))
	h := newHandler(t, handlers.Options{Resolver: resolver})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := &crawl.Request{URL: test.url, Options: crawl.Options{Proxy: test.proxy, DownloadTimeout: 10 * time.Second}}
			if test.want == "timeout" {
				req.DownloadTimeout = 50 * time.Millisecond
			}
			_, err := h.Fetch(t.Context(), req)
			if reason(err) != test.want || !strings.Contains(err.Error(), test.message) {
				t.Errorf("got %v, want %s with %q", err, test.want, test.message)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a password is told: %v", err)
			}
		})
	}
}

func TestAProxyThatIsNotReachedInTimeIsTheProxys(t *testing.T) {
	never := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	for name, values := range map[string]map[string]any{
		"the whole time":      {"DOWNLOAD_TIMEOUT": "50ms"},
		"the time to connect": {"DOWNLOAD_CONNECT_TIMEOUT": "50ms"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHandler(t, handlers.Options{Dial: never}).ForJob(with(t, values))
			_, err := h.Fetch(t.Context(), &crawl.Request{URL: "https://a.example", Options: crawl.Options{Proxy: "http://b.example"}})
			if reason(err) != "proxy" || !strings.Contains(err.Error(), "connecting to the proxy") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestI6ProxiesAndTheGuard(t *testing.T) {
	proxy := new(testProxy)
	at := proxied(t, proxy, false)
	here := netip.MustParseAddrPort(strings.TrimPrefix(at, "http://"))
	open, closed := new(handlers.Guard), &handlers.Guard{Forbid: []netip.AddrPort{here}}
	fetch := func(g *handlers.Guard, url, proxy string) string {
		h := newHandler(t, handlers.Options{Guard: g.Check, ProxyGuard: g.CheckProxy})
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: url, Options: crawl.Options{Proxy: proxy}})
		return reason(err)
	}
	// The proxy stands in a network of one's own, and is asked all the same.
	if got := fetch(open, "http://public.example/", at); got != "" || len(proxy.asked) != 1 {
		t.Errorf("a proxy on this machine: %q, asked %v", got, proxy.asked)
	}
	if got := fetch(closed, "http://public.example/", at); got != "forbidden-address" {
		t.Errorf("a proxy that is forbidden: %q", got)
	}
	if got := fetch(closed, "http://public.example/", strings.Replace(at, "127.0.0.1", "[::ffff:7f00:1]", 1)); got != "forbidden-address" {
		t.Errorf("a proxy that is forbidden, spelled otherwise: %q", got)
	}
	h := newHandler(t, handlers.Options{Guard: open.Check})
	if _, err := h.Fetch(t.Context(), &crawl.Request{URL: "http://public.example/", Options: crawl.Options{Proxy: at}}); reason(err) != "forbidden-address" {
		t.Errorf("without a guard for proxies the other one is asked: %v", err)
	}
	before := len(proxy.asked)
	for _, host := range []string{
		"127.0.0.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:7f00:1]", "0", "169.254.169.254", "10.0.0.1", "localhost", "LOCALHOST.", "a.localhost",
	} {
		for _, scheme := range []string{"http", "https"} {
			for _, way := range []string{at, "socks5://127.0.0.1:1"} {
				if got := fetch(open, scheme+"://"+host+"/", way); got != "forbidden-address" {
					t.Errorf("%s://%s through %s: %q", scheme, host, way, got)
				}
			}
		}
	}
	if len(proxy.asked) != before {
		t.Errorf("the proxy was asked for %v", proxy.asked[before:])
	}
}
