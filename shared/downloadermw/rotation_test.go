package downloadermw_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/stats"
)

// A rotationTest has a list of proxies, a clock, and a web that says what comes
// of a request that goes by one of them.
type rotationTest struct {
	t     *testing.T
	now   time.Time
	stats stats.Collector
	by    []string // the proxies that were used
	h     downloader.Handler
}

func newRotationTest(t *testing.T, values map[string]any, web func(proxy string) (*crawl.Response, error)) *rotationTest {
	t.Helper()
	r := &rotationTest{t: t, now: noon}
	mw, err := downloadermw.HTTPProxy(with(t, values), downloadermw.HTTPProxyOptions{}, &r.stats, noLog(),
		downloadermw.NewProxies(httpproxy.Config{}, func() time.Time { return r.now }))
	if err != nil {
		t.Fatal(err)
	}
	r.h = mw(downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		r.by = append(r.by, req.Proxy)
		resp, err := web(req.Proxy)
		if resp != nil {
			resp.Request = req
		}
		return resp, err
	}))
	return r
}

func (r *rotationTest) get(req crawl.Request) (*crawl.Response, error) {
	req.URL = "http://example.com/"
	return r.h.Fetch(r.t.Context(), &req)
}

func status(code int) (*crawl.Response, error) {
	return &crawl.Response{Status: code, Body: []byte("page")}, nil
}

func failed(reason string) (*crawl.Response, error) { return nil, &crawl.Failure{Reason: reason} }

func TestRequestsTakeProxiesAtRandom(t *testing.T) {
	r := newRotationTest(t, map[string]any{"ROTATING_PROXY_LIST": "a.example,b.example,c.example,a.example"}, func(string) (*crawl.Response, error) { return status(200) })
	for range 300 {
		r.get(crawl.Request{})
	}
	counts := map[string]int{}
	for _, proxy := range r.by {
		counts[proxy]++
	}
	for _, proxy := range []string{"http://a.example", "http://b.example", "http://c.example"} {
		if n := counts[proxy]; n < 50 || n > 150 {
			t.Errorf("%s was taken %d of 300 times: %v", proxy, n, counts)
		}
	}
	if got := r.stats.Take(); got["proxies/good"] != 3 || got["proxies/dead"] != 0 {
		t.Errorf("counted %v", got)
	}
}

func TestTheRequestsOwnProxyIsNotRotated(t *testing.T) {
	r := newRotationTest(t, map[string]any{"ROTATING_PROXY_LIST": "a.example"}, func(string) (*crawl.Response, error) { return failed("proxy") })
	for range 2 {
		if got := outcome(r.get(crawl.Request{Options: crawl.Options{Proxy: "own.example"}})); got != "failure proxy" {
			t.Errorf("got %s", got)
		}
	}
	if !reflect.DeepEqual(r.by, []string{"http://own.example", "http://own.example"}) {
		t.Errorf("went by %v", r.by)
	}
}

func TestWhatAProxyIsLeftOutFor(t *testing.T) {
	tests := []struct {
		name string
		resp func() (*crawl.Response, error)
		want string
		stat string // "" if the proxy stays
	}{
		{"a page", func() (*crawl.Response, error) { return status(200) }, "response page", ""},
		{"no page", func() (*crawl.Response, error) { return status(404) }, "response page", ""},
		{"a server that is busy", func() (*crawl.Response, error) { return status(503) }, "response page", ""},
		{"a ban", func() (*crawl.Response, error) { return status(403) }, "retry 403 Forbidden", "bans/status/403"},
		{"too many requests", func() (*crawl.Response, error) { return status(429) }, "retry 429 Too Many Requests", "bans/status/429"},
		{"a proxy that wants a password", func() (*crawl.Response, error) { return status(407) }, "retry 407 Proxy Authentication Required", "bans/status/407"},
		{"a proxy that refuses", func() (*crawl.Response, error) { return failed("proxy") }, "retry proxy", "bans/error/proxy"},
		{"a proxy that is not there", func() (*crawl.Response, error) { return failed("connect") }, "retry connect", "bans/error/connect"},
		{"a proxy that has no name", func() (*crawl.Response, error) { return failed("dns") }, "retry dns", "bans/error/dns"},
		{"a time-out", func() (*crawl.Response, error) { return failed("timeout") }, "retry timeout", "bans/error/timeout"},
		{"a body that is too large", func() (*crawl.Response, error) { return failed("too-large") }, "failure too-large", ""},
		{"an address that is forbidden", func() (*crawl.Response, error) { return failed("forbidden-address") }, "failure forbidden-address", ""},
		{"no turn", func() (*crawl.Response, error) { return nil, &crawl.Later{Why: "slot"} }, "later slot", ""},
		{"a drop", func() (*crawl.Response, error) { return nil, &crawl.Drop{Reason: "own"} }, "drop own", ""},
		{"the end of the invocation", func() (*crawl.Response, error) { return nil, context.Canceled }, "error context canceled", ""},
		{"a ban out of a cache", func() (*crawl.Response, error) {
			return &crawl.Response{Status: 403, Body: []byte("kept"), Flags: []string{crawl.FlagCached}}, nil
		}, "response kept", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRotationTest(t, map[string]any{"ROTATING_PROXY_LIST": "a.example"}, func(string) (*crawl.Response, error) { return test.resp() })
			if got := outcome(r.get(crawl.Request{})); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			counted := r.stats.Take()
			if test.stat == "" {
				worked := int64(1)
				if strings.HasPrefix(test.want, "response") == strings.HasSuffix(test.name, "cache") {
					worked = 0 // a cache is no proxy's work
				}
				if counted["proxies/dead"] != 0 || counted["proxies/good"] != worked {
					t.Errorf("counted %v", counted)
				}
				return
			}
			if counted["proxies/dead"] != 1 || counted["proxies/retries"] != 1 || counted[test.stat] != 1 {
				t.Errorf("counted %v", counted)
			}
			if got := outcome(r.get(crawl.Request{})); got != "later proxy" {
				t.Errorf("the next is a %s", got)
			}
		})
	}
}

