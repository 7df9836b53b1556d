package handlers_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/dnstest"
	"github.com/skitterhq/skitter/shared/handlers/handlertest"
)

func secureServer(t testing.TB, config *tls.Config, http2 bool) *httptest.Server {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	server.TLS = config
	server.EnableHTTP2 = http2
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestTLSIsSpokenAsTheSettingsSay(t *testing.T) {
	old := secureServer(t, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}, false)
	oldCiphers := secureServer(t, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}}, false)
	newest := secureServer(t, &tls.Config{MinVersion: tls.VersionTLS13}, false)
	both := secureServer(t, nil, true)
	tests := []struct {
		name     string
		server   *httptest.Server
		settings map[string]any
		want     string // the protocol, or the reason
	}{
		{"TLS 1.0 is not spoken", old, nil, "tls"},
		{"TLS 1.0 is spoken where that is asked for", old, map[string]any{"DOWNLOAD_TLS_MIN_VERSION": "TLSv1.0"}, "HTTP/1.1"},
		{"TLS 1.0 is spoken to servers without certificate", old, map[string]any{"DOWNLOAD_VERIFY_CERTIFICATES": false}, "HTTP/1.1"},
		{"but not where the oldest version is named", old,
			map[string]any{"DOWNLOAD_VERIFY_CERTIFICATES": false, "DOWNLOAD_TLS_MIN_VERSION": "1.2"}, "tls"},
		{"a key exchange of old is not offered", oldCiphers, nil, "tls"},
		{"it is by its name", oldCiphers, map[string]any{"DOWNLOADER_CLIENT_TLS_CIPHERS": "TLS_AES_128_GCM_SHA256:TLS_RSA_WITH_AES_128_CBC_SHA"}, "HTTP/1.1"},
		{"it is with all", oldCiphers, map[string]any{"DOWNLOADER_CLIENT_TLS_CIPHERS": "ALL"}, "HTTP/1.1"},
		{"the newest version is not spoken where an older one is the newest", newest, map[string]any{"DOWNLOAD_TLS_MAX_VERSION": "TLSv1.2"}, "tls"},
		{"HTTP/2 is spoken", both, nil, "HTTP/2.0"},
		{"HTTP/2 is not spoken where it is off", both, map[string]any{"HTTP2_ENABLED": false}, "HTTP/1.1"},
	}
	roots := old.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	h := newHandler(t, handlers.Options{RootCAs: roots})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, err := h.ForJob(with(t, test.settings)).Fetch(t.Context(), &crawl.Request{URL: test.server.URL})
			got := reason(err)
			if err == nil {
				got = resp.Protocol
			}
			if got != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
		})
	}
}

func TestJobsShareConnectionsWhereTheirSettingsAreTheSame(t *testing.T) {
	secure := secureServer(t, nil, false)
	plain := handlertest.Serve(t, handlertest.Keeps("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	h := newHandler(t, handlers.Options{RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs})
	reused := func(url string, values map[string]any) bool {
		t.Helper()
		resp, err := h.ForJob(with(t, values)).Fetch(t.Context(), &crawl.Request{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		return resp.Timing.Reused
	}
	lenient := map[string]any{"DOWNLOAD_VERIFY_CERTIFICATES": false}
	for n, test := range []struct {
		url    string
		values map[string]any
		want   bool
	}{
		{secure.URL, nil, false},
		{secure.URL, map[string]any{"DOWNLOAD_TIMEOUT": 7}, true},
		{secure.URL, lenient, false},
		{secure.URL, lenient, true},
		{secure.URL, nil, true},
		{secure.URL, map[string]any{"DOWNLOAD_TLS_MIN_VERSION": "1.3"}, false},
		{plain.URL, nil, false},
		{plain.URL, lenient, true},
	} {
		if got := reused(test.url, test.values); got != test.want {
			t.Errorf("request %d: the connection is used again: %v, want %v", n, got, test.want)
		}
	}
}

func TestRequestsAreSentFromTheBindAddress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		io.WriteString(w, host)
	}))
	defer server.Close()
	h := newHandler(t, handlers.Options{})
	bound := map[string]any{"DOWNLOAD_BIND_ADDRESS": "127.0.0.2"}
	for _, test := range []struct {
		name, bind string
		settings   map[string]any
		want       string
		message    string
	}{
		{"none", "", nil, "127.0.0.1", ""},
		{"the setting's", "", bound, "127.0.0.2", ""},
		{"the request's", "127.0.0.3", bound, "127.0.0.3", ""},
		{"the request's alone", "127.0.0.2", nil, "127.0.0.2", ""},
		{"none again", "", nil, "127.0.0.1", ""},
		{"one that is none", "eth0", nil, "bad-request", `"eth0" is no IP address`},
		{"one of another family", "::1", nil, "connect", "no address that ::1 could be bound for"},
		{"one of another machine", "192.0.2.1", nil, "connect", "assign"},
	} {
		resp, err := h.ForJob(with(t, test.settings)).Fetch(t.Context(), &crawl.Request{URL: server.URL, Options: crawl.Options{BindAddress: test.bind}})
		got := reason(err)
		if err == nil {
			got = string(resp.Body)
		}
		if got != test.want || err != nil && !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: got %s (%v), want %s with %q", test.name, got, err, test.want, test.message)
		}
	}
}

