package casetest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/spider"
)

// sequences are the cases that tell a story each.
var sequences = map[string]func(*testing.T){
	"URL-06": TestURL06, "URL-20": TestURL20,
	"HTTP-05": TestHTTP05, "HTTP-06": TestHTTP06, "HTTP-07": TestHTTP07, "HTTP-08": TestHTTP08, "HTTP-09": TestHTTP09,
	"RED-12": TestRED12, "COOK-08": TestCOOK08, "RTY-03": TestRTY03, "RTY-04": TestRTY04, "RTY-05": TestRTY05,
	"DUP-08": TestDUP08, "DUP-09": TestDUP09, "SMF-09": TestSMF09, "JOB-06": TestJOB06, "JOB-07": TestJOB07,
	"SQS-12": TestSQS12, "SEC-07": TestSEC07, "PERF-05": TestPERF05,
}

// script turns answers into a site that gives one after the other.
func script(answers []scripted) http.Handler {
	var list []http.Handler
	for _, a := range answers {
		list = append(list, a)
	}
	return inTurn(list...)
}

// follows has the spider follow all links of a page, and notes them.
func follows(found *[]string) spider.Callback {
	return func(_ context.Context, p *spider.Page, out *spider.Output) error {
		links := (&extract.LinkExtractor{}).Extract(p.Document())
		for _, l := range links {
			*found = append(*found, l.URL)
		}
		out.FollowLinks(links, "")
		return nil
	}
}

func TestURL06(t *testing.T) {
	var in struct {
		Request   string
		Responses []scripted
	}
	var want struct{ Links []string }
	caseOf(t, "URL-06", &in, &want)
	var links []string
	n := &network{site: script(append(in.Responses, scripted{}))}
	scene{network: n, requests: []*crawl.Request{{URL: in.Request}}, parse: follows(&links)}.crawl(t)
	if diff := cmp.Diff(want.Links, links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if last := n.asked[len(n.asked)-1].URL; last != want.Links[0] {
		t.Errorf("the link is asked for as %s", last)
	}
}

func TestURL20(t *testing.T) {
	var in struct{ Enqueue []string }
	var want struct {
		Fetches map[string]int
		Job     string
	}
	caseOf(t, "URL-20", &in, &want)
	s := scene{network: &network{site: scripted{Body: "page"}}}
	for _, url := range in.Enqueue {
		s.requests = append(s.requests, &crawl.Request{URL: url}, &crawl.Request{URL: strings.TrimSpace(url)})
	}
	got := s.crawl(t)
	if diff := cmp.Diff(want.Fetches, s.network.counts()); diff != "" || string(got.Job.State) != want.Job {
		t.Errorf("the job is %s, fetches (-want +got):\n%s", got.Job.State, diff)
	}
}

// counts says how often each address was asked for.
func (n *network) counts() map[string]int {
	counts := map[string]int{}
	for _, url := range n.urls() {
		counts[url]++
	}
	return counts
}

func TestRED12(t *testing.T) {
	var in struct {
		Seed     string
		Settings struct {
			AllowedDomains []string `json:"allowed_domains"`
		}
		Responses []scripted
	}
	var want struct{ Followed []string }
	caseOf(t, "RED-12", &in, &want)
	in.Responses[len(in.Responses)-1].Headers = map[string]string{"Content-Type": "text/html"}
	var links []string
	n := &network{site: script(append(in.Responses, scripted{Body: "end"}))}
	scene{network: n, allowed: in.Settings.AllowedDomains, requests: []*crawl.Request{{URL: in.Seed}}, parse: follows(&links)}.crawl(t)
	if diff := cmp.Diff(want.Followed, n.urls()[len(in.Responses):]); diff != "" || len(links) != 2 {
		t.Errorf("of %q followed (-want +got):\n%s", links, diff)
	}
}

func TestRTY03(t *testing.T) {
	var in struct {
		Status   int
		Settings struct {
			RetryTimes int `json:"RETRY_TIMES"`
		}
	}
	var want struct {
		Fetches int
		Stats   map[string]int64
		DLQ     int `json:"dlq"`
	}
	caseOf(t, "RTY-03", &in, &want)
	n := &network{site: scripted{Status: in.Status}}
	got := scene{
		network: n, settings: map[string]string{"RETRY_TIMES": strconv.Itoa(in.Settings.RetryTimes)}, requests: []*crawl.Request{{URL: page}},
	}.crawl(t)
	if heard := got.only(t); heard.outcome() != "httperror" || len(n.asked) != want.Fetches || len(got.Letters) != want.DLQ {
		t.Errorf("%s after %d fetches, %d dead letters", heard.outcome(), len(n.asked), len(got.Letters))
	}
	for name, value := range want.Stats {
		if got.Stats[name] != value {
			t.Errorf("%s is %d, want %d", name, got.Stats[name], value)
		}
	}
}

func TestRTY04(t *testing.T) {
	var in struct{ Server []conditional }
	var want struct{ Callbacks int }
	caseOf(t, "RTY-04", &in, &want)
	turns := map[string]int{}
	n := &network{site: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var own []conditional
		for _, a := range in.Server {
			if a.URL == r.URL.Path {
				own = append(own, a)
			}
		}
		answer := own[min(turns[r.URL.Path], len(own)-1)]
		turns[r.URL.Path]++
		answer.ServeHTTP(w, r)
	})}
	got := scene{network: n, requests: []*crawl.Request{{URL: "http://example.com/a"}}}.crawl(t)
	if heard := got.only(t); want.Callbacks != 1 || !heard.callback || !strings.HasSuffix(heard.URL, "/b") || len(n.asked) != len(in.Server) {
		t.Errorf("told %+v after %q", heard, n.urls())
	}
}