func TestAPageThatIsABanByItsContent(t *testing.T) {
	var st stats.Collector
	mw, err := downloadermw.HTTPProxy(with(t, map[string]any{"ROTATING_PROXY_LIST": "a.example"}),
		downloadermw.HTTPProxyOptions{IsBan: func(resp *crawl.Response) bool { return string(resp.Body) == "captcha" }}, &st, noLog(),
		downloadermw.NewProxies(httpproxy.Config{}, atNoon))
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome(mw(answer(200, nil, "captcha")).Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})); got != "retry banned" || st.Take()["bans/content"] != 1 {
		t.Errorf("got %s", got)
	}
}

func TestTheNextAttemptTakesAnotherProxy(t *testing.T) {
	r := newRotationTest(t, map[string]any{"ROTATING_PROXY_LIST": "a.example,b.example,c.example,d.example"}, func(proxy string) (*crawl.Response, error) {
		if proxy == "http://d.example" {
			return status(200)
		}
		return failed("proxy")
	})
	for attempt := range 4 {
		resp, err := r.get(crawl.Request{Progress: crawl.Progress{RetryTimes: attempt}})
		if err == nil {
			if resp.Request.Proxy != "http://d.example" {
				t.Errorf("answered by %s", resp.Request.Proxy)
			}
			return
		}
		var retry *crawl.Retry
		if !errors.As(err, &retry) || retry.After != 0 || retry.Priority != 0 {
			t.Fatalf("attempt %d: %+v", attempt, err)
		}
	}
	t.Errorf("four proxies do not do: %v", r.by)
}

func TestAttemptsThroughOtherProxiesHaveAnEnd(t *testing.T) {
	none, nine := 0, 9
	tests := []struct {
		name     string
		settings map[string]any
		options  crawl.Options
		most     int
	}{
		{name: "by the setting's default", most: 5},
		{name: "by the setting", settings: map[string]any{"ROTATING_PROXY_PAGE_RETRY_TIMES": 1}, most: 1},
		{name: "by the request", options: crawl.Options{MaxRetryTimes: &nine}, most: 9},
		{name: "by a request that wants one attempt", options: crawl.Options{MaxRetryTimes: &none}},
		{name: "by a request that wants no retry", options: crawl.Options{DontRetry: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			values := map[string]any{"ROTATING_PROXY_LIST": "a.example", "ROTATING_PROXY_BACKOFF_CAP": 0}
			for name, value := range test.settings {
				values[name] = value
			}
			r := newRotationTest(t, values, func(string) (*crawl.Response, error) { return status(403) })
			h := downloader.Chain(r.h, downloadermw.Retry(with(t, nil), &r.stats, noLog(), atNoon))
			for attempt := 0; ; attempt++ {
				req := &crawl.Request{URL: "http://example.com/", Options: test.options, Progress: crawl.Progress{RetryTimes: attempt}}
				got := outcome(h.Fetch(t.Context(), req))
				if attempt < test.most && got == "retry 403 Forbidden" {
					continue
				}
				if attempt != test.most || got != "response page" {
					t.Errorf("attempt %d of %d is a %s", attempt, test.most, got)
				}
				return
			}
		})
	}
}

