package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/spider"
)

// The tests here are named after the invariants of docs/architecture.md,
// section 11.

// graph is a random site in which not every page is reachable, and what a
// reader of all reachable pages finds.
func graph(r *rand.Rand, pages int) (site worldtest.Site, reachable map[string]bool, items []string) {
	site = make(worldtest.Site, pages)
	links := make(map[string][]string, pages)
	for k := range pages {
		path := fmt.Sprintf("/%d", k)
		var b strings.Builder
		for n := range r.IntN(3) {
			fmt.Fprintf(&b, "item %d.%d\n", k, n)
		}
		for range r.IntN(4) {
			to := fmt.Sprintf("/%d", r.IntN(pages))
			links[path] = append(links[path], to)
			fmt.Fprintf(&b, "link %s\n", to)
		}
		site[path] = b.String()
	}
	reachable = map[string]bool{"/0": true}
	for todo := []string{"/0"}; len(todo) > 0; todo = todo[1:] {
		for line := range strings.Lines(site[todo[0]]) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "item "); ok {
				items = append(items, name)
			}
		}
		for _, to := range links[todo[0]] {
			if !reachable[to] {
				reachable[to] = true
				todo = append(todo, to)
			}
		}
	}
	slices.Sort(items)
	return site, reachable, items
}

// faultyWorld runs a random site with faults at random calls and duplicates of
// random messages, and hands the end to check.
func faultyWorld(t *testing.T, seed uint64, check func(w *worldtest.World, job crawl.Job, reachable map[string]bool, items []string)) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	site, reachable, items := graph(r, 40)
	faults := &worldtest.Faults{Plan: make(map[int]worldtest.Fault)}
	for range 6 {
		faults.Plan[r.IntN(600)] = worldtest.AllFaults[r.IntN(len(worldtest.AllFaults))]
	}
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: site, Start: []string{"/0"}, Wrap: faults.Around, NoCensus: seed%2 == 0, StaleReads: seed%3 == 0})
		w.Duplicate = func(queue.Delivery) bool { return r.IntN(10) == 0 }
		job := w.Run()
		faults.Plan = nil // what is looked at from here on is not under test
		check(w, job, reachable, items)
		if t.Failed() {
			t.Logf("seed %d, faults %v", seed, faults.Log())
		}
	})
}

// seeds is how many random sites are crawled.
func seeds() uint64 {
	if testing.Short() {
		return 5
	}
	return 30
}

// I1: every admitted unit is settled exactly once in the count; none is lost.
func TestI1EveryUnitIsSettledOnce(t *testing.T) {
	for seed := range seeds() {
		faultyWorld(t, seed, func(w *worldtest.World, job crawl.Job, reachable map[string]bool, _ []string) {
			tally, err := w.Scheduler.Tally(t.Context(), job.UID)
			if err != nil {
				t.Fatal(err)
			}
			if tally.Queued != 0 || tally.Done != len(reachable) || tally.Failed+tally.Dropped != 0 || tally.Rows != len(reachable)+1 {
				t.Errorf("seed %d: %+v, want %d units, all done", seed, tally, len(reachable))
			}
		})
	}
}

// I2: every reachable page is fetched; the items of exactly one run of each
// page are delivered, once.
func TestI2EveryReachablePageGivesItsItemsOnce(t *testing.T) {
	for seed := range seeds() {
		faultyWorld(t, seed, func(w *worldtest.World, _ crawl.Job, reachable map[string]bool, items []string) {
			for path := range reachable {
				if w.Fetched[path] == 0 {
					t.Errorf("seed %d: %s was never fetched", seed, path)
				}
			}
			for path := range w.Fetched {
				if !reachable[path] {
					t.Errorf("seed %d: %s was fetched though nothing links to it", seed, path)
				}
			}
			if diff := cmp.Diff(items, slices.Sorted(slices.Values(w.Delivered))); diff != "" {
				t.Errorf("seed %d: items (-want, +got):\n%s", seed, diff)
			}
		})
	}
}

