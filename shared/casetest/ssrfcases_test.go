package casetest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/handlers/dnstest"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/spider"
)

// A watchedGuard is the guard as it stands in the cloud, but for one address,
// and notes the addresses that packets go to.
type watchedGuard struct {
	handlers.Guard
	mu      sync.Mutex
	packets []netip.Addr
}

// public is what stands for the public internet: an address of the loopback
// network that no case is about.
var public = netip.MustParseAddr("127.0.0.2")

func guarded() *watchedGuard {
	return &watchedGuard{Guard: handlers.Guard{
		Allow:  []netip.Prefix{netip.PrefixFrom(public, public.BitLen())},
		Forbid: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9001")},
	}}
}

func (g *watchedGuard) check(addr netip.AddrPort) error {
	err := g.Check(addr)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil {
		g.packets = append(g.packets, addr.Addr())
		if addr.Addr() != public {
			return fmt.Errorf("the test sends no packet to %s", addr)
		}
	}
	return err
}

// inside are the packets that went where none may go.
func (g *watchedGuard) inside() []netip.Addr {
	return slices.DeleteFunc(slices.Clone(g.packets), func(a netip.Addr) bool { return a == public })
}

// publicServer serves on the public address.
func publicServer(t *testing.T, site http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", public.String()+":0")
	if err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skipf("NOT TESTED: this machine has one loopback address only: %v", err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: site}}
	// While a connection is open, virtual time stands still.
	server.Config.SetKeepAlivesEnabled(false)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// ssrf asks for addresses inside: as they are written, or by each of the ways
// that lead from a page to another.
func ssrf(t *testing.T, c reported) {
	var in struct {
		URLs     []string
		Resolver map[string]string
		Vectors  []string
		Targets  []string
	}
	var want struct {
		Blocked string
		Packets int
	}
	decode(t, c, &in, &want)
	if want.Blocked != "all" {
		t.Fatalf("blocked: %q, which is neither all nor known", want.Blocked)
	}
	if in.Resolver != nil {
		dnstest.Resolve(t, func(name string) []string {
			if ip, ok := in.Resolver[name]; ok {
				return []string{ip}
			}
			return nil
		})
	}
	for _, url := range in.URLs {
		g := guarded()
		got := scene{network: &network{guard: g.check}, requests: []*crawl.Request{{URL: url}}}.crawl(t)
		checkBlocked(t, url, g, got, want.Packets)
		if heard := got.only(t); heard.outcome() != handlers.ReasonForbiddenAddress {
			t.Errorf("%s: %s, want %s", url, heard.outcome(), handlers.ReasonForbiddenAddress)
		}
	}
	for _, vector := range in.Vectors {
		t.Run(vector, func(t *testing.T) {
			if vector == "media_pipeline" {
				t.Skip("NOT TESTED: there is no pipeline of files and images yet; with it " + feedsAndMedia + " has to run this vector")
			}
			for _, target := range in.Targets {
				g := guarded()
				checkBlocked(t, target, g, lead(t, vector, target, g), want.Packets)
			}
		})
	}
	if in.URLs == nil && in.Vectors == nil {
		t.Error("the case asks for nothing")
	}
}

// checkBlocked looks whether an address was refused, once, before any packet.
func checkBlocked(t *testing.T, url string, g *watchedGuard, got crawled, packets int) {
	t.Helper()
	if sent := g.inside(); len(sent) != packets {
		t.Errorf("%s: packets went to %v, want %d", url, sent, packets)
	}
	if n := got.Stats["downloader/exception_type_count/"+handlers.ReasonForbiddenAddress]; n == 0 || got.Stats["retry/count"] != 0 {
		t.Errorf("%s: refused %d times, %d retries; want a refusal and no retry: %v\n%s", url, n, got.Stats["retry/count"], got.Stats, got.Log)
	}
}

// lead crawls a public site that leads to a target.
func lead(t *testing.T, vector, target string, g *watchedGuard) crawled {
	t.Helper()
	var site http.Handler
	s := scene{network: &network{guard: g.check}}
	start := ""
	switch vector {
	case "redirect":
		start, site = "/", http.RedirectHandler(target, http.StatusFound)
	case "meta_refresh":
		start, site = "/", scripted{
			Headers: map[string]string{"Content-Type": "text/html"},
			Body:    fmt.Sprintf(`<meta http-equiv="refresh" content="0; url=%s">`, target),
		}
	case "robots_sitemap":
		start, site = "/robots.txt", scripted{Body: "Sitemap: " + target + "\n"}
	case "sitemap_loc":
		start, site = "/sitemap.xml", scripted{Body: "<urlset><url><loc>" + target + "</loc></url></urlset>"}
	case "spider_arg":
		s.args = map[string]string{"url": target}
		return s.crawl(t)
	default:
		t.Fatalf("nobody knows the way %s", vector)
	}
	url := publicServer(t, site)
	if strings.Contains(vector, "sitemap") {
		s.legs = []spider.Leg{legs.Sitemap{SitemapURLs: []string{url + start}}.Leg()}
	} else {
		s.requests = []*crawl.Request{{URL: url + start}}
	}
	return s.crawl(t)
}

// TestSEC03 has names lead inside: at once, besides a public address, and at
// the second lookup.
func TestSEC03(t *testing.T) {
	const metadata, runtimeAPI = "169.254.169.254", "127.0.0.1"
	t.Run("a name of the inside", func(t *testing.T) {
		dnstest.Resolve(t, dnstest.Names(map[string][]string{
			"metadata.example": {metadata}, "mapped.example": {"::ffff:" + metadata}, "translated.example": {"64:ff9b::a9fe:a9fe"},
			"many.example": {"10.0.0.1", "fd00:ec2::254", runtimeAPI}, "six.example": {"::1"},
		}))
		for _, host := range []string{"metadata.example", "mapped.example", "translated.example", "many.example", "six.example"} {
			for _, scheme := range []string{"http", "https"} {
				g := guarded()
				url := scheme + "://" + host + "/"
				checkBlocked(t, url, g, scene{network: &network{guard: g.check}, requests: []*crawl.Request{{URL: url}}}.crawl(t), 0)
			}
		}
	})
	t.Run("a name that is bound anew", func(t *testing.T) {
		url := publicServer(t, scripted{Headers: map[string]string{"Connection": "close"}, Body: "page"})
		_, port, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
		g := guarded()
		dnstest.Resolve(t, func(string) []string {
			g.mu.Lock()
			defer g.mu.Unlock()
			if len(g.packets) == 0 {
				return []string{public.String()}
			}
			return []string{metadata, runtimeAPI, "::1"}
		})
		s := scene{network: &network{guard: g.check}}
		for n := range 5 {
			s.requests = append(s.requests, &crawl.Request{URL: fmt.Sprintf("http://rebinding.example:%s/%d", port, n)})
		}
		got := s.crawl(t)
		if sent := g.inside(); len(sent) > 0 || len(g.packets) == 0 {
			t.Errorf("packets went to %v; told %+v\n%s", g.packets, got.told, got.Log)
		}
		for _, heard := range got.told {
			if o := heard.outcome(); o != "page" && o != handlers.ReasonForbiddenAddress {
				t.Errorf("%s: %s", heard.URL, o)
			}
		}
	})
}
