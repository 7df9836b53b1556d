package casetest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
)

// An asking is the request of a case.
type asking struct {
	Method, URL string
	Headers     map[string]string
	Body        string
}

func (a asking) request() *crawl.Request {
	req := ofURL(a.Method, a.URL, a.Headers)
	req.Body = []byte(a.Body)
	return req
}

// redirectMany has a server redirect to one address after another, and looks at
// what is asked for next.
func redirectMany(t *testing.T, c reported) {
	var in struct {
		Request      asking
		Locations    []string
		LocationsB64 [][]byte `json:"locations_b64"`
		Status       int
		Hook         string
	}
	var want struct {
		Authorization, Cookie, Followed []any
		Targets, URLs                   []string
	}
	decode(t, c, &in, &want)
	for _, raw := range in.LocationsB64 {
		in.Locations = append(in.Locations, string(raw))
	}
	for i, location := range in.Locations {
		for _, way := range waysToRedirect(t, in.Hook) {
			n := &network{site: inTurn(
				scripted{Status: in.Status, Headers: map[string]string{"Location": location}, Body: "moved"}, scripted{Body: "end"})}
			got := scene{network: n, requests: []*crawl.Request{in.Request.request()}, innermost: way}.crawl(t)
			followed := len(n.asked) == 2
			if want.Followed == nil && !followed {
				t.Fatalf("%q: asked for %q, want a second request\n%s", location, n.urls(), got.Log)
			}
			if want.Followed != nil {
				// What is not followed goes on as the response that it is.
				heard := got.only(t)
				if followed != want.Followed[i] || !followed && heard.Status != in.Status {
					t.Errorf("%q: followed %v, want %v; told %+v", location, followed, want.Followed[i], heard)
				}
				continue
			}
			next := n.asked[1]
			check := func(what string, got any, want []any) {
				if want != nil && !oneOf(got, want[i]) {
					t.Errorf("%q: %s: %v, want %v", location, what, got, want[i])
				}
			}
			check("Authorization goes along", next.Header["Authorization"] != nil, want.Authorization)
			check("Cookie goes along", next.Header["Cookie"] != nil, want.Cookie)
			if want.Targets != nil && target(t, next.URL) != want.Targets[i] {
				t.Errorf("%q: asked for %s, want %s", location, target(t, next.URL), want.Targets[i])
			}
			if want.URLs != nil {
				checkAddress(t, location, got.only(t), next, want.URLs[i])
			}
		}
	}
}

// checkAddress looks at the address of the request that a page answers: it has
// the fragment, which is not sent.
func checkAddress(t *testing.T, location string, heard telling, sent ask, want string) {
	t.Helper()
	bare, _, _ := strings.Cut(want, "#")
	if heard.Request.URL != want || sent.URL != bare {
		t.Errorf("%q: asked for %s, sent %s; want %s", location, heard.Request.URL, sent.URL, want)
	}
}

// target is what stands on the request line for an address.
func target(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.EscapedPath()
}

// waysToRedirect are what stands nearest to the web, where a case asks for
// hooks of one's own: one that looks on, and one that makes the next request by
// itself, with all that the first had.
func waysToRedirect(t *testing.T, hook string) [][]downloader.Middleware {
	t.Helper()
	switch hook {
	case "":
		return [][]downloader.Middleware{nil}
	case "custom":
	default:
		t.Fatalf("no hook is named %s", hook)
	}
	looksOn := downloader.Hooks{ProcessResponse: func(_ context.Context, _ *crawl.Request, resp *crawl.Response) (*crawl.Response, error) {
		return resp, nil
	}}
	builds := downloader.Hooks{ProcessResponse: func(_ context.Context, req *crawl.Request, resp *crawl.Response) (*crawl.Response, error) {
		if resp.Status != http.StatusFound {
			return resp, nil
		}
		next := req.Clone()
		next.URL = resp.Headers.Get("Location")
		return nil, &crawl.Instead{Request: next, Reason: "one's own"}
	}}
	return [][]downloader.Middleware{{looksOn.Middleware()}, {builds.Middleware()}}
}

