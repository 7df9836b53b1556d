package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/spider"
)

// An ear hears everything, and says what a test wants it to say.
type ear struct {
	say func(hook string) error

	mu    sync.Mutex
	heard map[string]int // by hook and what it was about
}

func (e *ear) hear(hook, what string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.heard == nil {
		e.heard = make(map[string]int)
	}
	e.heard[strings.TrimSpace(hook+" "+what)]++
	if e.say == nil {
		return nil
	}
	return e.say(hook)
}

func (e *ear) extension() extension.Extension {
	path := func(url string) string { return strings.TrimPrefix(url, worldtest.Host) }
	name := func(item crawl.Item) string {
		v, _ := item.Get("name")
		return fmt.Sprint(v)
	}
	return extension.Extension{
		Name:         "ear",
		SpiderOpened: func(_ context.Context, job crawl.Job) error { return e.hear("SpiderOpened", job.Spider) },
		SpiderClosed: func(_ context.Context, job crawl.Job, stats map[string]any) error {
			return e.hear("SpiderClosed", fmt.Sprint(job.State, " ", job.Reason, " ", stats["finish_reason"]))
		},
		RequestScheduled: func(_ context.Context, req *crawl.Request) error { return e.hear("RequestScheduled", path(req.URL)) },
		RequestDropped: func(_ context.Context, req *crawl.Request, reason string) error {
			return e.hear("RequestDropped", path(req.URL)+" "+reason)
		},
		ResponseReceived: func(_ context.Context, resp *crawl.Response) error {
			return e.hear("ResponseReceived", path(resp.Request.URL))
		},
		ItemScraped: func(_ context.Context, key pipeline.Key, item crawl.Item) error {
			if key.Job == "" || key.Unit.IsZero() || key.Run == "" {
				return errors.New("a key that is not whole")
			}
			return e.hear("ItemScraped", name(item))
		},
		ItemDropped: func(_ context.Context, _ pipeline.Key, item crawl.Item, reason string) error {
			return e.hear("ItemDropped", name(item)+" "+reason)
		},
		ItemError: func(_ context.Context, _ pipeline.Key, item crawl.Item, err error) error {
			return e.hear("ItemError", name(item)+" "+err.Error())
		},
		SpiderError: func(_ context.Context, page *spider.Page, err error) error {
			if page == nil {
				return e.hear("SpiderError", "of the start")
			}
			return e.hear("SpiderError", path(page.URL))
		},
		Counted: func(context.Context, crawl.Job, map[string]int64) error { return e.hear("Counted", "") },
	}
}

// eventful is a site on which everything happens, and what makes it happen.
func eventful(e *ear) worldtest.Options {
	return worldtest.Options{
		Site: worldtest.Site{
			"/":     "item a\nitem no\nitem bad\nlink /next\nlink /next\nlink /robots\nlink /off\nlink /error",
			"/next": "item b\nlink /", "/error": "error",
		},
		Scope: func(req *crawl.Request) error {
			if strings.HasSuffix(req.URL, "/off") {
				return &crawl.Drop{Reason: "offsite"}
			}
			return nil
		},
		Fetch: func(ctx context.Context, req *crawl.Request, site downloader.Handler) (*crawl.Response, error) {
			if strings.HasSuffix(req.URL, "/robots") {
				return nil, &crawl.Drop{Reason: "robots"}
			}
			return site.Fetch(ctx, req)
		},
		Steps: []pipeline.Step{{Name: "step", Process: func(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) {
			switch v, _ := item.Get("name"); v {
			case "no":
				return item, &crawl.Drop{Reason: "unwanted"}
			case "bad":
				return item, errors.New("broken")
			}
			return item, nil
		}}},
		Extensions: []extension.Extension{e.extension()},
	}
}

