package downloadermw_test

import (
	"bytes"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
)

// redirected sends a request through Redirect to a server that answers with a
// status and a Location, and returns the target, nil if the answer came through.
func redirected(t *testing.T, opts downloadermw.RedirectOptions, req *crawl.Request, status int, location string) *crawl.Request {
	t.Helper()
	h := downloadermw.Redirect(with(t, nil), opts, noLog())(answer(status, http.Header{"Location": {location}}, "moved"))
	resp, err := h.Fetch(t.Context(), req)
	var instead *crawl.Instead
	if errors.As(err, &instead) {
		return instead.Request
	}
	if err != nil || string(resp.Body) != "moved" || resp.Status != status {
		t.Fatalf("got %+v, %v", resp, err)
	}
	return nil
}

func TestWhichResponsesRedirect(t *testing.T) {
	tests := []struct {
		name     string
		status   int
		location string
		req      crawl.Request
		opts     downloadermw.RedirectOptions
		want     string // "" if the response comes through
	}{
		{name: "301", status: 301, location: "/b", want: "http://example.com/b"},
		{name: "302", status: 302, location: "b", want: "http://example.com/dir/b"},
		{name: "303", status: 303, location: "?b", want: "http://example.com/dir/a?b"},
		{name: "307", status: 307, location: "//b.example", want: "http://b.example/"},
		{name: "308", status: 308, location: "https://b.example/c", want: "https://b.example/c"},
		{name: "300 is a choice", status: 300, location: "/b"},
		{name: "304 has not moved", status: 304, location: "/b"},
		{name: "201 is a page", status: 201, location: "/b"},
		{name: "no Location", status: 302},
		{name: "a Location that cannot be read", status: 302, location: "http://[/"},
		{name: "blanks round the Location", status: 302, location: " /b\t", want: "http://example.com/b"},
		{name: "a callback wants the status", status: 302, location: "/b", req: crawl.Request{Options: crawl.Options{HandleStatusList: []int{302}}}},
		{name: "a callback wants another", status: 302, location: "/b", req: crawl.Request{Options: crawl.Options{HandleStatusList: []int{301}}}, want: "http://example.com/b"},
		{name: "a callback wants all", status: 302, location: "/b", req: crawl.Request{Options: crawl.Options{HandleStatusAll: true}}},
		{name: "dont_redirect", status: 302, location: "/b", req: crawl.Request{Options: crawl.Options{DontRedirect: true}}},
		{name: "the spider wants the status", status: 302, location: "/b", opts: downloadermw.RedirectOptions{HandleStatusList: []int{302}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.req.URL = "http://example.com/dir/a"
			got := ""
			if target := redirected(t, test.opts, &test.req, test.status, test.location); target != nil {
				got = target.URL
			}
			if got != test.want {
				t.Errorf("redirected to %q, want %q", got, test.want)
			}
		})
	}
}

func TestMethodsAndBodiesOfRedirects(t *testing.T) {
	same := func(method string) string { return method + " with its body" }
	tests := []struct {
		statuses []int
		method   string
		want     string
	}{
		{[]int{301, 302, 303, 307, 308}, "GET", same("GET")},
		{[]int{301, 302, 303, 307, 308}, "HEAD", same("HEAD")},
		{[]int{301, 302, 303}, "POST", "GET"},
		{[]int{307, 308}, "POST", same("POST")},
		{[]int{301, 302, 307, 308}, "PUT", same("PUT")},
		{[]int{303}, "PUT", "GET"},
		{[]int{303}, "DELETE", "GET"},
	}
	for _, test := range tests {
		for _, status := range test.statuses {
			headers := http.Header{
				"X": {"kept"}, "Content-Type": {"a"}, "Content-Length": {"1"}, "Content-Encoding": {"a"},
				"Content-Language": {"a"}, "Content-Location": {"a"},
			}
			req := &crawl.Request{URL: "http://example.com/", Method: test.method, Body: []byte("b"), Headers: headers}
			target := redirected(t, downloadermw.RedirectOptions{}, req, status, "/b")
			got := target.HTTPMethod()
			if string(target.Body) == "b" && len(target.Headers) == 6 {
				got = same(got)
			} else if target.Body != nil || !reflect.DeepEqual(target.Headers, http.Header{"X": {"kept"}}) {
				t.Errorf("%d on %s: body %q, headers %v", status, test.method, target.Body, target.Headers)
			}
			if got != test.want {
				t.Errorf("%d on %s becomes %s, want %s", status, test.method, got, test.want)
			}
			if len(headers) != 6 {
				t.Errorf("the first request's headers became %v", headers)
			}
		}
	}
}

