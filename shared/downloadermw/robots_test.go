package downloadermw_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/stats"
)

func TestRobotsRulesHold(t *testing.T) {
	w := newWorld(t, nil, answer(200, nil, noPrivate))
	for url, want := range map[string]string{
		"http://example.com/": "response page", "http://example.com/p/1": "drop robots", "http://example.com/q": "response page",
	} {
		if got := w.fetch(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	want := map[string]int64{
		"robotstxt/request_count": 1, "robotstxt/response_count": 1, "robotstxt/response_status_count/200": 1, "robotstxt/forbidden": 1,
	}
	if got := w.stats.Take(); !reflect.DeepEqual(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	delay, err := w.mw.CrawlDelay(t.Context(), "http://example.com", "skitter")
	if delay != 3*time.Second || err != nil {
		t.Errorf("crawl delay %s, %v", delay, err)
	}
}

func TestWhichAgentTheRulesAreFor(t *testing.T) {
	tests := []struct {
		name     string
		settings map[string]any
		header   string
		want     string // for /q, which "other" may not fetch
	}{
		{"the setting's", map[string]any{"ROBOTSTXT_USER_AGENT": "Other"}, "me/1.0", "drop robots"},
		{"the request's", map[string]any{"USER_AGENT": "me/1.0"}, "Other/2.1 (+http://example.com)", "drop robots"},
		{"the job's", map[string]any{"USER_AGENT": "Other/2.1"}, "", "drop robots"},
		{"another", map[string]any{"USER_AGENT": "Other/2.1"}, "me/1.0", "response page"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, test.settings, answer(200, nil, noPrivate))
			req := &crawl.Request{URL: "http://example.com/q"}
			if test.header != "" {
				req.SetHeader("User-Agent", test.header)
			}
			if got := outcome(w.h.Fetch(t.Context(), req)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestRobotsIsNotAskedAbout(t *testing.T) {
	w := newWorld(t, nil, answer(200, nil, "User-agent: *\nDisallow: /\n"))
	for _, req := range []*crawl.Request{
		{URL: "http://example.com/", Options: crawl.Options{DontObeyRobotsTxt: true}}, {URL: "data:,x"}, {URL: "file:///etc/hosts"}, {URL: "no URL"},
	} {
		if got := outcome(w.h.Fetch(t.Context(), req)); got != "response page" {
			t.Errorf("%s: %s", req.URL, got)
		}
	}
	if len(w.store.calls) != 0 {
		t.Errorf("the store was asked: %v", w.store.calls)
	}
}

func TestNothingOfThePageGoesToItsRobotsTxt(t *testing.T) {
	w := newWorld(t, nil, answer(200, nil, ""))
	page := &crawl.Request{
		URL: "http://u:p@example.com:8080/a?b=c#d", Method: "POST", Body: []byte("x"), Meta: crawl.Values{"a": 1},
		Headers: http.Header{"Authorization": {"Basic x"}, "Cookie": {"a=b"}}, Cookies: []crawl.Cookie{{Name: "a", Value: "b"}},
		Options: crawl.Options{DownloadSlot: "slow", HTTPUser: "u", HTTPPass: "p", CookieJar: "j"}, Progress: crawl.Progress{Jars: "jars"},
	}
	if got := outcome(w.h.Fetch(t.Context(), page)); got != "response page" {
		t.Fatal(got)
	}
	want := &crawl.Request{URL: "http://example.com:8080/robots.txt", Options: crawl.Options{
		DownloadSlot: "slow", DontObeyRobotsTxt: true, DontCache: true, DontRedirect: true, AllowOffsite: true,
	}}
	if !reflect.DeepEqual(w.asked[0], want) {
		t.Errorf("asked %+v, want %+v", w.asked[0], want)
	}
}

func TestRobotsTxtIsFetchedByThePagesWay(t *testing.T) {
	w := newWorld(t, nil, answer(200, nil, ""))
	w.h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/", Options: crawl.Options{Proxy: "http://proxy.example", BindAddress: "10.0.0.1"}})
	if got := w.asked[0]; got.Proxy != "http://proxy.example" || got.BindAddress != "10.0.0.1" {
		t.Errorf("asked %+v", got)
	}
}

func TestAnotherProxyForRobotsTxtIsAnAttemptOfThePage(t *testing.T) {
	s := with(t, map[string]any{"ROTATING_PROXY_LIST": "a.example,b.example", "ROTATING_PROXY_BACKOFF_CAP": 0})
	mw, err := downloadermw.HTTPProxy(s, downloadermw.HTTPProxyOptions{}, new(stats.Collector), noLog(), downloadermw.NewProxies(httpproxy.Config{}, atNoon))
	if err != nil {
		t.Fatal(err)
	}
	for attempts, want := range map[int]string{0: "retry connect", 4: "retry connect", 5: "failure connect"} {
		w := newWorld(t, nil, mw(fail(&crawl.Failure{Reason: "connect"})))
		page := &crawl.Request{URL: "http://example.com/", Progress: crawl.Progress{RetryTimes: attempts}}
		if got := outcome(w.h.Fetch(t.Context(), page)); got != want || len(w.store.leases) != 0 {
			t.Errorf("after %d attempts it is a %s, want %s; leases %v", attempts, got, want, w.store.leases)
		}
	}
}