func TestRTY05(t *testing.T) {
	var in struct{ Server []conditional }
	var want struct {
		Fetches int
		Status  int `json:"callback_status"`
	}
	caseOf(t, "RTY-05", &in, &want)
	n := &network{site: answerByCookie(in.Server)}
	got := scene{network: n, requests: []*crawl.Request{{URL: page}}}.crawl(t)
	if heard := got.only(t); !heard.callback || heard.Status != want.Status || len(n.asked) != want.Fetches {
		t.Errorf("told %+v after %d fetches, want status %d after %d", heard, len(n.asked), want.Status, want.Fetches)
	}
}

func TestDUP08(t *testing.T) {
	var in struct {
		Jobs  []string
		Pages int
	}
	var want struct{ Fetches map[string]int }
	caseOf(t, "DUP-08", &in, &want)
	s := scene{network: &network{site: scripted{Body: "page"}}, jobs: len(in.Jobs)}
	for n := range in.Pages {
		s.requests = append(s.requests, &crawl.Request{URL: fmt.Sprintf("http://example.com/%d", n)})
	}
	got := map[string]int{}
	for i, job := range s.crawlAll(t) {
		got[in.Jobs[i]] = len(job.told)
	}
	if diff := cmp.Diff(want.Fetches, got); diff != "" || len(s.network.asked) != in.Pages*len(in.Jobs) {
		t.Errorf("%d requests, fetches (-want +got):\n%s", len(s.network.asked), diff)
	}
}

func TestDUP09(t *testing.T) {
	var in struct {
		URLs       []string
		DontFilter bool `json:"dont_filter"`
		Offsite    string
	}
	var want struct{ Fetches map[string]int }
	caseOf(t, "DUP-09", &in, &want)
	n := &network{site: scripted{Body: "page"}}
	s := scene{network: n, allowed: []string{"example.com"}}
	for _, url := range append(in.URLs, in.Offsite) {
		s.requests = append(s.requests, &crawl.Request{URL: url, DontFilter: in.DontFilter})
	}
	s.crawl(t)
	// As in Scrapy since 2.11.2, what is not to be filtered may leave the site.
	want.Fetches[in.Offsite] = 1
	if diff := cmp.Diff(want.Fetches, n.counts()); diff != "" {
		t.Errorf("fetches (-want +got):\n%s", diff)
	}
}

func TestSMF09(t *testing.T) {
	var in struct {
		Chain    string
		SelfRef  bool `json:"self_ref"`
		Children []any
	}
	var want struct {
		MaxSitemaps int `json:"max_sitemaps"`
		Good        int `json:"good_child_urls"`
	}
	caseOf(t, "SMF-09", &in, &want)
	index := func(names ...string) http.Handler {
		var b strings.Builder
		for _, name := range names {
			fmt.Fprintf(&b, "<sitemap><loc>http://example.com/%s.xml</loc></sitemap>", name)
		}
		return scripted{Body: "<sitemapindex>" + b.String() + "</sitemapindex>"}
	}
	crawl := func(first string, site http.HandlerFunc) *network {
		n := &network{site: site}
		scene{network: n, legs: []spider.Leg{legs.Sitemap{SitemapURLs: []string{"http://example.com/" + first}}.Leg()}}.crawl(t)
		return n
	}
	chain := crawl("s1.xml", func(w http.ResponseWriter, r *http.Request) {
		var k int
		if _, err := fmt.Sscanf(r.URL.Path, "/s%d.xml", &k); err != nil {
			t.Error(err)
		}
		index(fmt.Sprintf("s%d", k+1)).ServeHTTP(w, r)
	})
	if got := len(chain.asked); in.Chain != "unbounded" || got > want.MaxSitemaps || got < 2 {
		t.Errorf("%d sitemaps of a chain without end, want %d at most", got, want.MaxSitemaps)
	}
	loop := crawl("self.xml", func(w http.ResponseWriter, r *http.Request) { index("self").ServeHTTP(w, r) })
	if got := len(loop.asked); !in.SelfRef || got != 1 {
		t.Errorf("an index that names itself is asked for %d times", got)
	}
	var names []string
	for k := range in.Children {
		names = append(names, fmt.Sprintf("child%d", k))
	}
	some := crawl("index.xml", func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".xml")
		at := slices.Index(names, name)
		switch {
		case name == "index":
			index(names...).ServeHTTP(w, r)
		case at < 0:
			scripted{Body: "page"}.ServeHTTP(w, r)
		case in.Children[at] == "ok":
			scripted{Body: "<urlset><url><loc>http://example.com/page</loc></url></urlset>"}.ServeHTTP(w, r)
		default:
			scripted{Status: int(in.Children[at].(float64))}.ServeHTTP(w, r)
		}
	})
	if got := some.counts()["http://example.com/page"]; got != want.Good {
		t.Errorf("%d pages of the good child, want %d: %q", got, want.Good, some.urls())
	}
}