func TestALateAnswerSaysWhichPartWasLate(t *testing.T) {
	const soon, ample = "50ms", "1m"
	mute := func(_ int, _ string, conn net.Conn) bool { io.Copy(io.Discard, conn); return false }
	half := func(_ int, _ string, conn net.Conn) bool {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi")
		io.Copy(io.Discard, conn)
		return false
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	silentDNS := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	for _, test := range []struct {
		name, url string
		settings  map[string]any
		message   string
	}{
		{"the lookup", "http://a.example", map[string]any{"DNS_TIMEOUT": soon}, "looking up the host took more than 50ms"},
		{"the lookup, not kept", "http://a.example", map[string]any{"DNS_TIMEOUT": soon, "DNSCACHE_ENABLED": false}, "looking up the host"},
		{"the lookup, of the time to connect", "http://b.example", map[string]any{"DOWNLOAD_CONNECT_TIMEOUT": soon}, "no connection after 50ms, while looking up the host"},
		{"the handshake", "https://" + listener.Addr().String(), map[string]any{"DOWNLOAD_CONNECT_TIMEOUT": soon}, "while shaking hands over TLS"},
		{"the handshake, of the whole", "https://" + listener.Addr().String(), map[string]any{"DOWNLOAD_TIMEOUT": soon}, "while shaking hands over TLS"},
		{"the first byte", handlertest.Serve(t, mute).URL, map[string]any{"DOWNLOAD_FIRST_BYTE_TIMEOUT": soon}, "no byte of the answer (DOWNLOAD_FIRST_BYTE_TIMEOUT) after 50ms"},
		{"the first byte, of the whole", handlertest.Serve(t, mute).URL, map[string]any{"DOWNLOAD_TIMEOUT": soon}, "not done after 50ms, while waiting for the answer"},
		{"the body", handlertest.Serve(t, half).URL, map[string]any{"DOWNLOAD_TIMEOUT": soon, "DOWNLOAD_FIRST_BYTE_TIMEOUT": ample}, "while reading the answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHandler(t, handlers.Options{Resolver: silentDNS}).ForJob(with(t, test.settings))
			_, err := h.Fetch(t.Context(), &crawl.Request{URL: test.url})
			if reason(err) != "timeout" || !strings.Contains(err.Error(), test.message) {
				t.Errorf("got %v, want timeout with %q", err, test.message)
			}
		})
	}
}

