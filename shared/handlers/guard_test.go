package handlers_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/dnstest"
)

func networks(t testing.TB, list string) []netip.Prefix {
	t.Helper()
	n, err := handlers.ParseNetworks(list)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func port80(ip string) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(ip), 80) }

func TestI6OnlyAddressesOfThePublicInternetPass(t *testing.T) {
	tests := []struct {
		kind      string // what the error calls it; "" passes
		addresses string
	}{
		{"", "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0"},
		{"", "169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255"},
		{"", "2606:4700:4700::1111 2001:4860:4860::8888 2001:200:: 2a00:1450:4001::1 2003:: 2620:4f:8001:: 3ffe::"},
		{"", "::ffff:8.8.8.8 64:ff9b::8.8.8.8"},
		{"this network", "0.0.0.0 0.1.2.3 0.255.255.255 ::ffff:0.0.0.0"},
		{"private", "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 ::ffff:10.0.0.1 64:ff9b::10.0.0.1"},
		{"shared by carriers", "100.64.0.0 100.127.255.255"},
		{"loopback", "127.0.0.0 127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::127.0.0.1 64:ff9b::7f00:1"},
		{"link-local", "169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe fe80::1 fe80::1%eth0 febf::1"},
		{"protocol assignments", "192.0.0.0 192.0.0.170 192.0.0.255 2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1 2001:20::1 2001:1ff::1"},
		{"documentation", "192.0.2.1 198.51.100.1 203.0.113.255 2001:db8::1 3fff::1"},
		{"AS112", "192.31.196.1 192.175.48.1 2620:4f:8000::1"},
		{"multicast tunneling", "192.52.193.1"},
		{"6to4", "192.88.99.1 2002:a9fe:a9fe::1 2002:808:808::1"},
		{"benchmarking", "198.18.0.0 198.19.255.255"},
		{"multicast", "224.0.0.1 239.255.255.255 ff02::1 ff0e::1"},
		{"reserved", "240.0.0.0 255.255.255.254"},
		{"broadcast", "255.255.255.255"},
		{"unspecified", "::"},
		{"local translation", "64:ff9b:1::1 64:ff9b:1:ffff::8.8.8.8"},
		{"discard", "100::1"},
		{"unique local", "fc00::1 fd00:ec2::254 fdff::1"},
		{"site-local", "fec0::1"},
		{"outside of IPv6's global unicast", "::2 ::127.0.0.1 ::a9fe:a9fe 64:ff9b:0:0:0:1::1 100:0:0:1::1 200::1 400::1 4000::1 5f00::1 fe00::1"},
	}
	guard := new(handlers.Guard)
	for _, test := range tests {
		for address := range strings.FieldsSeq(test.addresses) {
			err := guard.Check(port80(address))
			switch {
			case test.kind == "" && err != nil:
				t.Errorf("%s: %v, want it to pass", address, err)
			case test.kind != "" && (err == nil || !strings.Contains(err.Error(), test.kind)):
				t.Errorf("%s: error %v, want one of %q", address, err, test.kind)
			}
		}
	}
	if guard.Check(netip.AddrPort{}) == nil {
		t.Error("no address at all passes")
	}
}

func TestI6ExceptionsAndWhatHasNone(t *testing.T) {
	api := netip.MustParseAddrPort("127.0.0.1:9001")
	metadata := netip.MustParseAddrPort("169.254.169.254:80")
	guard := &handlers.Guard{
		Allow:  networks(t, "127.0.0.0/8,::1/128,0.0.0.0/8,::/128,169.254.0.0/16"),
		Forbid: []netip.AddrPort{api, metadata},
	}
	tests := []struct {
		address string
		passes  bool
	}{
		{"127.0.0.1:80", true},
		{"127.9.9.9:80", true},
		{"[::1]:80", true},
		{"[::1%lo]:80", true},
		{"[::ffff:127.0.0.1]:80", true},
		{"[64:ff9b::7f00:1]:80", true},
		{"169.254.169.254:81", true},
		{"8.8.8.8:9001", true},
		{"10.0.0.1:80", false},
		{"[fe80::1]:80", false},
		{"127.0.0.1:9001", false},
		{"127.0.0.2:9001", false},
		{"0.0.0.0:9001", false},
		{"[::]:9001", false},
		{"[::1]:9001", false},
		{"[::1%lo]:9001", false},
		{"[::ffff:127.0.0.1]:9001", false},
		{"[64:ff9b::7f00:1]:9001", false},
		{"169.254.169.254:80", false},
		{"[::ffff:169.254.169.254]:80", false},
		{"[64:ff9b::a9fe:a9fe]:80", false},
	}
	for _, test := range tests {
		if err := guard.Check(netip.MustParseAddrPort(test.address)); (err == nil) != test.passes {
			t.Errorf("%s: error %v, want it to pass: %v", test.address, err, test.passes)
		}
	}
}

