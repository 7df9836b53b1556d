package downloadermw_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
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
		Headers: http.Header{"Authorization": {"Basic x"}, "Cookie": {"a=b"}}, Options: crawl.Options{DownloadSlot: "slow"},
	}
	if got := outcome(w.h.Fetch(t.Context(), page)); got != "response page" {
		t.Fatal(got)
	}
	want := &crawl.Request{URL: "http://example.com:8080/robots.txt", Options: crawl.Options{
		DownloadSlot: "slow", DontObeyRobotsTxt: true, DontRedirect: true, DontRetry: true, AllowOffsite: true,
	}}
	if !reflect.DeepEqual(w.asked[0], want) {
		t.Errorf("asked %+v, want %+v", w.asked[0], want)
	}
}