func TestABodyMayTakeLongerThanTheFirstByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				far.Read(make([]byte, 4096))
				io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
				select {
				case <-time.After(time.Minute): // of the bubble's clock
				case <-t.Context().Done():
				}
				io.WriteString(far, "hello")
			}()
			return near, nil
		}
		h := newHandler(t, handlers.Options{Dial: dial}).ForJob(with(t, map[string]any{
			"DOWNLOAD_FIRST_BYTE_TIMEOUT": "50ms", "DOWNLOAD_TIMEOUT": "1h",
		}))
		if resp, err := h.Fetch(t.Context(), &crawl.Request{URL: "http://a.example"}); err != nil || string(resp.Body) != "hello" {
			t.Errorf("got %+v, %v", resp, err)
		}
	})
}

// counted is a resolver of this process alone, which counts its questions.
func counted(addresses map[string][]string) (*net.Resolver, *atomic.Int32) {
	asked := new(atomic.Int32)
	return dnstest.Resolver(func(name string) []string { asked.Add(1); return addresses[name] }), asked
}

func TestAddressesAreKept(t *testing.T) {
	server := handlertest.Serve(t, handlertest.Sends("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	known := map[string][]string{"a.example": {"127.0.0.1"}, "b.example": {"127.0.0.1"}, "c.example": {"127.0.0.1"}}
	fetch := func(t *testing.T, h interface {
		Fetch(context.Context, *crawl.Request) (*crawl.Response, error)
	}, host string) string {
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: "http://" + host + ":" + port})
		return reason(err)
	}

	t.Run("many requests ask once", func(t *testing.T) {
		resolver, asked := counted(known)
		h := newHandler(t, handlers.Options{Resolver: resolver})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if got := fetch(t, h, "a.example"); got != "" {
					t.Error(got)
				}
			})
		}
		all.Wait()
		if n := asked.Load(); n > 6 { // for IPv4 and for IPv6, maybe more than once
			t.Errorf("the resolver was asked %d times", n)
		}
	})
	t.Run("failures are not kept", func(t *testing.T) {
		resolver, asked := counted(nil)
		h := newHandler(t, handlers.Options{Resolver: resolver})
		for n := range int32(3) {
			before := asked.Load()
			if got := fetch(t, h, "nobody.example"); got != "dns" || asked.Load() == before {
				t.Errorf("request %d: %q, asked %d times", n, got, asked.Load()-before)
			}
		}
	})
	t.Run("nothing is kept where that is off", func(t *testing.T) {
		resolver, asked := counted(known)
		h := newHandler(t, handlers.Options{Resolver: resolver}).ForJob(with(t, map[string]any{"DNSCACHE_ENABLED": false}))
		for range 3 {
			before := asked.Load()
			if got := fetch(t, h, "a.example"); got != "" || asked.Load() == before {
				t.Errorf("%q, asked %d times", got, asked.Load()-before)
			}
		}
	})
	t.Run("the guard sees what is kept", func(t *testing.T) {
		resolver, _ := counted(known)
		var forbidden atomic.Bool
		h := newHandler(t, handlers.Options{Resolver: resolver, Guard: func(netip.AddrPort) error {
			if forbidden.Load() {
				return errors.New("not there")
			}
			return nil
		}})
		if got := fetch(t, h, "a.example"); got != "" {
			t.Fatal(got)
		}
		h.Close()
		forbidden.Store(true)
		if got := fetch(t, h, "a.example"); got != "forbidden-address" {
			t.Errorf("got %q", got)
		}
	})
}

func TestTheNextAddressIsTriedWhenOneIsDead(t *testing.T) {
	server := handlertest.Serve(t, handlertest.Sends("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	resolver, _ := counted(map[string][]string{
		"two.example":    {"127.0.0.9", "127.0.0.1"},
		"both.example":   {"::1", "127.0.0.1"},
		"nobody.example": {"127.0.0.9", "::1"},
	})
	h := newHandler(t, handlers.Options{Resolver: resolver})
	for host, want := range map[string]string{"two.example": "", "both.example": "", "nobody.example": "connect"} {
		if _, err := h.Fetch(t.Context(), &crawl.Request{URL: "http://" + host + ":" + port}); reason(err) != want {
			t.Errorf("%s: %v, want %q", host, err, want)
		}
	}
}