// I3: a job finishes, and exactly once, also with poison pages, dead letters
// and a page that never answers.
func TestI3AJobFinishesOnce(t *testing.T) {
	site := worldtest.Site{
		"/":     "item ok\nlink /poison\nlink /fails\nlink /silent\nlink /panics\nlink /next",
		"/next": "item next", "/poison": "", "/silent": "", "/fails": "", "/panics": "panic",
	}
	fetch := func(ctx context.Context, req *crawl.Request, next downloader.Handler) (*crawl.Response, error) {
		switch strings.TrimPrefix(req.URL, worldtest.Host) {
		case "/silent":
			if req.RetryTimes < 2 {
				return nil, &crawl.Retry{Reason: "timeout", After: 3 * time.Minute}
			}
			return nil, &crawl.Failure{Reason: "timeout"}
		case "/fails":
			return nil, &crawl.Failure{Reason: "connect"}
		}
		return next.Fetch(ctx, req)
	}
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{
			Site: site, Fetch: fetch, NoCensus: true, Wrap: (&worldtest.Faults{}).Around,
			Spider: func(s *spider.Spider) {
				good := s.Parse
				s.Parse = func(ctx context.Context, page *spider.Page, out *spider.Output) error {
					if strings.HasSuffix(page.URL, "/poison") {
						worldtest.Crash(ctx)
					}
					return good(ctx, page, out)
				}
			},
		})
		w.Duplicate = func(d queue.Delivery) bool { return strings.Contains(string(d.Body), `"control"`) }
		job := w.Run()
		if job.State != crawl.JobFinished || job.Reason != crawl.ReasonFinished {
			t.Errorf("job %s, %s; want finished", job.State, job.Reason)
		}
		wantItems(t, w, "ok", "next")
		for path, why := range map[string]string{
			"/poison": "dead: poison", "/fails": "connect", "/silent": "timeout", "/panics": "spider-error: PanicError",
		} {
			if row := w.Row(path); row.State != frontier.Failed || row.Why != why {
				t.Errorf("%s is %s, %s; want failed, %s", path, row.State, row.Why, why)
			}
		}
		deliveries := w.Deliveries
		for range 100 { // what is left over must not wake it
			w.Pump()
		}
		if w.Deliveries != deliveries {
			t.Errorf("the job was closed %d times more", w.Deliveries-deliveries)
		}
	})
}

// I5: a cancelled or over-budget job stops: after the decision is read nothing
// more is fetched for it, and what is in flight settles.
func TestI5AStoppedJobFetchesNoMore(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := worldtest.New(t, worldtest.Options{Site: tree(500), Start: []string{"/0"}, NoCensus: true})
			w.Start()
			for len(w.Fetched) < 20 {
				w.Pump()
			}
			if err := w.Stop(t.Context(), w.Job.UID, crawl.ReasonCancelled); err != nil {
				t.Fatal(err)
			}
			before := len(w.Fetched)
			begin := time.Now()
			job := w.Finish()
			if job.State != crawl.JobCancelled || job.Reason != crawl.ReasonCancelled {
				t.Errorf("job %s, %s; want cancelled", job.State, job.Reason)
			}
			if len(w.Fetched) != before {
				t.Errorf("%d pages were fetched after the job was cancelled", len(w.Fetched)-before)
			}
			if took := time.Since(begin); took > 2*time.Minute {
				t.Errorf("closed after %s, want two minutes at most", took)
			}
			if len(w.Delivered) < before-10 {
				t.Errorf("%d items of %d pages: pages that were there were not parsed", len(w.Delivered), before)
			}
		})
	})
	for setting, reason := range map[string]string{
		"CLOSESPIDER_PAGECOUNT": "closespider_pagecount", "CLOSESPIDER_ITEMCOUNT": "closespider_itemcount",
		"CLOSESPIDER_PAGECOUNT_NO_ITEM": "closespider_pagecount_no_item",
	} {
		t.Run(setting, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				site := tree(500)
				if setting == "CLOSESPIDER_PAGECOUNT_NO_ITEM" {
					for path, page := range site {
						_, site[path], _ = strings.Cut(page, "\n") // without its item
					}
				}
				w := worldtest.New(t, worldtest.Options{Site: site, Start: []string{"/0"}, Settings: map[string]string{setting: "30"}})
				job := w.Run()
				if job.State != crawl.JobFinished || job.Reason != reason {
					t.Errorf("job %s, %s; want finished, %s", job.State, job.Reason, reason)
				}
				if n := len(w.Fetched); n < 30 || n > 30+3*10 {
					t.Errorf("%d pages, want 30 and what was in flight", n)
				}
			})
		})
	}
	t.Run("CLOSESPIDER_TIMEOUT_NO_ITEM", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			never := func(context.Context, *crawl.Request, downloader.Handler) (*crawl.Response, error) {
				return nil, &crawl.Later{At: time.Now().Add(time.Hour), Why: "slot"}
			}
			begin := time.Now()
			w := worldtest.New(t, worldtest.Options{Site: tree(3), Start: []string{"/0"}, Fetch: never, Settings: map[string]string{"CLOSESPIDER_TIMEOUT_NO_ITEM": "60"}})
			if job := w.Run(); job.Reason != "closespider_timeout_no_item" {
				t.Errorf("job %s, %s; want closespider_timeout_no_item", job.State, job.Reason)
			}
			if took := time.Since(begin); took > 5*time.Minute {
				t.Errorf("closed after %s, though nothing moved for a minute", took)
			}
		})
	})
	t.Run("CLOSESPIDER_TIMEOUT", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow := func(ctx context.Context, req *crawl.Request, next downloader.Handler) (*crawl.Response, error) {
				time.Sleep(time.Second)
				return next.Fetch(ctx, req)
			}
			w := worldtest.New(t, worldtest.Options{Site: tree(5000), Start: []string{"/0"}, Fetch: slow, Settings: map[string]string{"CLOSESPIDER_TIMEOUT": "60"}})
			if job := w.Run(); job.Reason != "closespider_timeout" {
				t.Errorf("job %s, %s; want closespider_timeout", job.State, job.Reason)
			}
		})
	})
}