func TestAProxyIsLeftOutLongerEachTime(t *testing.T) {
	for _, test := range []struct {
		values  map[string]any
		longest []time.Duration
	}{
		{nil, []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, time.Hour, time.Hour}},
		{map[string]any{"ROTATING_PROXY_BACKOFF_BASE": 10, "ROTATING_PROXY_BACKOFF_CAP": 15}, []time.Duration{10 * time.Second, 15 * time.Second}},
	} {
		longest := make([]time.Duration, len(test.longest))
		for range 200 {
			values := map[string]any{"ROTATING_PROXY_LIST": "a.example"}
			for name, value := range test.values {
				values[name] = value
			}
			r := newRotationTest(t, values, func(string) (*crawl.Response, error) { return failed("proxy") })
			for n, most := range test.longest {
				r.get(crawl.Request{})
				_, err := r.get(crawl.Request{})
				var later *crawl.Later
				if !errors.As(err, &later) {
					t.Fatalf("left out, the proxy gives %v", err)
				}
				wait := later.At.Sub(r.now)
				if wait < 0 || wait > most {
					t.Fatalf("the time %d is %s, at most %s", n, wait, most)
				}
				longest[n] = max(longest[n], wait)
				r.now = later.At
			}
		}
		for n, most := range test.longest {
			if longest[n] < most*9/10 {
				t.Errorf("the time %d was at most %s, want up to %s", n, longest[n], most)
			}
		}
	}
}

func TestAProxyThatWorksAgainIsAsGoodAsNew(t *testing.T) {
	broken := true
	r := newRotationTest(t, map[string]any{"ROTATING_PROXY_LIST": "a.example"}, func(string) (*crawl.Response, error) {
		if broken {
			return failed("proxy")
		}
		return status(200)
	})
	for range 5 {
		r.get(crawl.Request{})
		r.now = r.now.Add(time.Hour)
	}
	broken = false
	if got := outcome(r.get(crawl.Request{})); got != "response page" {
		t.Fatalf("got %s", got)
	}
	broken = true
	r.get(crawl.Request{})
	r.now = r.now.Add(5 * time.Minute) // the longest of a first time
	if got := outcome(r.get(crawl.Request{})); got != "retry proxy" {
		t.Errorf("got %s", got)
	}
	if got := r.stats.Take(); got["proxies/good"] != 1 || got["proxies/dead"] != 7 {
		t.Errorf("counted %v", got)
	}
}

func TestRequestsUnderWayTogetherAreOneFailure(t *testing.T) {
	var all sync.WaitGroup
	all.Add(20)
	var st stats.Collector
	proxies := downloadermw.NewProxies(httpproxy.Config{}, atNoon)
	mw, err := downloadermw.HTTPProxy(with(t, map[string]any{"ROTATING_PROXY_LIST": "a.example"}), downloadermw.HTTPProxyOptions{}, &st, noLog(), proxies)
	if err != nil {
		t.Fatal(err)
	}
	h := mw(downloader.HandlerFunc(func(context.Context, *crawl.Request) (*crawl.Response, error) {
		all.Done()
		all.Wait()
		return failed("proxy")
	}))
	var done sync.WaitGroup
	for range 20 {
		done.Go(func() { h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"}) })
	}
	done.Wait()
	if got := st.Take(); got["proxies/dead"] != 1 || got["bans/error/proxy"] != 20 {
		t.Errorf("counted %v", got)
	}
	_, err = h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"})
	var later *crawl.Later
	if !errors.As(err, &later) || later.At.Sub(noon) > 5*time.Minute {
		t.Errorf("then %v", err)
	}
}

func TestAJobWithoutAProxyLeftMayClose(t *testing.T) {
	r := newRotationTest(t, map[string]any{"ROTATING_PROXY_LIST": "a.example", "ROTATING_PROXY_CLOSE_SPIDER": true}, func(string) (*crawl.Response, error) { return failed("proxy") })
	r.get(crawl.Request{})
	_, err := r.get(crawl.Request{})
	var closes *crawl.CloseSpider
	if !errors.As(err, &closes) || closes.Reason != "no_proxies" {
		t.Errorf("got %v", err)
	}
}

func TestJobsWithOneListShareWhatIsKnownOfIt(t *testing.T) {
	proxies := downloadermw.NewProxies(httpproxy.Config{}, atNoon)
	job := func(list string) downloader.Handler {
		mw, err := downloadermw.HTTPProxy(with(t, map[string]any{"ROTATING_PROXY_LIST": list}), downloadermw.HTTPProxyOptions{}, new(stats.Collector), noLog(), proxies)
		if err != nil {
			t.Fatal(err)
		}
		return mw(fail(&crawl.Failure{Reason: "proxy"}))
	}
	get := func(h downloader.Handler) string {
		return outcome(h.Fetch(t.Context(), &crawl.Request{URL: "http://example.com/"}))
	}
	get(job("a.example,b.example"))
	get(job("b.example,a.example"))
	if got := get(job("a.example,b.example")); got != "later proxy" {
		t.Errorf("the same list gives a %s", got)
	}
	if got := get(job("a.example")); got != "retry proxy" {
		t.Errorf("another list gives a %s", got)
	}
	for range 40 { // one list is one, however often it is used
		get(job("c.example"))
	}
	if got := get(job("a.example,b.example")); got != "later proxy" {
		t.Errorf("another list, often used, gives a %s", got)
	}
	for n := range 40 { // more than are remembered
		get(job(fmt.Sprintf("p%d.example", n)))
	}
	if got := get(job("a.example,b.example")); got != "retry proxy" {
		t.Errorf("a list that was forgotten gives a %s", got)
	}
}