func TestParseNetworks(t *testing.T) {
	tests := []struct {
		list, want string // want is the networks, or "error"
	}{
		{"", "[]"},
		{" , ", "[]"},
		{"127.0.0.0/8,::1/128", "[127.0.0.0/8 ::1/128]"},
		{" 10.1.2.3/8 , ::1 ,192.168.1.7", "[10.0.0.0/8 ::1/128 192.168.1.7/32]"},
		{"::ffff:127.0.0.1", "[127.0.0.1/32]"},
		{"::ffff:127.0.0.0/104", "error"},
		{"fe80::1%eth0", "error"},
		{"fe80::%eth0/10", "error"},
		{"localhost", "error"},
		{"10.0.0.0/33", "error"},
		{"127.0.0.1:80", "error"},
	}
	for _, test := range tests {
		n, err := handlers.ParseNetworks(test.list)
		got := fmt.Sprint(n)
		if err != nil {
			got = "error"
		}
		if got != test.want {
			t.Errorf("%q: %s, %v, want %s", test.list, got, err, test.want)
		}
	}
}

func TestI6NamesAreJudgedByWhatTheyResolveTo(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	dnstest.Resolve(t, dnstest.Names(map[string][]string{
		"inside.example":   {"127.0.0.1"},
		"metadata.example": {"169.254.169.254"},
		"mapped.example":   {"::ffff:127.0.0.1"},
		"many.example":     {"10.0.0.1", "fd00:ec2::254", "127.0.0.1"},
	}))
	h := newHandler(t, handlers.Options{Guard: new(handlers.Guard).Check})
	for _, host := range []string{"inside.example", "metadata.example", "mapped.example", "many.example", "localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "0x7f000001", "0"} {
		for _, scheme := range []string{"http", "https"} {
			_, err := h.Fetch(t.Context(), &crawl.Request{URL: scheme + "://" + host + ":" + port + "/"})
			if reason(err) != "forbidden-address" {
				t.Errorf("%s://%s: %s (%v), want forbidden-address", scheme, host, reason(err), err)
			}
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}

	// The same name is reached where its address is allowed, so that the
	// names above did lead to the server.
	allowed := newHandler(t, handlers.Options{Guard: (&handlers.Guard{Allow: networks(t, "127.0.0.0/8")}).Check})
	for _, host := range []string{"inside.example", "mapped.example", "many.example"} {
		if _, err := allowed.Fetch(t.Context(), &crawl.Request{URL: "http://" + host + ":" + port + "/"}); err != nil {
			t.Errorf("%s, allowed: %v", host, err)
		}
	}
}

func TestI6ARedirectLeadsNowhereElse(t *testing.T) {
	targets := []string{
		"http://169.254.169.254/latest/meta-data/", "http://[::ffff:a9fe:a9fe]/", "http://2852039166/", "http://10.0.0.1/",
		"http://127.0.0.1:9001/2018-06-01/runtime/invocation/next", "http://0.0.0.0:9001/", "http://[::1]:9001/",
	}
	var target atomic.Pointer[string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, *target.Load(), http.StatusFound)
	}))
	defer server.Close()
	guard := &handlers.Guard{
		Allow:  networks(t, "127.0.0.0/8,0.0.0.0/8,::1"),
		Forbid: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9001")},
	}
	var h downloader.Handler = newHandler(t, handlers.Options{Guard: guard.Check})
	h = downloader.Chain(h, downloadermw.Redirect(with(t, nil), downloadermw.RedirectOptions{}, slog.New(slog.DiscardHandler)))
	for _, to := range targets {
		target.Store(&to)
		_, err := h.Fetch(t.Context(), &crawl.Request{URL: server.URL})
		var again *crawl.Instead
		if !errors.As(err, &again) {
			t.Fatalf("the redirect to %s: %v, want another request", to, err)
		}
		if _, err = h.Fetch(t.Context(), again.Request); reason(err) != "forbidden-address" {
			t.Errorf("redirected to %s: %s (%v), want forbidden-address", to, reason(err), err)
		}
	}
}

// TestI6NoProxyLeadsRoundTheGuard runs itself in a process whose environment
// names a proxy: net/http reads it once a process.
func TestI6NoProxyLeadsRoundTheGuard(t *testing.T) {
	const child = "SKITTER_TEST_BEHIND_A_PROXY"
	if os.Getenv(child) != "" {
		h := newHandler(t, handlers.Options{Guard: (&handlers.Guard{Allow: networks(t, "127.0.0.0/8")}).Check})
		for _, url := range []string{"http://169.254.169.254/latest/meta-data/", "https://169.254.169.254/"} {
			if _, err := h.Fetch(t.Context(), &crawl.Request{URL: url}); reason(err) != "forbidden-address" {
				t.Errorf("%s: %s (%v), want forbidden-address", url, reason(err), err)
			}
		}
		return
	}
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=30s")
	cmd.Env = append(os.Environ(), child+"=1", "NO_PROXY=", "no_proxy=")
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		cmd.Env = append(cmd.Env, name+"="+proxy.URL)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

func TestI6WithoutAGuardOneMachineIsCrawled(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello")) }))
	defer server.Close()
	resp, err := newHandler(t, handlers.Options{}).Fetch(t.Context(), &crawl.Request{URL: server.URL})
	if err != nil || string(resp.Body) != "hello" {
		t.Errorf("got %+v, %v", resp, err)
	}
}
