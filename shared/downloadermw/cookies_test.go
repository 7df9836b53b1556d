package downloadermw_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/stats"
)

// A cookieWeb answers each request with the next of its responses, and keeps
// the Cookie headers that it got.
type cookieWeb struct {
	responses []crawl.Response
	got       []string
}

func (w *cookieWeb) Fetch(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
	w.got = append(w.got, strings.Join(req.Headers["Cookie"], " | "))
	resp := crawl.Response{Status: 200}
	if n := len(w.got) - 1; n < len(w.responses) {
		resp = w.responses[n]
	}
	resp.URL, resp.Request = req.URL, req
	return &resp, nil
}

func setting(lines ...string) crawl.Response {
	return crawl.Response{Status: 200, Headers: http.Header{"Set-Cookie": lines}}
}

// through puts Cookies round a web, alone.
func through(t testing.TB, web downloader.Handler, values map[string]any, st *stats.Collector, log *slog.Logger) downloader.Handler {
	return downloadermw.Cookies(with(t, values), st, log, atNoon)(web)
}

// withJars is a request for a page that carries what a server set before.
func withJars(t testing.TB, url, jar string, lines ...string) *crawl.Request {
	t.Helper()
	req := &crawl.Request{URL: url, Options: crawl.Options{CookieJar: jar}}
	resp, err := through(t, &cookieWeb{responses: []crawl.Response{setting(lines...)}}, nil, new(stats.Collector), noLog()).Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return &crawl.Request{URL: url, Progress: crawl.Progress{Jars: resp.Request.Jars}}
}

func TestReportedCookieCases(t *testing.T) {
	type step struct {
		URL       string   `json:"url"`
		SetCookie []string `json:"set_cookie"`
		Request   string   `json:"request"`
		Headers   map[string]string
		Response  struct {
			Status  int
			Headers map[string]string
		}
	}
	eachCase(t, "cookies", func(t *testing.T, input, expect json.RawMessage) {
		var in struct{ Steps []step }
		var want struct{ Cookie []*string }
		read(t, input, &in)
		read(t, expect, &want)
		var jars string
		var sent []*string
		fetch := func(req *crawl.Request, answer crawl.Response) string {
			web := &cookieWeb{responses: []crawl.Response{answer}}
			h := downloader.Chain(web, downloadermw.Redirect(with(t, nil), downloadermw.RedirectOptions{}, noLog()),
				downloadermw.Cookies(with(t, nil), new(stats.Collector), noLog(), atNoon))
			req.Jars = jars
			resp, err := h.Fetch(t.Context(), req)
			var instead *crawl.Instead
			switch {
			case errors.As(err, &instead):
				jars = instead.Request.Jars
			case err != nil:
				t.Fatal(err)
			default:
				jars = resp.Request.Jars
			}
			return web.got[0]
		}
		for _, s := range in.Steps {
			if s.URL != "" {
				fetch(&crawl.Request{URL: s.URL}, setting(s.SetCookie...))
				continue
			}
			req, answer := &crawl.Request{URL: s.Request}, crawl.Response{Status: 200, Headers: http.Header{}}
			for name, value := range s.Headers {
				req.SetHeader(name, value)
			}
			if s.Response.Status != 0 {
				answer.Status = s.Response.Status
				for name, value := range s.Response.Headers {
					answer.Headers.Set(name, value)
				}
			}
			cookie := fetch(req, answer)
			if s.Headers["Cookie"] != "" {
				continue // the case tells what the request after it sends
			}
			if cookie == "" {
				sent = append(sent, nil)
			} else {
				sent = append(sent, &cookie)
			}
		}
		if diff := cmp.Diff(want.Cookie, sent); diff != "" {
			t.Errorf("Cookie headers (-want, +got):\n%s", diff)
		}
	})
}

