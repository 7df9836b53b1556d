package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/spider"
)

// tree is a site of n pages, each linking to two others and to the first, with
// one item.
func tree(n int) worldtest.Site {
	site := make(worldtest.Site, n)
	for k := range n {
		page := fmt.Sprintf("item %d\nlink /0\n", k)
		for _, to := range []int{2*k + 1, 2*k + 2} {
			if to < n {
				page += fmt.Sprintf("link /%d\n", to)
			}
		}
		site[fmt.Sprintf("/%d", k)] = page
	}
	return site
}

func names(n int) []string {
	want := make([]string, n)
	for k := range n {
		want[k] = fmt.Sprint(k)
	}
	slices.Sort(want)
	return want
}

// runWorld runs a crawl to its end and returns it with its sorted items.
func runWorld(t *testing.T, o worldtest.Options, check func(w *worldtest.World, job crawl.Job, items []string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, o)
		job := w.Run()
		check(w, job, slices.Sorted(slices.Values(w.Delivered)))
	})
}

func TestACrawlFetchesEveryPageOnceAndEnds(t *testing.T) {
	runWorld(t, worldtest.Options{Site: tree(100), Start: []string{"/0"}}, func(w *worldtest.World, job crawl.Job, items []string) {
		if job.State != crawl.JobFinished || job.Reason != crawl.ReasonFinished {
			t.Errorf("job %s, %s; want finished, finished", job.State, job.Reason)
		}
		if diff := cmp.Diff(names(100), items); diff != "" {
			t.Errorf("items (-want, +got):\n%s", diff)
		}
		for path, n := range w.Fetched {
			if n != 1 {
				t.Errorf("%s was fetched %d times", path, n)
			}
		}
		stats, err := w.ReadStats(t.Context(), job.UID)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]any{
			"item_scraped_count": 100.0, "response_received_count": 100.0,
			"scheduler/enqueued": 100.0, "finish_reason": "finished",
		} {
			if stats[key] != want {
				t.Errorf("stat %s = %v, want %v", key, stats[key], want)
			}
		}
	})
}

func TestDuplicatesOfEveryMessageAreHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: tree(50), Start: []string{"/0"}})
		w.Duplicate = func(queue.Delivery) bool { return true }
		w.Run()
		if diff := cmp.Diff(names(50), slices.Sorted(slices.Values(w.Delivered))); diff != "" {
			t.Errorf("items (-want, +got):\n%s", diff)
		}
	})
}

func TestWhatIsWrongWithAPageFailsItAlone(t *testing.T) {
	site := worldtest.Site{
		"/":      "link /ok\nlink /error\nlink /panic\nlink /gone\nlink /empty",
		"/ok":    "item ok",
		"/error": "item before\nlink /after\nerror\nitem never",
		"/panic": "item too\npanic",
		"/empty": "",
		"/after": "item after",
	}
	runWorld(t, worldtest.Options{Site: site}, func(w *worldtest.World, job crawl.Job, items []string) {
		if job.State != crawl.JobFinished {
			t.Errorf("job %s, want finished", job.State)
		}
		if diff := cmp.Diff([]string{"after", "before", "ok", "too"}, items); diff != "" {
			t.Errorf("items (-want, +got):\n%s", diff)
		}
		stats, err := w.ReadStats(t.Context(), job.UID)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]any{
			"units/failed": 3.0, "units/done": 4.0, "spider_exceptions/count": 2.0, "spider_exceptions/PanicError": 1.0,
		} {
			if stats[key] != want {
				t.Errorf("stat %s = %v, want %v", key, stats[key], want)
			}
		}
	})
}

