package casetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
)

// robotsFetchMany asks for a page whose robots.txt cannot be had, and says
// whether the page was fetched.
func robotsFetchMany(t *testing.T, c reported) {
	var in struct {
		Responses []struct {
			Status int
			Error  string
		}
	}
	var want struct {
		Allow         []bool
		CachesForever bool `json:"cache_failures_forever"`
	}
	decode(t, c, &in, &want)
	if len(in.Responses) != len(want.Allow) {
		t.Fatalf("%d answers and %d verdicts", len(in.Responses), len(want.Allow))
	}
	for i, response := range in.Responses {
		n := &network{site: scripted{Body: "page"}, robots: scripted{Status: response.Status}}
		switch response.Error {
		case "":
		case "refused":
			n.refuses = []string{"example.com"}
		default:
			t.Fatalf("no error is named %s", response.Error)
		}
		got := scene{network: n, requests: []*crawl.Request{{URL: page}}}.crawl(t)
		if allowed := len(n.asked) > 0; allowed != want.Allow[i] {
			t.Errorf("%+v: fetched %v, want %v\n%s", response, allowed, want.Allow[i], got.Log)
		}
		// Once the file can be had, what it allows is fetched.
		n = &network{site: scripted{Body: "page"}, robots: inTurn(scripted{Status: response.Status}, http.NotFoundHandler())}
		if response.Error != "" {
			n.refusals = 1
		}
		scene{network: n, requests: []*crawl.Request{{URL: page}}}.crawl(t)
		if forever := len(n.asked) == 0; forever != want.CachesForever {
			t.Errorf("%+v, once: fetched nothing: %v, want %v", response, forever, want.CachesForever)
		}
	}
}

// robotsFetch has robots.txt redirect from one host to the next, and asks for a
// page of the first host and one of the last.
func robotsFetch(t *testing.T, c reported) {
	var in struct {
		Hops        int
		Final       string
		VariantHops int `json:"variant_hops"`
	}
	var want map[string]any
	decode(t, c, &in, &want)
	for what := range want {
		if !slices.Contains([]string{"example.com/p", "cdn.example/p", "variant"}, what) {
			t.Fatalf("the case asks for %s, which nobody looks at", what)
		}
	}
	got := followRobots(t, in.Hops, in.Final)
	if fetched := slices.Contains(got, "http://example.com/p"); fetched != want["example.com/p"] {
		t.Errorf("after %d hops: http://example.com/p is fetched: %v, want %v", in.Hops, fetched, want["example.com/p"])
	}
	if want["cdn.example/p"] != "own robots" {
		t.Fatalf("cdn.example/p: %v is no verdict", want["cdn.example/p"])
	}
	if !slices.Contains(got, "https://cdn.example/robots.txt") || !slices.Contains(got, "https://cdn.example/p") {
		t.Errorf("after %d hops: asked for %q; want the last host's page by its own robots.txt", in.Hops, got)
	}
	if fetched := slices.Contains(followRobots(t, in.VariantHops, in.Final), "http://example.com/p"); fetched != want["variant"] {
		t.Errorf("after %d hops: http://example.com/p is fetched: %v, want %v", in.VariantHops, fetched, want["variant"])
	}
}

// followRobots crawls with a robots.txt that is so many hops away, and returns
// the addresses that were asked for.
func followRobots(t *testing.T, hops int, final string) []string {
	var files []string
	n := &network{}
	n.robots = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "cdn.example" {
			files = append(files, "https://cdn.example/robots.txt")
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, "https://example.com/hop/1", http.StatusMovedPermanently)
	})
	n.site = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var hop int
		if _, err := fmt.Sscanf(r.URL.Path, "/hop/%d", &hop); err != nil {
			scripted{Body: "page"}.ServeHTTP(w, r)
			return
		}
		switch {
		case hop == hops:
			scripted{Body: final}.ServeHTTP(w, r)
		case hop == hops-1:
			http.Redirect(w, r, fmt.Sprintf("https://cdn.example/hop/%d", hops), http.StatusMovedPermanently)
		default:
			http.Redirect(w, r, fmt.Sprintf("/hop/%d", hop+1), http.StatusMovedPermanently)
		}
	})
	scene{network: n, requests: []*crawl.Request{{URL: "http://example.com/p"}, {URL: "https://cdn.example/p"}}}.crawl(t)
	return append(files, n.urls()...)
}

// robotsFetchURLs looks at which robots.txt are fetched for pages, and at what
// of the pages goes to them.
func robotsFetchURLs(t *testing.T, c reported) {
	var in struct{ URLs []string }
	var want struct {
		RobotsURLs []string `json:"robots_urls"`
	}
	decode(t, c, &in, &want)
	var files []string
	n := &network{site: scripted{Body: "page"}, robots: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		files = append(files, scheme+r.Host+r.RequestURI)
		if r.Header["Authorization"] != nil || r.Header["Cookie"] != nil {
			t.Errorf("%s was asked for with %v", r.RequestURI, r.Header)
		}
		http.NotFound(w, r)
	})}
	s := scene{network: n}
	for _, url := range in.URLs {
		s.requests = append(s.requests, ofURL("GET", url+"?query", map[string]string{"Authorization": "Basic x", "Cookie": "s=1"}))
	}
	s.crawl(t)
	slices.Sort(files)
	if diff := cmp.Diff(slices.Sorted(slices.Values(want.RobotsURLs)), files); diff != "" {
		t.Errorf("robots.txt (-want +got):\n%s", diff)
	}
	if len(n.asked) != len(in.URLs) {
		t.Errorf("%d pages were fetched, want %d: %s", len(n.asked), len(in.URLs), strings.Join(n.urls(), " "))
	}
}

// retryStatuses asks for a page of each status, and says for which it was asked
// again.
func retryStatuses(t *testing.T, c reported) {
	var in struct{ Statuses []int }
	var want struct{ Retried []int }
	decode(t, c, &in, &want)
	var got []int
	for _, status := range in.Statuses {
		n := &network{site: scripted{Status: status}}
		crawled := scene{network: n, requests: []*crawl.Request{{URL: page}}}.crawl(t)
		if crawled.Stats["retry/count"] > 0 {
			got = append(got, status)
		}
		if again := len(n.asked) > 1; again != (crawled.Stats["retry/count"] > 0) {
			t.Errorf("status %d: %d requests, retry/count is %d", status, len(n.asked), crawled.Stats["retry/count"])
		}
	}
	if diff := cmp.Diff(want.Retried, got); diff != "" {
		t.Errorf("retried (-want +got):\n%s", diff)
	}
}