func TestCookiesOfTwoSessionsStayApart(t *testing.T) {
	// Two chains of one job, and in one of them two jars.
	h := through(t, downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		resp := setting("sid=" + req.CookieJar)
		resp.Body = []byte(strings.Join(req.Headers["Cookie"], ""))
		resp.Request = req
		return &resp, nil
	}), nil, new(stats.Collector), noLog())
	fetch := func(jars, jar string) (*crawl.Request, string) {
		resp, err := h.Fetch(t.Context(), &crawl.Request{
			URL: "http://example.com/", Options: crawl.Options{CookieJar: jar}, Progress: crawl.Progress{Jars: jars},
		})
		if err != nil {
			t.Fatal(err)
		}
		return resp.Request, string(resp.Body)
	}
	one, _ := fetch("", "1")
	two, _ := fetch("", "2")
	both, cookie := fetch(one.Jars, "2")
	if cookie != "" {
		t.Errorf("a new jar sends %q", cookie)
	}
	for _, follow := range []struct{ jars, jar, want string }{
		{one.Jars, "1", "sid=1"}, {two.Jars, "2", "sid=2"}, {one.Jars, "", ""}, {one.Jars, "2", ""},
		{both.Jars, "1", "sid=1"}, {both.Jars, "2", "sid=2"},
	} {
		if _, cookie := fetch(follow.jars, follow.jar); cookie != follow.want {
			t.Errorf("jar %q sends %q, want %q", follow.jar, cookie, follow.want)
		}
	}
}

func TestCookiesOfARetriedAnswerCount(t *testing.T) {
	busy := setting("ok=1")
	busy.Status = 503
	web := &cookieWeb{responses: []crawl.Response{busy}}
	s := with(t, nil)
	h := downloader.Chain(web, downloadermw.Retry(s, new(stats.Collector), noLog(), atNoon),
		downloadermw.Cookies(s, new(stats.Collector), noLog(), atNoon))
	req := &crawl.Request{URL: "http://example.com/"}
	_, err := h.Fetch(t.Context(), req)
	var retry *crawl.Retry
	if !errors.As(err, &retry) {
		t.Fatalf("got %v, want a retry", err)
	}
	again := &crawl.Request{URL: req.URL, Progress: crawl.Progress{Jars: req.Jars, RetryTimes: 1}}
	if _, err := h.Fetch(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if web.got[1] != "ok=1" {
		t.Errorf("the retry sends %q", web.got[1])
	}
}

func TestCookiesLeaveAndStayOverRedirects(t *testing.T) {
	moved := func(to string) crawl.Response {
		return crawl.Response{Status: 302, Headers: http.Header{"Location": {to}, "Set-Cookie": {"here=1"}}}
	}
	tests := []struct{ name, to, want string }{
		{"within the origin", "/x", "old=1; here=1; hand=1"},
		{"to another host of the site", "http://www.example.com/", "site=1"},
		{"to another site", "http://example.org/", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			web := &cookieWeb{responses: []crawl.Response{moved(test.to)}}
			s := with(t, nil)
			h := downloader.Chain(web, downloadermw.Redirect(s, downloadermw.RedirectOptions{}, noLog()),
				downloadermw.Cookies(s, new(stats.Collector), noLog(), atNoon))
			asked := withJars(t, "http://example.com/", "", "old=1")
			asked.Cookies = []crawl.Cookie{{Name: "site", Value: "1", Domain: "example.com", Path: "/"}}
			if test.to == "/x" {
				asked.Cookies = nil
			}
			asked.SetHeader("Cookie", "hand=1; old=0")
			_, err := h.Fetch(t.Context(), asked.Clone())
			var instead *crawl.Instead
			if !errors.As(err, &instead) {
				t.Fatalf("got %v, want another request", err)
			}
			if _, err := h.Fetch(t.Context(), instead.Target(asked)); err != nil {
				t.Fatal(err)
			}
			if web.got[1] != test.want {
				t.Errorf("the target is asked with %q, want %q", web.got[1], test.want)
			}
		})
	}
}

