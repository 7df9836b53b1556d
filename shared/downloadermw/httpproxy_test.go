package downloadermw_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/stats"
)

// proxied makes an HTTPProxy in an environment.
func proxied(t *testing.T, values map[string]any, env httpproxy.Config) downloader.Middleware {
	t.Helper()
	mw, err := downloadermw.HTTPProxy(with(t, values), downloadermw.HTTPProxyOptions{}, new(stats.Collector), noLog(), downloadermw.NewProxies(env, time.Now))
	if err != nil {
		t.Fatal(err)
	}
	return mw
}

// way is the proxy of a request that was sent, and what it is told.
func way(resp *crawl.Response, err error) string {
	if err != nil {
		return outcome(resp, err)
	}
	return strings.TrimSpace(resp.Request.Proxy + " " + strings.Join(resp.Request.Headers["Proxy-Authorization"], ","))
}

func TestTheProxyOfARequest(t *testing.T) {
	const auth = " Basic dTpw" // u:p
	env := httpproxy.Config{HTTPProxy: "http://u:p@env.example:3128", HTTPSProxy: "env.example:3129", NoProxy: "free.example,10.0.0.0/8"}
	set := func(proxies map[string]any) map[string]any { return map[string]any{"HTTPPROXY_PROXIES": proxies} }
	tests := []struct {
		name     string
		settings map[string]any
		env      httpproxy.Config
		url      string
		own      string
		header   string // a Proxy-Authorization that is there
		want     string
	}{
		{name: "none", url: "http://example.com/"},
		{name: "the environment's for http", env: env, url: "http://example.com/", want: "http://env.example:3128" + auth},
		{name: "the environment's for https, without a scheme", env: env, url: "https://example.com/", want: "http://env.example:3129"},
		{name: "a host that needs none", env: env, url: "http://www.free.example/"},
		{name: "an address that needs none", env: env, url: "http://10.1.2.3/"},
		{name: "this machine needs none", env: env, url: "http://localhost/"},
		{name: "switched off", settings: map[string]any{"HTTPPROXY_ENABLED": false}, env: env, url: "http://example.com/"},
		{name: "the settings'", settings: set(map[string]any{"http": "https://u:p@set.example"}), url: "http://example.com/", want: "https://set.example" + auth},
		{name: "the settings' in place of the environment's", settings: set(map[string]any{"http": "set.example"}), env: env, url: "https://example.com/"},
		{name: "the settings' hosts that need none", settings: set(map[string]any{"http": "set.example", "no": "example.com"}), url: "http://www.example.com/"},
		{name: "socks keeps its password", settings: set(map[string]any{"http": "socks5h://u:p@set.example:1080"}), url: "http://example.com/", want: "socks5h://u:p@set.example:1080"},
		{name: "the request's own", env: env, url: "http://example.com/", own: "http://u:p@own.example:8080", want: "http://own.example:8080" + auth},
		{name: "the request's own for a host that needs none", env: env, url: "http://free.example/", own: "own.example:8080", want: "http://own.example:8080"},
		{name: "the request's none", env: env, url: "http://example.com/", own: crawl.NoProxy, want: crawl.NoProxy},
		{name: "a file needs none", env: env, url: "file:///tmp/a"},
		{name: "a header is for the request's own", env: env, url: "http://example.com/", own: "own.example:8080", header: "Basic x", want: "http://own.example:8080 Basic x"},
		{name: "and not for another", env: env, url: "https://example.com/", header: "Basic x", want: "http://env.example:3129"},
		{name: "nor for none", url: "http://example.com/", header: "Basic x"},
		{name: "nor for none by word", url: "http://example.com/", own: crawl.NoProxy, header: "Basic x", want: crawl.NoProxy},
		{name: "escapes", url: "http://example.com/", own: "http://a%40b:%3Ap@own.example", want: "http://own.example Basic YUBiOjpw"},
		{name: "Latin letters", url: "http://example.com/", own: "http://ü:é@own.example", want: "http://own.example Basic /Drp"},
		{name: "Latin letters in UTF-8", settings: map[string]any{"HTTPPROXY_AUTH_ENCODING": "utf-8"}, url: "http://example.com/", own: "http://ü:é@own.example", want: "http://own.example Basic w7w6w6k="},
		{name: "no URL", url: "http://example.com/", own: "http://[", want: "failure bad-request"},
		{name: "no host", url: "http://example.com/", own: "http://", want: "failure bad-request"},
		{name: "no such scheme", url: "http://example.com/", own: "ftp://own.example", want: "failure bad-request"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := &crawl.Request{URL: test.url, Options: crawl.Options{Proxy: test.own}}
			if test.header != "" {
				req.SetHeader("Proxy-Authorization", test.header)
			}
			if got := way(proxied(t, test.settings, test.env)(answer(200, nil, "")).Fetch(t.Context(), req)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestProxiesThatCannotBe(t *testing.T) {
	tests := []struct {
		name     string
		settings map[string]any
		env      httpproxy.Config
		want     string
	}{
		{name: "in the settings", settings: map[string]any{"HTTPPROXY_PROXIES": map[string]any{"https": "ftp://u:secret@p.example"}}, want: `HTTPPROXY_PROXIES, https: a proxy cannot have the scheme "ftp"; write it as in http://user:password@proxy.example:3128`},
		{name: "in the list", settings: map[string]any{"ROTATING_PROXY_LIST": "p.example, http://u:secret@["}, want: "ROTATING_PROXY_LIST: the proxy is no URL; write it as in"},
		{name: "in the environment", env: httpproxy.Config{HTTPProxy: "http://u:secret@"}, want: "the environment's http_proxy: the proxy is no URL; write it as in"},
		{name: "a password that is not Latin", settings: map[string]any{"HTTPPROXY_PROXIES": map[string]any{"http": "http://u:secret漢@p.example"}}, want: "the proxy p.example: user or password has a character that ISO-8859-1 has not"},
		{name: "an escape that is none", settings: map[string]any{"HTTPPROXY_PROXIES": map[string]any{"http": "http://u:secret%zz@p.example"}}, want: "write %25 for it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := downloadermw.HTTPProxy(with(t, test.settings), downloadermw.HTTPProxyOptions{}, new(stats.Collector), noLog(), downloadermw.NewProxies(test.env, time.Now))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestEachHopOfARedirectChoosesItsProxy(t *testing.T) {
	values := map[string]any{"HTTPPROXY_PROXIES": map[string]any{"http": "http://u:p@proxy.example:3128"}}
	for _, test := range []struct{ name, own, want string }{
		{"chosen for http alone", "", "http://proxy.example:3128 Basic dTpw|"},
		{"the request's own", "http://v:q@own.example", "http://own.example Basic djpx|http://own.example Basic djpx"},
		{"none", crawl.NoProxy, "none|none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ways []string
			server := downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
				ways = append(ways, way(&crawl.Response{Request: req}, nil))
				if req.URL == "http://example.com/" {
					return answer(302, http.Header{"Location": {"https://example.com/"}}, "").Fetch(ctx, req)
				}
				return answer(200, nil, "end").Fetch(ctx, req)
			})
			h := downloader.Chain(server,
				downloadermw.Redirect(with(t, nil), downloadermw.RedirectOptions{}, noLog()), proxied(t, values, httpproxy.Config{}))
			_, end := follow(t, h, &crawl.Request{URL: "http://example.com/", Options: crawl.Options{Proxy: test.own}})
			if got := strings.Join(ways, "|"); end != "response end" || got != test.want {
				t.Errorf("%s by %s, want %s", end, got, test.want)
			}
		})
	}
}

func TestARetryHasThePasswordOfItsProxyAgain(t *testing.T) {
	h := downloader.Chain(answer(503, nil, ""),
		downloadermw.Retry(with(t, nil), new(stats.Collector), noLog(), atNoon),
		proxied(t, nil, httpproxy.Config{HTTPProxy: "http://u:p@proxy.example"}))
	asked := &crawl.Request{URL: "http://example.com/"}
	for attempt := range 3 {
		req := asked.Clone()
		req.RetryTimes = attempt
		h.Fetch(t.Context(), req)
		if got := way(&crawl.Response{Request: req}, nil); got != "http://proxy.example Basic dTpw" {
			t.Errorf("attempt %d goes by %s", attempt, got)
		}
	}
}

func TestProxiesAreLoggedWithoutPasswords(t *testing.T) {
	var logged bytes.Buffer
	s := with(t, map[string]any{"ROTATING_PROXY_LIST": "http://user:secret@a.example:3128,socks5://user:secret@b.example:1080"})
	mw, err := downloadermw.HTTPProxy(s, downloadermw.HTTPProxyOptions{}, new(stats.Collector), logTo(&logged), downloadermw.NewProxies(httpproxy.Config{}, atNoon))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		h := mw(answer(200, nil, ""))
		if n > 0 {
			h = mw(fail(&crawl.Failure{Reason: "proxy", Message: "no"}))
		}
		h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})
	}
	got := logged.String()
	if strings.Contains(got, "secret") || strings.Contains(got, "user") || !strings.Contains(got, "proxy=a.example:3128") || !strings.Contains(got, "level=WARN") {
		t.Errorf("logged %s", got)
	}
}