func TestJOB06(t *testing.T) {
	var in struct{ Start []string }
	var want struct{ Reasons []string }
	caseOf(t, "JOB-06", &in, &want)
	var got []string
	for _, start := range in.Start {
		s := scene{network: &network{}, mayFail: true}
		s.start = func(yield func(crawl.Result, error) bool) {
			reason, closes := strings.CutPrefix(start, "CloseSpider:")
			if !closes {
				panic("the start does not work")
			}
			yield(crawl.Result{}, &crawl.CloseSpider{Reason: reason})
		}
		got = append(got, s.crawl(t).Job.Reason)
	}
	if diff := cmp.Diff(want.Reasons, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestJOB07(t *testing.T) {
	var in struct {
		Items   int     `json:"start_items"`
		Seconds float64 `json:"pipeline_s"`
	}
	var want struct{ Items int }
	caseOf(t, "JOB-07", &in, &want)
	s := scene{network: &network{}, steps: []pipeline.Step{{Name: "slow", Process: func(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) {
		time.Sleep(time.Duration(in.Seconds * float64(time.Second)))
		return item, nil
	}}}}
	s.start = func(yield func(crawl.Result, error) bool) {
		for n := range in.Items {
			item, err := crawl.NewItem(map[string]int{"n": n})
			if !yield(crawl.Result{Item: &item}, err) {
				return
			}
		}
	}
	if got := s.crawl(t); len(got.Items) != want.Items || got.Job.Reason != crawl.ReasonFinished {
		t.Errorf("the job ended %s with %d items, want %d", got.Job.Reason, len(got.Items), want.Items)
	}
}

// TestSQS12 runs one job after the other in one process: cookies, stats and
// fields of the first are not for the second.
func TestSQS12(t *testing.T) {
	var in struct{ Jobs []string }
	var want struct{ Leak bool }
	caseOf(t, "SQS-12", &in, &want)
	n := &network{site: scripted{HeadersList: [][2]string{{"Set-Cookie", "sid=first"}}, Body: "page"}}
	s := scene{network: n, jobs: len(in.Jobs), requests: []*crawl.Request{{URL: page}}, parse: func(_ context.Context, p *spider.Page, out *spider.Output) error {
		out.Count("own", 1)
		out.Follow("/next", "")
		return nil
	}}
	jobs := s.crawlAll(t)
	leak := false
	for i, job := range jobs {
		first, next := n.asked[2*i], n.asked[2*i+1]
		if next.Header.Get("Cookie") != "sid=first" {
			t.Errorf("job %s has no cookies of its own: %+v", in.Jobs[i], next)
		}
		leak = leak || first.Header["Cookie"] != nil || job.Stats["own"] != 2 || job.Stats["response_received_count"] != 2 || len(job.told) != 2
	}
	// What a process knows of robots.txt is for all of its jobs.
	own := func(stats map[string]int64) map[string]int64 {
		kept := maps.Clone(stats)
		maps.DeleteFunc(kept, func(name string, _ int64) bool {
			return strings.HasPrefix(name, "robotstxt/") || strings.HasPrefix(name, "downloader/")
		})
		return kept
	}
	if diff := cmp.Diff(own(jobs[0].Stats), own(jobs[len(jobs)-1].Stats)); leak != want.Leak || diff != "" {
		t.Errorf("the second job knows of the first: %v, want %v; stats (-first +second):\n%s", leak, want.Leak, diff)
	}
}

func TestSEC07(t *testing.T) {
	var in struct {
		Settings map[string]string
		URLs     []string
	}
	var want struct{ Sent []bool }
	caseOf(t, "SEC-07", &in, &want)
	n := &network{site: scripted{Body: "page"}}
	s := scene{network: n, settings: in.Settings}
	for _, url := range in.URLs {
		s.requests = append(s.requests, &crawl.Request{URL: url})
	}
	s.crawl(t)
	sent := map[string]bool{}
	for _, a := range n.asked {
		user, pass, _ := (&http.Request{Header: a.Header}).BasicAuth()
		sent[a.URL] = user == in.Settings["HTTPAUTH_USER"] && pass == in.Settings["HTTPAUTH_PASS"]
	}
	var got []bool
	for _, url := range in.URLs {
		got = append(got, sent[url])
	}
	if diff := cmp.Diff(want.Sent, got); diff != "" {
		t.Errorf("sent to %q (-want +got):\n%s", in.URLs, diff)
	}
}