func TestCookiesAreSwitchedOff(t *testing.T) {
	for name, test := range map[string]struct {
		settings map[string]any
		dont     bool
	}{
		"by the setting": {settings: map[string]any{"COOKIES_ENABLED": false}},
		"by the request": {dont: true},
	} {
		t.Run(name, func(t *testing.T) {
			req := withJars(t, "http://example.com/", "", "old=1")
			jars := req.Jars
			req.Cookies = []crawl.Cookie{{Name: "a", Value: "secret"}}
			req.DontMergeCookies = test.dont
			req.SetHeader("Cookie", "hand=1")
			web := &cookieWeb{responses: []crawl.Response{setting("b=1")}}
			var logged bytes.Buffer
			resp, err := through(t, web, test.settings, new(stats.Collector), logTo(&logged)).Fetch(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if web.got[0] != "hand=1" || resp.Request.Jars != jars {
				t.Errorf("sent %q; the jars changed: %v", web.got[0], resp.Request.Jars != jars)
			}
			if !strings.Contains(logged.String(), "cookies of requests are not sent") {
				t.Errorf("nobody is told: %s", &logged)
			}
		})
	}
}

func TestUnreadableJarsAreToldOnceAndEmpty(t *testing.T) {
	web, st := &cookieWeb{responses: []crawl.Response{setting("a=1")}}, new(stats.Collector)
	var logged bytes.Buffer
	h := through(t, web, nil, st, logTo(&logged))
	for range 3 {
		req := &crawl.Request{URL: "http://example.com/", Progress: crawl.Progress{Jars: "1example.com;9 sid=topsecret"}}
		resp, err := h.Fetch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(resp.Request.Jars, "topsecret") {
			t.Error("the broken jars travel on")
		}
	}
	if got := st.Take()["cookies/unreadable_jars"]; got != 3 {
		t.Errorf("counted %d, want 3", got)
	}
	if strings.Count(logged.String(), "cannot be read") != 1 || strings.Contains(logged.String(), "topsecret") {
		t.Errorf("logged: %s", &logged)
	}
}

func TestCookiesDebugTellsNamesOnly(t *testing.T) {
	req := withJars(t, "http://example.com/", "", "sid=topsecret")
	web := &cookieWeb{responses: []crawl.Response{setting("new=topsecret", "evil=topsecret; Domain=com", "topsecret; Domain=com", "ctl\x01=topsecret")}}
	var logged bytes.Buffer
	if _, err := through(t, web, map[string]any{"COOKIES_DEBUG": true}, new(stats.Collector), logTo(&logged)).Fetch(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sending cookies", "[sid]", "received cookies", "[new]", "evil", "public suffix", "control character"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("%q is not logged: %s", want, &logged)
		}
	}
	if strings.Contains(logged.String(), "topsecret") {
		t.Errorf("a value is logged: %s", &logged)
	}
	logged.Reset()
	web = &cookieWeb{responses: []crawl.Response{setting("new=topsecret")}}
	if _, err := through(t, web, nil, new(stats.Collector), logTo(&logged)).Fetch(t.Context(), req); err != nil || logged.Len() > 0 {
		t.Errorf("error %v; without COOKIES_DEBUG is logged: %s", err, &logged)
	}
}

func TestCookiesReachTheRequestOfTheResponse(t *testing.T) {
	// A middleware further in may have asked with a request of its own.
	h := through(t, downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		resp := setting("a=1")
		resp.Request = req.Clone()
		return &resp, nil
	}), nil, new(stats.Collector), noLog())
	req := withJars(t, "http://example.com/", "", "old=1")
	before := req.Jars
	resp, err := h.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if req.Jars == before || resp.Request.Jars != req.Jars {
		t.Errorf("the jars are %q and %q", req.Jars, resp.Request.Jars)
	}
	if got := resp.Request.Headers["Cookie"]; got != nil {
		t.Errorf("what was sent stays in the header: %q", got)
	}
}

func TestCookiesThatExpireAreNotSent(t *testing.T) {
	web := &cookieWeb{responses: []crawl.Response{setting("a=1; Max-Age=60", "b=1")}}
	now := noon
	h := downloadermw.Cookies(with(t, nil), new(stats.Collector), noLog(), func() time.Time { return now })(web)
	req := &crawl.Request{URL: "http://example.com/"}
	for range 3 {
		resp, err := h.Fetch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		req.Jars = resp.Request.Jars
		now = now.Add(40 * time.Second)
	}
	if diff := cmp.Diff([]string{"", "a=1; b=1", "b=1"}, web.got); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
}

func BenchmarkCookies(b *testing.B) {
	for _, bench := range []struct {
		name  string
		lines []string
	}{{"none", nil}, {"5", analytics(5)}} {
		b.Run(bench.name, func(b *testing.B) {
			req := &crawl.Request{URL: "http://example.com/", Headers: http.Header{"Accept": {"*/*"}}}
			if bench.lines != nil {
				req.Jars = withJars(b, req.URL, "", bench.lines...).Jars
			}
			resp := &crawl.Response{Status: 200, Request: req}
			h := through(b, downloader.HandlerFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) { return resp, nil }), nil, new(stats.Collector), noLog())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.Fetch(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// analytics are Set-Cookie lines with values of 60 bytes.
func analytics(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = "_ga_" + string(rune('a'+i)) + "=" + strings.Repeat("GS1.1.1712", 6) + "; Path=/; Max-Age=63072000"
	}
	return lines
}
