package downloadermw_test

import (
	"fmt"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
)

// agentOf is the User-Agent that a request of a job is sent with.
func agentOf(t *testing.T, values map[string]any, job crawl.JobUID, req *crawl.Request) string {
	t.Helper()
	h := downloadermw.UserAgent(with(t, values), job)(answer(200, nil, ""))
	resp, err := h.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Request.Headers.Get("User-Agent")
}

func TestASessionKeepsItsAgent(t *testing.T) {
	agents := map[string]any{"USER_AGENTS": []any{"a (x, y)", "b", "c", "d", "e", "f", "g", "h"}}
	for job := range 20 {
		uid := crawl.JobUID(fmt.Sprint(job))
		first := agentOf(t, agents, uid, &crawl.Request{URL: "http://example.com/"})
		for _, same := range []*crawl.Request{
			{URL: "https://example.com:8443/b?c"}, {URL: "http://www.example.com/"},
			{URL: "http://example.com/", Progress: crawl.Progress{RetryTimes: 1}},
			{URL: "http://example.com/d", Progress: crawl.Progress{RedirectURLs: []string{"http://example.com/"}}},
		} {
			if got := agentOf(t, agents, uid, same); got != first {
				t.Errorf("%s gets %q after %q", same.URL, got, first)
			}
		}
	}
}

func TestSessionsShareOutTheAgents(t *testing.T) {
	agents := []any{"a", "b", "c", "d"}
	for name, of := range map[string]func(n int) (crawl.JobUID, *crawl.Request){
		"jobs": func(n int) (crawl.JobUID, *crawl.Request) {
			return crawl.JobUID(fmt.Sprint(n)), &crawl.Request{URL: "http://example.com/"}
		},
		"jars": func(n int) (crawl.JobUID, *crawl.Request) {
			return "job", &crawl.Request{URL: "http://example.com/", Options: crawl.Options{CookieJar: fmt.Sprint(n)}}
		},
		"sites": func(n int) (crawl.JobUID, *crawl.Request) {
			return "job", &crawl.Request{URL: fmt.Sprintf("http://e%d.example/", n)}
		},
		"pages without cookies": func(n int) (crawl.JobUID, *crawl.Request) {
			return "job", &crawl.Request{URL: fmt.Sprintf("http://example.com/%d", n), Options: crawl.Options{DontMergeCookies: true}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			counts := map[string]int{}
			for n := range 400 {
				job, req := of(n)
				counts[agentOf(t, map[string]any{"USER_AGENTS": agents}, job, req)]++
			}
			for _, agent := range agents {
				if n := counts[agent.(string)]; n < 50 || n > 150 {
					t.Errorf("%v was sent %d of 400 times: %v", agent, n, counts)
				}
			}
		})
	}
}

func TestARedirectWithoutCookiesKeepsItsAgent(t *testing.T) {
	values := map[string]any{"COOKIES_ENABLED": false, "USER_AGENTS": []any{"a", "b", "c", "d", "e", "f", "g"}}
	for n := range 20 {
		url := fmt.Sprintf("http://example.com/%d", n)
		first := agentOf(t, values, "job", &crawl.Request{URL: url})
		if got := agentOf(t, values, "job", &crawl.Request{URL: "http://other.example/", Progress: crawl.Progress{RedirectURLs: []string{url, "http://b.example/"}}}); got != first {
			t.Errorf("%s gets %q, then %q", url, first, got)
		}
	}
}

func TestAnAgentOfTheRequestStays(t *testing.T) {
	req := &crawl.Request{URL: "http://example.com/"}
	req.SetHeader("User-Agent", "own")
	if got := agentOf(t, map[string]any{"USER_AGENTS": []any{"a", "b"}}, "job", req); got != "own" {
		t.Errorf("got %q", got)
	}
}
