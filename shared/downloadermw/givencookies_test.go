package downloadermw_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/stats"
)

func TestCookieHeaderByHand(t *testing.T) {
	tests := []struct {
		name string
		own  []string
		jar  []string
		want string
	}{
		{"alone it stays as it is", []string{"x=1;y=2 "}, nil, "x=1;y=2 "},
		{"with the jar's", []string{"x=1; y=2"}, []string{"a=1"}, "a=1; x=1; y=2"},
		{"the jar's wins", []string{"a=0; x=1"}, []string{"a=1"}, "a=1; x=1"},
		{"several headers become one", []string{"x=1", "a=0;y=2;"}, []string{"a=1"}, "a=1; x=1; y=2"},
		{"without a name", []string{"token"}, []string{"a=1"}, "a=1; token"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := withJars(t, "http://example.com/", "", test.jar...)
			req.Headers = http.Header{"Cookie": test.own}
			web := &cookieWeb{responses: []crawl.Response{setting("b=1")}}
			resp, err := through(t, web, nil, new(stats.Collector), noLog()).Fetch(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if web.got[0] != test.want {
				t.Errorf("sent %q, want %q", web.got[0], test.want)
			}
			if diff := cmp.Diff(test.own, resp.Request.Headers["Cookie"]); diff != "" {
				t.Errorf("the request's header afterwards (-want, +got):\n%s", diff)
			}
			if strings.Contains(resp.Request.Jars, "x=1") {
				t.Error("a cookie set by hand is in the jar")
			}
		})
	}
}

func TestCookiesOfARequest(t *testing.T) {
	yes, no := true, false
	tests := []struct {
		name    string
		url     string
		cookies []crawl.Cookie
		retry   int
		want    string
		refused int64
	}{
		{name: "join the jar", cookies: []crawl.Cookie{{Name: "a", Value: "1"}, {Name: "b"}}, want: "old=1; a=1; b="},
		{name: "and win over it", cookies: []crawl.Cookie{{Name: "old", Value: "2"}}, want: "old=2"},
		{name: "but not at a retry", cookies: []crawl.Cookie{{Name: "old", Value: "2"}, {Name: "a", Value: "1"}}, retry: 1, want: "old=1; a=1"},
		{name: "with a domain", cookies: []crawl.Cookie{{Name: "a", Value: "1", Domain: ".example.com"}}, want: "old=1; a=1"},
		{name: "of another site", cookies: []crawl.Cookie{{Name: "a", Value: "1", Domain: "example.org"}}, want: "old=1", refused: 1},
		{name: "with another path", cookies: []crawl.Cookie{{Name: "a", Value: "1", Path: "/other"}}, want: "old=1"},
		{name: "secure ones on a plain page", cookies: []crawl.Cookie{{Name: "a", Value: "1", Secure: &yes}}, want: "old=1", refused: 1},
		{name: "without a name", cookies: []crawl.Cookie{{Value: "1"}}, want: "old=1", refused: 1},
		{name: "that would end early", cookies: []crawl.Cookie{{Name: "a", Value: "1; Path=/"}}, want: "old=1", refused: 1},
		{name: "with blanks", cookies: []crawl.Cookie{{Name: "a", Value: " 1"}, {Name: "b ", Value: "1"}}, want: "old=1", refused: 2},
		{name: "that would make a header", cookies: []crawl.Cookie{{Name: "a", Value: "1\r\nX: y"}}, want: "old=1", refused: 1},
		{name: "that is not secure on a secure page", url: "https://example.com/", cookies: []crawl.Cookie{{Name: "a", Value: "1", Secure: &no}}, want: "old=1; a=1"},
		{name: "with the prefix of a host", url: "https://example.com/x/y", cookies: []crawl.Cookie{{Name: "__Host-a", Value: "1"}}, want: "old=1; __Host-a=1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.url == "" {
				test.url = "http://www.example.com/x/y"
			}
			req := withJars(t, test.url, "", "old=1; Path=/")
			req.Cookies, req.RetryTimes = test.cookies, test.retry
			web, st := &cookieWeb{}, new(stats.Collector)
			var logged bytes.Buffer
			resp, err := through(t, web, nil, st, logTo(&logged)).Fetch(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if web.got[0] != test.want {
				t.Errorf("sent %q, want %q", web.got[0], test.want)
			}
			if resp.Request.Cookies != nil {
				t.Error("the cookies are still the request's own")
			}
			if got := st.Take()["cookies/refused"]; got != test.refused {
				t.Errorf("refused %d, want %d", got, test.refused)
			}
			if got := int64(strings.Count(logged.String(), "refused")); got != test.refused {
				t.Errorf("%d lines are logged: %s", got, &logged)
			}
		})
	}
}

func TestSecureIsTheDefaultOverHTTPS(t *testing.T) {
	req := &crawl.Request{URL: "https://example.com/", Cookies: []crawl.Cookie{{Name: "a", Value: "1"}}}
	web := &cookieWeb{}
	h := through(t, web, nil, new(stats.Collector), noLog())
	resp, err := h.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"https://example.com/", "http://example.com/"} {
		if _, err := h.Fetch(t.Context(), &crawl.Request{URL: url, Progress: resp.Request.Progress}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a=1", "a=1", ""}, web.got); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
}