// TestRED04 crosses methods and statuses. Where the file has no such case, the
// table is that of the Fetch standard (HTTP-redirect fetch), which browsers and
// Scrapy follow.
func TestRED04(t *testing.T) {
	t.Run("the file's", func(t *testing.T) { redirectMatrix(t, caseNamed(t, "RED-04")) })
	const get, same = "GET", ""
	for method, next := range map[string]map[int]string{
		"GET":     {301: same, 302: same, 303: same, 307: same, 308: same},
		"HEAD":    {301: same, 302: same, 303: same, 307: same, 308: same},
		"POST":    {301: get, 302: get, 303: get, 307: same, 308: same},
		"PUT":     {301: same, 302: same, 303: get, 307: same, 308: same},
		"DELETE":  {301: same, 302: same, 303: get, 307: same, 308: same},
		"OPTIONS": {301: same, 302: same, 303: get, 307: same, 308: same},
	} {
		for status, becomes := range next {
			if becomes == same {
				becomes = method
			}
			checkRedirect(t, method, status, becomes)
		}
	}
}

// redirectMatrix reads the matrix of a case: for each method the method that
// each status leads to.
func redirectMatrix(t *testing.T, c reported) {
	var in struct {
		Methods  []string
		Statuses []int
		Body     string
	}
	var want map[string]map[string]string
	decode(t, c, &in, &want)
	for _, method := range in.Methods {
		for _, status := range in.Statuses {
			checkRedirect(t, method, status, want[method][strconv.Itoa(status)])
		}
	}
}

// checkRedirect redirects a request with a body by a status.
func checkRedirect(t *testing.T, method string, status int, want string) {
	t.Helper()
	req := ofURL(method, "http://example.com/a", map[string]string{"Content-Type": "text/x", "X-Kept": "1"})
	body := ""
	if method != "GET" && method != "HEAD" {
		body = "a=1"
	}
	req.Body = []byte(body)
	n := &network{site: inTurn(scripted{Status: status, Headers: map[string]string{"Location": "/b"}}, scripted{Body: "end"})}
	scene{network: n, requests: []*crawl.Request{req}}.crawl(t)
	if len(n.asked) != 2 {
		t.Errorf("%s and %d: %d requests, want 2", method, status, len(n.asked))
		return
	}
	next := n.asked[1]
	if want != method {
		body = ""
	}
	if next.Method != want || next.Body != body || (next.Header["Content-Type"] != nil) != (want == method) || next.Header["X-Kept"] == nil {
		t.Errorf("%s and %d: then %s with the body %q and %v; want %s with %q", method, status, next.Method, next.Body, next.Header, want, body)
	}
}

// redirectChain follows redirects from one address to the next.
func redirectChain(t *testing.T, c reported) {
	var in struct {
		Request  asking
		Hops     []string
		Server   any // a script, or "pingpong"
		Settings struct {
			AllowedDomains   []string `json:"allowed_domains"`
			Proxies          map[string]string
			RedirectMaxTimes *int `json:"REDIRECT_MAX_TIMES"`
		}
	}
	var want struct {
		Authorization []bool
		FetchedHosts  []string `json:"fetched_hosts"`
		Stat          string
		MaxFetches    int `json:"max_fetches"`
		Outcome       string
		Job           string
		Requests      int
		CallbackBody  *string `json:"callback_body"`
		Hop2Proxy     any     `json:"hop2_proxy"`
		OriginSaw     *bool   `json:"origin_saw_proxy_auth"`
	}
	decode(t, c, &in, &want)
	s := scene{network: &network{}, requests: []*crawl.Request{in.Request.request()}, allowed: in.Settings.AllowedDomains, settings: map[string]string{}}
	if in.Settings.RedirectMaxTimes != nil {
		s.settings["REDIRECT_MAX_TIMES"] = strconv.Itoa(*in.Settings.RedirectMaxTimes)
	}
	if in.Settings.Proxies != nil {
		proxies, err := json.Marshal(in.Settings.Proxies)
		if err != nil {
			t.Fatal(err)
		}
		s.settings["HTTPPROXY_PROXIES"] = string(proxies)
	}
	s.network.site = chainSite(t, c, in.Request.URL, in.Hops, in.Server)
	got := s.crawl(t)
	asked := s.network.asked

	for i, goes := range want.Authorization {
		if i+1 >= len(asked) || (asked[i+1].Header["Authorization"] != nil) != goes {
			t.Errorf("hop %d: %+v; want Authorization: %v", i, asked, goes)
		}
	}
	if want.FetchedHosts != nil {
		var hosts []string
		for _, dialled := range s.network.dials {
			host, _, _ := strings.Cut(dialled, ":")
			hosts = append(hosts, host)
		}
		slices.Sort(hosts)
		if diff := cmp.Diff(want.FetchedHosts, slices.Compact(hosts)); diff != "" {
			t.Errorf("hosts (-want +got):\n%s", diff)
		}
	}
	if want.Stat != "" && got.Stats[want.Stat] == 0 {
		t.Errorf("the stat %s is not there: %v", want.Stat, got.Stats)
	}
	if want.MaxFetches > 0 && len(asked) > want.MaxFetches {
		t.Errorf("%d fetches, want %d at most", len(asked), want.MaxFetches)
	}
	if want.Outcome != "" {
		checkEnd(t, want.Outcome, got)
	}
	if want.Job != "" && string(got.Job.State) != want.Job {
		t.Errorf("the job is %s, want %s", got.Job.State, want.Job)
	}
	if want.Requests > 0 && len(asked) != want.Requests {
		t.Errorf("%d requests, want %d", len(asked), want.Requests)
	}
	if want.CallbackBody != nil && got.only(t).outcome() != *want.CallbackBody {
		t.Errorf("%s, want %q", got.only(t).outcome(), *want.CallbackBody)
	}
	if want.OriginSaw != nil {
		checkProxies(t, s.network, got, want.Hop2Proxy, *want.OriginSaw)
	}
}

