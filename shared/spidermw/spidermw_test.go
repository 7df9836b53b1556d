package spidermw_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spidermw"
	"github.com/skitterhq/skitter/shared/stats"
)

// with resolves settings that differ from the defaults.
func with(t testing.TB, values map[string]any) settings.Settings {
	t.Helper()
	s, err := settings.Resolve(settings.Layer{Name: "test", Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func noLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func pageOf(url string, status int) *spider.Page {
	req := &crawl.Request{URL: url}
	return spider.NewPage(&crawl.Response{URL: url, Status: status, Request: req, Headers: http.Header{}}, &spider.Spider{}, crawl.Job{}, nil)
}

// of are results of requests for URLs, between two items.
func of(urls ...string) spider.Results {
	return func(yield func(crawl.Result, error) bool) {
		item := crawl.Result{Item: new(crawl.Item)}
		if !yield(item, nil) {
			return
		}
		for _, u := range urls {
			if !yield(crawl.Result{Request: &crawl.Request{URL: u}}, nil) {
				return
			}
		}
		yield(item, nil)
	}
}

// output runs the middleware over what a page gave. The two items must be there.
func output(t *testing.T, mw spider.Middleware, page *spider.Page, r spider.Results) []*crawl.Request {
	t.Helper()
	if mw.ProcessOutput != nil {
		r = mw.ProcessOutput(context.Background(), page, r)
	}
	return gather(t, r)
}

func gather(t *testing.T, r spider.Results) (requests []*crawl.Request) {
	t.Helper()
	items := 0
	for res, err := range r {
		switch {
		case err != nil:
			t.Error(err)
		case res.Item != nil:
			items++
		default:
			requests = append(requests, res.Request)
		}
	}
	if items != 2 {
		t.Errorf("got %d items, want both", items)
	}
	return requests
}

func counts(t *testing.T, st *stats.Collector, want map[string]int64) {
	t.Helper()
	if diff := cmp.Diff(want, st.Take()); diff != "" {
		t.Errorf("stats mismatch (-want +got):\n%s", diff)
	}
}

func TestHTTPErrorLetsThrough(t *testing.T) {
	list := func(codes ...int) func(*spider.Page) {
		return func(p *spider.Page) { p.Request.HandleStatusList = codes }
	}
	spiders := func(codes ...int) func(*spider.Page) {
		return func(p *spider.Page) { p.Spider.HandleStatusList = codes }
	}
	tests := []struct {
		name     string
		status   int
		settings map[string]any
		change   func(*spider.Page)
		want     bool
	}{
		{name: "a success", status: 200, want: true},
		{name: "the last success", status: 299, want: true},
		{name: "not what comes before", status: 199},
		{name: "not a redirect", status: 300},
		{name: "not a 404", status: 404},
		{name: "what the request asks for", status: 404, change: list(404), want: true},
		{name: "a success whatever the request asks for", status: 200, change: list(404), want: true},
		{name: "all that the request asks for", status: 599, change: func(p *spider.Page) { p.Request.HandleStatusAll = true }, want: true},
		{name: "what the settings name", status: 404, settings: map[string]any{"HTTPERROR_ALLOWED_CODES": "404,500"}, want: true},
		{name: "everything, by a setting", status: 404, settings: map[string]any{"HTTPERROR_ALLOW_ALL": true}, want: true},
		{name: "nothing else where the request has a list", status: 500, settings: map[string]any{"HTTPERROR_ALLOW_ALL": true}, change: list(404)},
		{name: "what the spider names", status: 404, change: spiders(404), want: true},
		{name: "nothing of the settings where the spider has a list", status: 500, settings: map[string]any{"HTTPERROR_ALLOWED_CODES": 500}, change: spiders(404)},
		{name: "everything, before the spider's list", status: 500, settings: map[string]any{"HTTPERROR_ALLOW_ALL": true}, change: spiders(404), want: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			page := pageOf("http://example.com/", test.status)
			if test.change != nil {
				test.change(page)
			}
			mw := spidermw.HTTPError(with(t, test.settings), new(stats.Collector), noLog())
			err := mw.ProcessInput(context.Background(), page)
			var refused *spidermw.StatusError
			if (err == nil) != test.want || err != nil && (!errors.As(err, &refused) || refused.Status != test.status) {
				t.Errorf("got %v, want it through: %v", err, test.want)
			}
		})
	}
}

func TestHTTPErrorIgnoresWhatItRefused(t *testing.T) {
	var st stats.Collector
	var log bytes.Buffer
	mw := spidermw.HTTPError(with(t, nil), &st, slog.New(slog.NewTextHandler(&log, nil)))
	page := pageOf("http://u:secret@example.com/x", 404)

	err := fmt.Errorf("spider middleware HTTPError: %w", mw.ProcessInput(context.Background(), page))
	if _, handled := mw.ProcessException(context.Background(), page, err); !handled {
		t.Error("it does not handle its own error")
	}
	if _, handled := mw.ProcessException(context.Background(), page, errors.New("other")); handled {
		t.Error("it handles an error that is not its own")
	}
	counts(t, &st, map[string]int64{"httperror/response_ignored_count": 1, "httperror/response_ignored_status_count/404": 1})
	if l := log.String(); !strings.Contains(l, "level=INFO") || !strings.Contains(l, "status=404") || strings.Contains(l, "secret") {
		t.Errorf("got log %s", l)
	}
}

// An errback that handles a 404 sees it, and nothing is counted.
func TestHTTPErrorInTheChain(t *testing.T) {
	for errback, want := range map[string]map[string]int64{
		"sorry": nil,
		"":      {"httperror/response_ignored_count": 1, "httperror/response_ignored_status_count/404": 1},
	} {
		var st stats.Collector
		heard := 0
		registry, err := spider.NewRegistry(spider.Spider{
			Name:  "s",
			Parse: func(context.Context, *spider.Page, *spider.Output) error { t.Error("the callback saw it"); return nil },
			Errbacks: map[string]spider.Errback{"sorry": func(_ context.Context, page *spider.Page, _ *spider.Output) error {
				var refused *spidermw.StatusError
				if errors.As(page.Failure, &refused) {
					heard = refused.Status
				}
				return nil
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := registry.Get("s")
		if err != nil {
			t.Fatal(err)
		}
		page := pageOf("http://example.com/", 404)
		page.Request.Errback = errback
		for _, err := range spider.NewChain(s, &st, spidermw.HTTPError(with(t, nil), &st, noLog())).Process(context.Background(), page) {
			t.Errorf("the page failed: %v", err)
		}
		counts(t, &st, want)
		if (heard == 404) != (errback != "") {
			t.Errorf("the errback heard of %d", heard)
		}
	}
}

func TestURLLength(t *testing.T) {
	long := "http://example.com/" + strings.Repeat("x", 1000)
	for limit, want := range map[int]int{len(long): 2, len(long) - 1: 1, 0: 2} {
		var st stats.Collector
		mw := spidermw.URLLength(with(t, map[string]any{"URLLENGTH_LIMIT": limit}), &st, noLog())
		if got := output(t, mw, pageOf("http://example.com/", 200), of("http://example.com/", long)); len(got) != want {
			t.Errorf("limit %d: got %d requests, want %d", limit, len(got), want)
		}
		start := of("http://example.com/", long)
		if mw.ProcessStart != nil {
			start = mw.ProcessStart(context.Background(), spider.Start{}, start)
		}
		if got := gather(t, start); len(got) != want {
			t.Errorf("limit %d: got %d start requests, want %d", limit, len(got), want)
		}
		if dropped := st.Take()["urllength/request_ignored_count"]; dropped != int64(4-2*want) {
			t.Errorf("limit %d: %d were counted", limit, dropped)
		}
	}
}

func TestURLLengthLogsLittleOfALongURL(t *testing.T) {
	var log bytes.Buffer
	mw := spidermw.URLLength(with(t, nil), new(stats.Collector), slog.New(slog.NewTextHandler(&log, nil)))
	output(t, mw, pageOf("http://example.com/", 200), of("http://u:secret@example.com/"+strings.Repeat("x", 1<<20)))
	if l := log.String(); len(l) > 1000 || !strings.Contains(l, "http://xxxxx@example.com/xxx") {
		t.Errorf("got %d bytes of log: %.300s", len(l), l)
	}
}

func TestDepth(t *testing.T) {
	tests := []struct {
		name     string
		parent   int
		settings map[string]any
		depth    int
		priority int
		kept     int
		stats    map[string]int64
	}{
		{"links of the start", 0, nil, 1, 5, 2, map[string]int64{"request_depth_count/0": 1, "request_depth_count/1": 2}},
		{"links further away", 3, nil, 4, 5, 2, map[string]int64{"request_depth_count/4": 2}},
		{"at the limit", 1, map[string]any{"DEPTH_LIMIT": 2}, 2, 5, 2, map[string]int64{"request_depth_count/2": 2}},
		{"beyond the limit", 2, map[string]any{"DEPTH_LIMIT": 2}, 0, 0, 0, map[string]int64{"depth/request_ignored_count": 2}},
		{"near ones first", 2, map[string]any{"DEPTH_PRIORITY": 10}, 3, 5 - 30, 2, map[string]int64{"request_depth_count/3": 2}},
		{"far ones first", 2, map[string]any{"DEPTH_PRIORITY": -1}, 3, 5 + 3, 2, map[string]int64{"request_depth_count/3": 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var st stats.Collector
			page := pageOf("http://example.com/", 200)
			page.Request.Depth = test.parent
			r := of("http://example.com/1", "http://example.com/2")
			prioritised := func(yield func(crawl.Result, error) bool) {
				for res, err := range r {
					if res.Request != nil {
						res.Request.Priority = 5
					}
					if !yield(res, err) {
						return
					}
				}
			}
			got := output(t, spidermw.Depth(with(t, test.settings), &st, noLog()), page, prioritised)
			if len(got) != test.kept {
				t.Fatalf("got %d requests, want %d", len(got), test.kept)
			}
			for _, req := range got {
				if req.Depth != test.depth || req.Priority != test.priority {
					t.Errorf("got depth %d and priority %d, want %d and %d", req.Depth, req.Priority, test.depth, test.priority)
				}
			}
			counts(t, &st, test.stats)
		})
	}
}

func TestDepthCountsWhatWasTakenOfAPage(t *testing.T) {
	var st stats.Collector
	mw := spidermw.Depth(with(t, nil), &st, noLog())
	n := 0
	for range mw.ProcessOutput(context.Background(), pageOf("http://example.com/", 200), of("http://example.com/1", "http://example.com/2")) {
		if n++; n == 2 { // an item and a request
			break
		}
	}
	counts(t, &st, map[string]int64{"request_depth_count/0": 1, "request_depth_count/1": 1})
}

func TestDepthIsReset(t *testing.T) {
	var st stats.Collector
	page := pageOf("http://example.com/", 200)
	page.Request.Depth = 7
	r := func(yield func(crawl.Result, error) bool) {
		for res, err := range of("http://example.com/1", "http://example.com/2") {
			if res.Request != nil && strings.HasSuffix(res.Request.URL, "/1") {
				res.Request.DepthReset = true
			}
			yield(res, err)
		}
	}
	got := output(t, spidermw.Depth(with(t, map[string]any{"DEPTH_LIMIT": 7, "DEPTH_PRIORITY": 1}), &st, noLog()), page, r)
	if len(got) != 1 || got[0].Depth != 0 || got[0].DepthReset || got[0].Priority != 0 {
		t.Errorf("got %+v, want the one that is reset alone", got)
	}
	counts(t, &st, map[string]int64{"depth/request_ignored_count": 1})
}

func TestStartMarksWhatTheStartGives(t *testing.T) {
	mw := spidermw.Start()
	for _, req := range gather(t, mw.ProcessStart(context.Background(), spider.Start{}, of("http://example.com/1", "http://example.com/2"))) {
		if !req.Start {
			t.Errorf("%s is not marked", req.URL)
		}
	}
	if got := output(t, mw, pageOf("http://example.com/", 200), of("http://example.com/1")); got[0].Start {
		t.Error("a link is marked")
	}
}

func TestErrorsPass(t *testing.T) {
	broken := errors.New("broken")
	r := func(yield func(crawl.Result, error) bool) { yield(crawl.Result{}, broken) }
	s, st := with(t, nil), new(stats.Collector)
	for _, mw := range []spider.Middleware{spidermw.Referer(s, noLog()), spidermw.URLLength(s, st, noLog()), spidermw.Depth(s, st, noLog())} {
		var got error
		for _, err := range mw.ProcessOutput(context.Background(), pageOf("http://example.com/", 200), r) {
			got = err
		}
		if !errors.Is(got, broken) {
			t.Errorf("%s: got %v", mw.Name, got)
		}
	}
}