func TestExtensionsHearOfEverything(t *testing.T) {
	var e ear
	runWorld(t, eventful(&e), func(_ *worldtest.World, _ crawl.Job, items []string) {
		if diff := cmp.Diff([]string{"a", "b"}, items); diff != "" {
			t.Errorf("items (-want, +got):\n%s", diff)
		}
		if e.heard["Counted"] == 0 {
			t.Error("no totals were heard of")
		}
		delete(e.heard, "Counted")
		want := map[string]int{
			"SpiderOpened world": 1, "SpiderClosed finished finished finished": 1,
			"RequestScheduled /": 2, "RequestScheduled /next": 2, "RequestScheduled /robots": 1, "RequestScheduled /error": 1,
			"RequestDropped /next duplicate": 1, "RequestDropped / duplicate": 1, "RequestDropped /off offsite": 1, "RequestDropped /robots robots": 1,
			"ResponseReceived /": 1, "ResponseReceived /next": 1, "ResponseReceived /error": 1,
			"ItemScraped a": 1, "ItemScraped b": 1, "ItemDropped no unwanted": 1, "ItemError bad pipeline step step: broken": 1,
			"SpiderError /error": 1,
		}
		if diff := cmp.Diff(want, e.heard); diff != "" {
			t.Errorf("(-want, +got):\n%s", diff)
		}
	})
}

func TestExtensionsHearOfAStartThatFails(t *testing.T) {
	var e ear
	o := worldtest.Options{Site: worldtest.Site{"/": ""}, Extensions: []extension.Extension{e.extension()}, Spider: func(s *spider.Spider) {
		s.Start = func(context.Context, spider.Start) spider.Results { panic("broken") }
	}}
	runWorld(t, o, func(_ *worldtest.World, job crawl.Job, _ []string) {
		if job.State != crawl.JobFailed || e.heard["SpiderError of the start"] != 1 || e.heard["SpiderClosed failed start_error start_error"] != 1 {
			t.Errorf("job %s, heard %v", job.State, e.heard)
		}
	})
}

func TestExtensionsHearOfAJobWhosePipelineDoesNotOpen(t *testing.T) {
	var e ear
	o := worldtest.Options{Site: worldtest.Site{"/": "item a"}, Extensions: []extension.Extension{e.extension()}, Steps: []pipeline.Step{{
		Name: "shut", Open: func(context.Context, crawl.Job) error { return errors.New("shut") },
		Process: func(_ context.Context, _ pipeline.Key, item crawl.Item) (crawl.Item, error) { return item, nil },
	}}}
	runWorld(t, o, func(_ *worldtest.World, job crawl.Job, _ []string) {
		if job.State != crawl.JobFailed || e.heard["SpiderClosed failed failed <nil>"] == 0 {
			t.Errorf("job %s, heard %v", job.State, e.heard)
		}
	})
}

func TestExtensionsThatListenCostNoCallOfAPort(t *testing.T) {
	calls := func(list ...extension.Extension) int {
		faults := &worldtest.Faults{}
		synctest.Test(t, func(t *testing.T) {
			// One page after the other, so that nothing depends on what comes together.
			site := worldtest.Site{"/": "item a\nlink /1\nlink /1", "/1": "item b\nlink /2", "/2": "item c\nlink /"}
			w := worldtest.New(t, worldtest.Options{Site: site, Wrap: faults.Around, NoCensus: true, Extensions: list})
			w.Run()
		})
		return faults.Calls()
	}
	if without, with := calls(), calls(new(ear).extension()); with != without {
		t.Errorf("%d calls with an extension, %d without", with, without)
	}
}

// Messages that come twice tell of things twice at most, and lose none.
func TestExtensionsHearAtLeastOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ear
		w := worldtest.New(t, worldtest.Options{Site: tree(20), Start: []string{"/0"}, Extensions: []extension.Extension{e.extension()}})
		w.Duplicate = func(queue.Delivery) bool { return true }
		w.Run()
		for _, name := range names(20) {
			if e.heard["ItemScraped "+name] == 0 || e.heard["ResponseReceived /"+name] == 0 {
				t.Errorf("nobody heard of page %s", name)
			}
		}
	})
}