// chainSite answers as a case says: by a list of addresses, each of which leads
// to the next; with a script; or with two pages that send to each other.
func chainSite(t *testing.T, c reported, first string, hops []string, server any) http.Handler {
	t.Helper()
	switch server := server.(type) {
	case nil:
		list := append([]string{first}, hops...)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			scheme := "http://"
			if r.TLS != nil {
				scheme = "https://"
			}
			at := slices.Index(list, scheme+r.Host+r.URL.RequestURI())
			if strings.HasPrefix(r.RequestURI, "http") { // as a proxy is asked
				at = slices.Index(list, r.RequestURI)
			}
			if at < 0 || at+1 == len(list) {
				scripted{Body: "end"}.ServeHTTP(w, r)
				return
			}
			scripted{Status: 302, Headers: map[string]string{"Location": list[at+1]}}.ServeHTTP(w, r)
		})
	case string:
		if server != "pingpong" {
			t.Fatalf("no server is named %s", server)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := map[string]string{"/a": "/b", "/b": "/a"}[r.URL.Path]
			scripted{Status: 302, Headers: map[string]string{"Location": to}}.ServeHTTP(w, r)
		})
	}
	var script struct{ Server []conditional }
	if err := json.Unmarshal(c.Input, &script); err != nil {
		t.Fatal(err)
	}
	return answerByCookie(script.Server)
}

// A conditional answer is for requests with a cookie, if it names one.
type conditional struct {
	scripted
	IfCookie string `json:"if_cookie"`
	URL      string
}

// answerByCookie gives the answer that asks for the cookie of the request, else
// the one that asks for none.
func answerByCookie(list []conditional) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		otherwise := -1
		for i, a := range list {
			if a.IfCookie == "" {
				otherwise = i
			} else if r.Header.Get("Cookie") == a.IfCookie {
				a.ServeHTTP(w, r)
				return
			}
		}
		list[otherwise].ServeHTTP(w, r)
	})
}

// checkEnd looks at how a chain of redirects ended that is too long.
func checkEnd(t *testing.T, outcome string, got crawled) {
	t.Helper()
	heard := got.only(t)
	if heard.callback || heard.failure == nil || !strings.Contains(heard.failure.Error(), outcome) {
		t.Errorf("told %+v (%v), want a failure of %q", heard, heard.failure, outcome)
	}
}

// checkProxies looks at which way the requests took: the first through the
// proxy, with its password, the second as the case says.
func checkProxies(t *testing.T, n *network, got crawled, second any, originSaw bool) {
	t.Helper()
	if len(n.asked) != 2 || len(n.dials) < 2 || n.dials[0] != "proxy.example:3128" || n.asked[0].Header["Proxy-Authorization"] == nil {
		t.Fatalf("dialled %q for %+v, want the proxy first\n%s", n.dials, n.asked, got.Log)
	}
	if second != nil {
		t.Fatalf("the case wants the proxy %v, which this runner does not know", second)
	}
	if slices.Contains(n.dials[slices.Index(n.dials, "example.com:443"):], "proxy.example:3128") || !slices.Contains(n.dials, "example.com:443") {
		t.Errorf("dialled %q, want the second request to go to the server itself", n.dials)
	}
	if saw := n.asked[1].Header["Proxy-Authorization"] != nil; saw != originSaw {
		t.Errorf("the server saw the proxy's password: %v", saw)
	}
}
