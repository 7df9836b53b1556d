package casetest

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// crawlBound crawls a site whose every page links on, with the middlewares that
// a project begins with and no setting of its own. The limit of a URL's length
// ends it, so the limits that a case names are not asked for.
func crawlBound(t *testing.T, c reported) {
	var in struct {
		Seed      string
		EveryPage string `json:"every_page"`
		Limits    map[string]int
	}
	var want struct {
		MaxFetches int    `json:"max_fetches"`
		Reason     string `json:"finish_reason"`
	}
	decode(t, c, &in, &want)
	synctest.Test(t, func(t *testing.T) {
		fetched := 0
		w := worldtest.New(t, worldtest.Options{
			Fetch: func(_ context.Context, req *crawl.Request, _ downloader.Handler) (*crawl.Response, error) {
				fetched++
				return &crawl.Response{URL: req.URL, Status: 200, Body: []byte(in.EveryPage), Request: req}, nil
			},
			Spider: func(s *spider.Spider) {
				s.StartURLs = []string{in.Seed}
				s.Parse = func(_ context.Context, page *spider.Page, out *spider.Output) error {
					out.FollowLinks((&extract.LinkExtractor{}).Extract(page.Document()), "")
					return nil
				}
			},
			Engine: withShippedMiddlewares,
		})
		job := w.Run()
		if job.Reason != want.Reason || fetched > want.MaxFetches || fetched < 2 {
			t.Errorf("the job ended %s after %d fetches, want %s after 2 to %d", job.Reason, fetched, want.Reason, want.MaxFetches)
		}
		counted, err := w.Ports.Jobs.Totals(t.Context(), job.UID)
		if err != nil {
			t.Fatal(err)
		}
		if counted["urllength/request_ignored_count"] == 0 {
			t.Errorf("no count says what ended it: %v", counted)
		}
		t.Logf("%d fetches", fetched)
	})
}

// withShippedMiddlewares gives the engine's jobs the spider middlewares of the
// project that Skitter comes with.
func withShippedMiddlewares(c *engine.Config) {
	build := c.Build
	c.Build = func(job crawl.Job, spec crawl.JobSpec) (*engine.Runtime, error) {
		rt, err := build(job, spec)
		if err != nil {
			return nil, err
		}
		env := project.Env{Job: job, Spider: rt.Spider, Settings: rt.Settings, Stats: rt.Stats, Log: slog.New(slog.DiscardHandler)}
		mws, err := spiders.Project().SpiderMiddlewares(env)
		if err != nil {
			return nil, err
		}
		rt.Chain = spider.NewChain(rt.Spider, rt.Stats, mws...)
		return rt, nil
	}
}
