package worldtest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spidermw"
)

// A Crawl is what came of a crawl.
type Crawl struct {
	Job crawl.Job

	// Items are those of the feed as JSON, one a line, sorted.
	Items []string

	// Fetched counts how often each page was asked for, by its path with the
	// query; other hosts than [Host] by the whole URL.
	Fetched map[string]int

	// Stats are the job's (Scrapy's keys).
	Stats map[string]int64
}

// Paths are the pages that were fetched, sorted.
func (c Crawl) Paths() []string {
	paths := make([]string, 0, len(c.Fetched))
	for p := range c.Fetched {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// CrawlOptions say how [CrawlSite] crawls. The zero value is a job without
// arguments and settings of its own.
type CrawlOptions struct {
	Args      map[string]string
	Settings  map[string]string
	StartURLs []string
}

// CrawlSite crawls a site in memory and in virtual time, with the shipped
// middlewares and without a network: whatever address of http or https is asked
// for, the site answers. The spider may start at [Host]. The test fails if the
// job does not finish.
func CrawlSite(t *testing.T, s spider.Spider, site http.Handler, o CrawlOptions) Crawl {
	t.Helper()
	var got Crawl
	synctest.Test(t, func(t *testing.T) {
		w := New(t, Options{
			Settings: o.Settings,
			Spider:   func(own *spider.Spider) { *own = s; own.Name = "world" },
		})
		w.opts.Runtime = func(rt *engine.Runtime) error { return w.withMiddlewares(rt, site, o) }
		got.Job = w.Run()
		if got.Job.State != crawl.JobFinished {
			t.Errorf("the job is %s, reason %s", got.Job.State, got.Job.Reason)
		}
		got.Fetched = w.Fetched
		for _, item := range w.Output {
			text, err := json.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			got.Items = append(got.Items, string(text))
		}
		slices.Sort(got.Items)
		totals, err := w.base.Jobs.Totals(t.Context(), got.Job.UID)
		if err != nil {
			t.Fatal(err)
		}
		got.Stats = totals
	})
	return got
}

// withMiddlewares puts the shipped middlewares round a spider, as a new
// project has them, save those that need a network.
func (w *World) withMiddlewares(rt *engine.Runtime, site http.Handler, o CrawlOptions) error {
	rt.Spec.Args, rt.Spec.StartURLs = o.Args, o.StartURLs
	rt.Chain = spider.NewChain(rt.Spider, rt.Stats,
		spidermw.Start(),
		spidermw.HTTPError(rt.Settings, rt.Stats, rt.Log),
		spidermw.Referer(rt.Settings, rt.Log),
		spidermw.URLLength(rt.Settings, rt.Stats, rt.Log),
		spidermw.Depth(rt.Settings, rt.Stats, rt.Log),
	)
	offsite, err := downloadermw.Offsite(rt.Spider.AllowedDomains, rt.Stats, rt.Log)
	if err != nil {
		return err
	}
	if rt.Scope, err = downloadermw.OffsiteScope(rt.Spider.AllowedDomains); err != nil {
		return err
	}
	rt.Download = downloader.Chain(w.serve(site),
		offsite,
		downloadermw.Retry(rt.Settings, rt.Stats, rt.Log, time.Now),
		downloadermw.HTTPCompression(rt.Settings, rt.Stats, rt.Log, new(downloadermw.Decoders)),
		downloadermw.Redirect(rt.Settings, downloadermw.RedirectOptions{
			HandleStatusList: rt.Spider.HandleStatusList,
			Referer:          spidermw.RedirectReferer(rt.Settings, rt.Log),
		}, rt.Log),
		downloadermw.DownloaderStats(rt.Settings, rt.Stats),
	)
	return nil
}

// serve asks a site without a network, and keeps count.
func (w *World) serve(site http.Handler) downloader.HandlerFunc {
	return func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		w.mu.Lock()
		w.Fetched[strings.TrimPrefix(req.URL, Host)]++
		w.mu.Unlock()
		ask, err := http.NewRequestWithContext(ctx, req.HTTPMethod(), req.URL, bytes.NewReader(req.Body))
		if err != nil {
			return nil, &crawl.Failure{Reason: "unsupported-url", Message: err.Error(), Request: req}
		}
		ask.RequestURI = ask.URL.RequestURI()
		for name, values := range req.Headers {
			ask.Header[name] = values
		}
		answer := httptest.NewRecorder()
		site.ServeHTTP(answer, ask)
		result := answer.Result()
		return &crawl.Response{URL: req.URL, Status: result.StatusCode, Headers: result.Header, Body: answer.Body.Bytes(), Request: req}, nil
	}
}
