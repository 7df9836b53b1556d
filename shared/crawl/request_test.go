package crawl_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
)

// fullRequest has something in every field, so that a new field which Clone or
// JSON forgets fails a test.
func fullRequest() *crawl.Request {
	return &crawl.Request{
		URL: "http://example.com/", Method: "POST", Headers: http.Header{"Accept": {"a", "b"}},
		Body: []byte{0, 0xff, '\n'}, Cookies: []crawl.Cookie{{Name: "n", Value: "v", Domain: "d", Path: "/p", Secure: new(true)}},
		Encoding: "gb18030", Callback: "book", Errback: "failed",
		CBKwargs: crawl.Values{"n": json.Number("9007199254740993")}, Meta: crawl.Values{"m": "x"},
		Flags: []string{"f"}, Priority: -3, DontFilter: true, IncludeHeaders: []string{"Accept"},
		Options: crawl.Options{
			DownloadTimeout: time.Second, DownloadMaxsize: -1, DownloadSlot: "s", DontRetry: true,
			MaxRetryTimes: new(0), DontRedirect: true, HandleStatusList: []int{404}, HandleStatusAll: true,
			DownloadWarnsize: 5, DownloadFailOnDataloss: new(false), DownloadHandler: "h", BindAddress: "127.0.0.2",
			Proxy: "http://p:1", PriorityAdjust: new(4), GiveUpLogLevel: "INFO", HTTPUser: "u", HTTPPass: "p", HTTPAuthDomain: "d",
			CookieJar: "j", DontMergeCookies: true, DontCache: true,
			AllowOffsite: true, DontObeyRobotsTxt: true,
			ReferrerPolicy: "origin", DepthReset: true,
		},
		Progress: crawl.Progress{
			Depth: 2, Start: true, RetryTimes: 1, RedirectURLs: []string{"http://example.com/a"}, RedirectReasons: []string{"302"},
			Jars: "jars",
		},
	}
}

func TestRequestCloneCanBeChanged(t *testing.T) {
	r := fullRequest()
	c := r.Clone()
	if diff := cmp.Diff(r, c); diff != "" {
		t.Fatalf("the copy differs (-request, +copy):\n%s", diff)
	}
	c.Headers.Set("Accept", "changed")
	c.SetHeader("X-New", "1")
	c.Body[0] = 'x'
	c.CBKwargs["n"] = 1
	c.Meta["new"] = 1
	c.Cookies[0].Name = "changed"
	c.Flags[0] = "changed"
	c.IncludeHeaders[0] = "changed"
	c.HandleStatusList[0] = 500
	c.RedirectURLs[0] = "changed"
	c.RedirectReasons[0] = "changed"
	if diff := cmp.Diff(fullRequest(), r); diff != "" {
		t.Errorf("changing the copy changed the request (-want, +got):\n%s", diff)
	}
}

func TestRequestCloneLeavesTheEndsOfSlicesAlone(t *testing.T) {
	r := &crawl.Request{Progress: crawl.Progress{RedirectURLs: make([]string, 1, 4)}}
	c := r.Clone()
	c.RedirectURLs = append(c.RedirectURLs, "of the copy")
	r.RedirectURLs = append(r.RedirectURLs, "of the request")
	if c.RedirectURLs[1] != "of the copy" {
		t.Errorf("the copy's second address is %q", c.RedirectURLs[1])
	}
}

func TestRequestCloneOfLittleIsAsLittle(t *testing.T) {
	r := &crawl.Request{URL: "http://example.com/"}
	if diff := cmp.Diff(r, r.Clone()); diff != "" {
		t.Errorf("the copy differs (-request, +copy):\n%s", diff)
	}
}

func TestRequestTravelsAsJSON(t *testing.T) {
	raw, err := json.Marshal(fullRequest())
	if err != nil {
		t.Fatal(err)
	}
	var back crawl.Request
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fullRequest(), &back); diff != "" {
		t.Errorf("(-sent, +received):\n%s", diff)
	}
	// A row is to stay under one write unit, so what is not set is not said.
	little, err := json.Marshal(crawl.Request{URL: "http://example.com/"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"url":"http://example.com/"}`; string(little) != want {
		t.Errorf("a request that asks for nothing is %s, want %s", little, want)
	}
}

func TestRequestHeaderAndMethod(t *testing.T) {
	var r crawl.Request
	if r.HTTPMethod() != "GET" {
		t.Errorf("a request without method is %s, want GET", r.HTTPMethod())
	}
	r.Method = "PUT"
	if r.HTTPMethod() != "PUT" {
		t.Errorf("method %s, want PUT", r.HTTPMethod())
	}
	r.SetHeader("accept", "a")
	r.SetHeader("ACCEPT", "b")
	if diff := cmp.Diff(http.Header{"Accept": {"b"}}, r.Headers); diff != "" {
		t.Errorf("headers (-want, +got):\n%s", diff)
	}
}