func TestVerdictsOfTheDownloader(t *testing.T) {
	site := worldtest.Site{
		"/":       "link /drop\nlink /retry\nlink /later\nlink /moved\nlink /round\nlink /close",
		"/retry":  "item retried",
		"/later":  "item later",
		"/target": "item target",
		"/round":  "item round",
		"/close":  "item close",
	}
	begin := time.Now()
	fetch := func(ctx context.Context, req *crawl.Request, next downloader.Handler) (*crawl.Response, error) {
		switch path := strings.TrimPrefix(req.URL, worldtest.Host); path {
		case "/drop":
			return nil, &crawl.Drop{Reason: "robots"}
		case "/retry":
			if req.RetryTimes < 2 {
				return nil, &crawl.Retry{Reason: "503", After: time.Second, Priority: -1}
			}
		case "/later":
			if at := begin.Add(30 * time.Second); time.Now().Before(at) {
				return nil, &crawl.Later{At: at, Why: "slot"}
			}
		case "/moved":
			return nil, &crawl.Instead{Request: &crawl.Request{URL: worldtest.Host + "/target"}, Reason: "302"}
		case "/round": // sets a cookie and sends back to itself, twice
			if len(req.RedirectURLs) < 2 {
				to := req.Clone()
				to.RedirectURLs = append(to.RedirectURLs, req.URL)
				to.DontFilter = true
				return nil, &crawl.Instead{Request: to, Reason: "302"}
			}
		}
		return next.Fetch(ctx, req)
	}
	synctest.Test(t, func(t *testing.T) {
		begin = time.Now()
		w := worldtest.New(t, worldtest.Options{Site: site, Fetch: fetch})
		w.Run()
		want := []string{"close", "later", "retried", "round", "target"}
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(w.Delivered))); diff != "" {
			t.Errorf("items (-want, +got):\n%s", diff)
		}
		stats, err := w.ReadStats(t.Context(), w.Job.UID)
		if err != nil {
			t.Fatal(err)
		}
		// The start page, five pages with items, and three that were redirected.
		if stats["units/done"] != 9.0 || stats["units/dropped"] != 1.0 || stats["units/failed"] != 0.0 {
			t.Errorf("done %v, dropped %v, failed %v; want 9, 1, 0", stats["units/done"], stats["units/dropped"], stats["units/failed"])
		}
	})
}

func TestRequestsThatAreNotFilteredAreDifferentWork(t *testing.T) {
	site := worldtest.Site{"/": "again /a\nagain /a\nlink /a\nlink /a", "/a": "item a"}
	runWorld(t, worldtest.Options{Site: site}, func(w *worldtest.World, _ crawl.Job, items []string) {
		if w.Fetched["/a"] != 3 || len(items) != 3 {
			t.Errorf("/a was fetched %d times and gave %d items, want 3 and 3", w.Fetched["/a"], len(items))
		}
	})
}

func TestACallbackWritesTheJobsLog(t *testing.T) {
	var log bytes.Buffer
	runWorld(t, worldtest.Options{
		Site: worldtest.Site{"/0": ""}, Start: []string{"/0"},
		Spider: func(s *spider.Spider) {
			s.Parse = func(_ context.Context, page *spider.Page, _ *spider.Output) error {
				page.Log.Warn("odd", "n", 7)
				return nil
			}
		},
		Runtime: func(rt *engine.Runtime) error { rt.Log = slog.New(slog.NewTextHandler(&log, nil)); return nil },
	}, func(*worldtest.World, crawl.Job, []string) {})
	if want := "level=WARN msg=odd url=" + worldtest.Host + "/0 n=7\n"; !strings.Contains(log.String(), want) {
		t.Errorf("log %q, want %q in it", log.String(), want)
	}
}

func TestALargeBodyTravelsBesideItsMessage(t *testing.T) {
	var page strings.Builder
	for k := range 2000 {
		fmt.Fprintf(&page, "item %x\n", k*2654435761)
	}
	runWorld(t, worldtest.Options{Site: worldtest.Site{"/": page.String()}, InlineBody: 100},
		func(_ *worldtest.World, _ crawl.Job, items []string) {
			if len(items) != 2000 {
				t.Errorf("%d items, want 2000", len(items))
			}
		})
}

func TestASpiderCanCloseItsJob(t *testing.T) {
	site := tree(500)
	site["/3"] = "item 3\nclose enough"
	runWorld(t, worldtest.Options{Site: site, Start: []string{"/0"}}, func(w *worldtest.World, job crawl.Job, items []string) {
		if job.State != crawl.JobFinished || job.Reason != "enough" {
			t.Errorf("job %s, %s; want finished, enough", job.State, job.Reason)
		}
		if len(w.Fetched) > 100 {
			t.Errorf("%d pages were fetched though the job was closed early", len(w.Fetched))
		}
		if len(items) == 0 || !slices.Contains(items, "3") {
			t.Errorf("the items of the pages that were done are not all there: %v", items)
		}
	})
}

func TestTheSameNameIsTheSameJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: tree(5), Start: []string{"/0"}})
		w.Start()
		again, created, err := w.Create(t.Context(), w.Order("job"))
		if err != nil || created || again.UID != w.Job.UID {
			t.Errorf("second start: job %s, created %v, err %v; want the first one", again.UID, created, err)
		}
		other := w.Order("job")
		other.Spec.Args = map[string]string{"x": "1"}
		_, _, err = w.Create(t.Context(), other)
		if want := "job job: a job of this name was started with other arguments (-a): give this one another name"; !errors.Is(err, engine.ErrOtherArguments) || err.Error() != want {
			t.Errorf("the same name with other arguments: %v, want %s", err, want)
		}
		w.Finish()
	})
}