func TestARedirectKeepsWhatTheRequestHas(t *testing.T) {
	req := &crawl.Request{
		URL: "http://example.com/c#f", Callback: "page", Errback: "failed", Meta: crawl.Values{"a": 1}, CBKwargs: crawl.Values{"b": 2},
		Headers: http.Header{"X": {"y"}, "Referer": {"http://example.com/index"}}, Priority: 5, Flags: []string{"f"}, Encoding: "cp1251",
		Options: crawl.Options{AllowOffsite: true, DownloadSlot: "s"},
		Progress: crawl.Progress{
			Depth: 3, Start: true, RetryTimes: 2, RedirectURLs: []string{"http://example.com/a"}, RedirectReasons: []string{"301"},
		},
	}
	want := req.Clone()
	want.URL = "http://example.com/d#f"
	want.Priority = 7
	want.RetryTimes = 0
	want.Headers = http.Header{"X": {"y"}}
	want.RedirectURLs = []string{"http://example.com/a", "http://example.com/c#f"}
	want.RedirectReasons = []string{"301", "302"}
	before := req.Clone()
	got := redirected(t, downloadermw.RedirectOptions{}, req, 302, "/d")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the target's request differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, req); diff != "" {
		t.Errorf("the first request was changed:\n%s", diff)
	}
}

func TestTheRefererIsMadeAnew(t *testing.T) {
	opts := downloadermw.RedirectOptions{Referer: func(from *crawl.Response, target *crawl.Request) string {
		return from.URL + " to " + target.URL
	}}
	req := &crawl.Request{URL: "http://example.com/a", Headers: http.Header{"Referer": {"old"}}}
	if got := redirected(t, opts, req, 302, "/b").Headers.Get("Referer"); got != "http://example.com/a to http://example.com/b" {
		t.Errorf("referer %q", got)
	}
	for _, none := range []http.Header{nil, {"Referer": nil}, {"Referer": {""}}} {
		req := &crawl.Request{URL: "http://example.com/a", Headers: none}
		if got := redirected(t, opts, req, 302, "/b").Headers.Values("Referer"); len(got) > 0 {
			t.Errorf("the target of a request with %v has the referer %q", none, got)
		}
	}
}

func TestSecretsStayAtTheirOrigin(t *testing.T) {
	for location, kept := range map[string]bool{
		"/b": true, "https://example.com:443/": true,
		"http://example.com/": false, "https://example.com:8443/": false, "https://www.example.com/": false, "https://example.org/": false,
	} {
		req := &crawl.Request{URL: "https://example.com/", Headers: http.Header{
			"Authorization": {"Basic x"}, "Cookie": {"s=1"}, "X-Api-Key": {"k"}, "Proxy-Authorization": {"Basic p"}, "X-Other": {"o"},
		}}
		target := redirected(t, downloadermw.RedirectOptions{}, req, 302, location)
		want := http.Header{"X-Other": {"o"}}
		if kept {
			want = req.Headers
		}
		if !reflect.DeepEqual(target.Headers, want) {
			t.Errorf("to %s: %v, want %v", location, target.Headers, want)
		}
	}
}

func TestATargetThatTheChainVisitedIsNotFiltered(t *testing.T) {
	for location, want := range map[string]bool{
		"/b": true, "/b#x": true, "/b?": true, "/a": true, "http://EXAMPLE.com:80/%61": true, "/c": false, "https://example.com/a": false,
	} {
		req := &crawl.Request{URL: "http://example.com/b", Progress: crawl.Progress{RedirectURLs: []string{"http://example.com/a"}}}
		if got := redirected(t, downloadermw.RedirectOptions{}, req, 302, location).DontFilter; got != want {
			t.Errorf("%s: dont_filter %t, want %t", location, got, want)
		}
	}
	req := &crawl.Request{URL: "http://example.com/b", DontFilter: true}
	if !redirected(t, downloadermw.RedirectOptions{}, req, 302, "/c").DontFilter {
		t.Error("dont_filter is lost")
	}
}

func TestTheReasonOfARedirectIsItsStatus(t *testing.T) {
	h := downloadermw.Redirect(with(t, nil), downloadermw.RedirectOptions{}, noLog())(answer(308, http.Header{"Location": {"/b"}}, ""))
	_, err := h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})
	var instead *crawl.Instead
	if !errors.As(err, &instead) || instead.Reason != "308" {
		t.Errorf("error %v", err)
	}
}

func TestRedirectsAreLoggedWithoutPasswords(t *testing.T) {
	var logged bytes.Buffer
	h := downloadermw.Redirect(with(t, map[string]any{"REDIRECT_MAX_TIMES": 1}), downloadermw.RedirectOptions{}, logTo(&logged))(
		answer(302, http.Header{"Location": {"http://u:secret@example.com/"}}, ""))
	_, end := follow(t, h, &crawl.Request{URL: "http://v:secret@example.com/"})
	if end != "failure redirect-max-times" || strings.Contains(logged.String(), "secret") || strings.Count(logged.String(), "\n") != 2 {
		t.Errorf("%s, logged %s", end, logged.String())
	}
}

// follow follows redirects, as the engine would, until there are none.
func follow(t *testing.T, h downloader.Handler, req *crawl.Request) (chain []*crawl.Request, end string) {
	for range 100 {
		resp, err := h.Fetch(t.Context(), req.Clone())
		var instead *crawl.Instead
		if !errors.As(err, &instead) {
			return chain, outcome(resp, err)
		}
		req = instead.Target(req)
		chain = append(chain, req)
	}
	t.Fatal("no end after 100 redirects")
	return nil, ""
}
