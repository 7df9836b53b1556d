package casetest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spidermw"
	"github.com/skitterhq/skitter/spiders"
)

// A scene is a crawl of the network by the project that Skitter comes with:
// its lists of middlewares, its handlers, every request through the queues. The
// spider starts with the requests, hands on what it hears and does no more than
// parse says.
type scene struct {
	network  *network
	settings map[string]string
	allowed  []string // domains

	requests []*crawl.Request  // to start with
	start    spider.Results    // in place of the requests
	args     map[string]string // url is an address to start with, in place of the requests
	parse    spider.Callback   // after what was heard is noted
	legs     []spider.Leg
	steps    []pipeline.Step

	innermost []downloader.Middleware // nearest to the web, after those that are shipped
	perHost   int                     // connections to one host; 0 means the default
	jobs      int                     // one after the other in one process; 0 means one
	mayFail   bool
}

// A telling is what a callback or an errback of the spider was given.
type telling struct {
	callback bool // else the errback
	URL      string
	Status   int
	Headers  http.Header
	Body     string
	Flags    []string
	Request  *crawl.Request
	failure  error
}

// outcome says in a few words what the spider was told.
func (h telling) outcome() string {
	var status *spidermw.StatusError
	var failure *crawl.Failure
	switch {
	case h.callback:
		return h.Body
	case errors.As(h.failure, &status):
		return "httperror"
	case errors.As(h.failure, &failure):
		return failure.Reason
	}
	return h.failure.Error()
}

// A crawled is what came of a scene.
type crawled struct {
	worldtest.Crawl
	told []telling
}

// only is the one thing that the spider was told.
func (c crawled) only(t *testing.T) telling {
	t.Helper()
	if len(c.told) != 1 {
		t.Fatalf("the spider was told %d things, want one: %+v\n%s", len(c.told), c.told, c.Log)
	}
	return c.told[0]
}

func (s scene) crawl(t *testing.T) crawled {
	t.Helper()
	jobs := s.crawlAll(t)
	return jobs[len(jobs)-1]
}

// crawlAll crawls in each of the scene's jobs.
func (s scene) crawlAll(t *testing.T) []crawled {
	t.Helper()
	var mu sync.Mutex
	told := map[crawl.JobUID][]telling{}
	hear := func(callback bool) spider.Callback {
		return func(ctx context.Context, page *spider.Page, out *spider.Output) error {
			mu.Lock()
			defer mu.Unlock()
			told[page.Job.UID] = append(told[page.Job.UID], telling{
				callback: callback, URL: page.Response.URL, Status: page.Status, Headers: page.Headers.Clone(), Body: string(page.Body),
				Flags: page.Flags, Request: page.Request.Clone(), failure: page.Failure,
			})
			if callback && s.parse != nil {
				return s.parse(ctx, page, out)
			}
			return nil
		}
	}
	start := s.start
	if start == nil {
		start = func(yield func(crawl.Result, error) bool) {
			for _, req := range s.requests {
				req = req.Clone()
				req.Errback = "failed"
				if !yield(crawl.Result{Request: req}, nil) {
					return
				}
			}
		}
	}
	p := spiders.Project()
	p.Definitions = nil
	p.Spiders = []spider.Spider{{
		Name: "cases", AllowedDomains: s.allowed, Parse: hear(true), Errbacks: map[string]spider.Errback{"failed": hear(false)},
		Legs: s.legs, Start: func(_ context.Context, asked spider.Start) spider.Results {
			if asked.Args["url"] == "" {
				return start
			}
			return func(yield func(crawl.Result, error) bool) {
				yield(crawl.Result{Request: &crawl.Request{URL: asked.Args["url"], Errback: "failed"}}, nil)
			}
		},
	}}
	shipped := p.DownloaderMiddlewares
	p.DownloaderMiddlewares = func(env project.Env) ([]downloader.Middleware, error) {
		list, err := shipped(env)
		return append(list, s.innermost...), err
	}
	if s.steps != nil {
		p.Pipeline = func(project.Env) ([]pipeline.Step, error) { return s.steps, nil }
	}
	names := slices.Repeat([]string{"cases"}, max(s.jobs, 1))
	var all []crawled
	for _, c := range worldtest.CrawlJobs(t, p, names, nil, worldtest.CrawlOptions{
		Settings: s.settings, Args: s.args, Web: s.connect, MayFail: s.mayFail,
	}) {
		all = append(all, crawled{Crawl: c, told: told[c.Job.UID]})
	}
	return all
}

func (s scene) connect(t *testing.T, o *handlers.Options) {
	o.ConnsPerHost = s.perHost
	s.network.connect(t, o)
}

// ofURL is a request with headers that a case sets.
func ofURL(method, url string, headers map[string]string) *crawl.Request {
	req := &crawl.Request{Method: method, URL: url}
	for name, value := range headers {
		req.SetHeader(name, value)
	}
	return req
}

// A scripted answer is what a case's server says.
type scripted struct {
	Status      int
	Headers     map[string]string
	HeadersList [][2]string `json:"headers_list"`
	Body        string
	BodyB64     []byte `json:"body_b64"`
}

// ServeHTTP sends the answer, with the bytes of its headers as they are.
func (a scripted) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for name, value := range a.Headers {
		if strings.EqualFold(name, "Content-Length") {
			continue // that of the body on the wire is the server's business
		}
		w.Header().Set(name, value)
	}
	for _, h := range a.HeadersList {
		w.Header().Add(h[0], h[1])
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header()["Content-Type"] = nil // else it is guessed
	}
	body := a.BodyB64
	if body == nil {
		body = []byte(a.Body)
	}
	status := a.Status
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	if status != http.StatusNoContent && status != http.StatusNotModified {
		_, _ = w.Write(body) // whoever hangs up has heard enough
	}
}

// inTurn answers each request with the next of a list.
func inTurn(answers ...http.Handler) http.Handler {
	n := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		answers[min(n, len(answers))-1].ServeHTTP(w, r)
	})
}