// I7: memory is bounded by batches, not by the size of the crawl: a long
// start is never held at once.
func TestI7AStartIsNotCollected(t *testing.T) {
	urls := 200_000
	if testing.Short() {
		urls = 20_000
	}
	synctest.Test(t, func(t *testing.T) {
		given, most := 0, uint64(0)
		sends := &slowSends{}
		w := worldtest.New(t, worldtest.Options{
			Site: worldtest.Site{}, NoCensus: true,
			Wrap: func(p worldtest.Ports) worldtest.Ports {
				sends.Queue = p.Queue
				p.Queue, p.Rows = discard{sends}, discardRows{p.Rows}
				return p
			},
			Spider: func(s *spider.Spider) {
				s.Start = func(context.Context, spider.Start) spider.Results {
					return func(yield func(crawl.Result, error) bool) {
						for k := range urls {
							given++
							if k%(urls/4) == urls/4-1 {
								most = max(most, heap())
							}
							if !yield(crawl.Result{Request: &crawl.Request{URL: fmt.Sprintf("%s/%d", worldtest.Host, k)}}, nil) {
								return
							}
						}
					}
				}
			},
		})
		before := heap()
		w.Start()
		for w.StartQueued() {
			step(t, w, queue.Control, w.Control)
		}
		if grown := int64(most) - int64(before); grown > 32<<20 {
			t.Errorf("the heap grew by %d MB", grown>>20)
		}
		if sends.most > 1000 {
			t.Errorf("%d requests in one send", sends.most)
		}
		if given < urls {
			t.Errorf("%d of %d start requests were read", given, urls)
		}
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// discard forgets requests, and discardRows their rows, so that what is
// measured is what the engine itself holds.
type discard struct{ worldtest.Queue }

func (q discard) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	if to == queue.Request {
		msgs = nil
	}
	return q.Queue.Send(ctx, to, msgs)
}

type discardRows struct{ frontier.Store }

func (s discardRows) Put(ctx context.Context, job crawl.JobUID, rows []frontier.Row) ([]*frontier.Row, error) {
	if rows[0].Unit == crawl.StartUnit {
		return s.Store.Put(ctx, job, rows)
	}
	return make([]*frontier.Row, len(rows)), nil
}
