package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// The tests here are named after the letters of the design's interleavings:
// orders of events that break a design which looks right.

// wantItems checks the items that the job delivered.
func wantItems(t *testing.T, w *worldtest.World, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(w.Delivered))); diff != "" {
		t.Errorf("items (-want, +got):\n%s\nrows:\n%s", diff, w.Dump())
	}
}

// once is a fault at the nth call of a name.
func once(name string, nth int, fault worldtest.Fault) *worldtest.Faults {
	return &worldtest.Faults{At: func(n string, k int) worldtest.Fault {
		if n == name && k == nth {
			return fault
		}
		return worldtest.NoFault
	}}
}

// B: a parent puts a child's row and dies; it is redelivered to the same
// environment, whose cache must not say that the child is sent.
func TestInterleavingB(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := worldtest.Site{"/": "link /child\nitem parent", "/child": "item child"}
		// The first put is the start's row, the second the start page's.
		faults := once("rows.Put", 2, worldtest.CrashAfter)
		w := worldtest.New(t, worldtest.Options{Site: site, Wrap: faults.Around, NoCensus: true})
		begin := time.Now()
		w.Run()
		if len(faults.Log()) != 1 {
			t.Fatalf("faults %v, want one", faults.Log())
		}
		wantItems(t, w, "parent", "child")
		if took := time.Since(begin); took > 5*time.Minute {
			t.Errorf("took %s: the owner rule should have sent the child again at once", took)
		}
	})
}

// C: a parent puts children and dies each time until it is given up on; its
// queued children must still be fetched.
func TestInterleavingC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := worldtest.Site{"/": "link /a\nlink /b\nlink /good", "/a": "item a", "/b": "item b"}
		site["/good"] = "link /dies"
		site["/dies"] = "link /c1\nlink /c2"
		site["/c1"], site["/c2"] = "item c1", "item c2"
		var w *worldtest.World
		faults := &worldtest.Faults{}
		faults.At = func(name string, _ int) worldtest.Fault {
			if name == "queue.Send request" && w.Row("/c1").State == frontier.Queued && w.Row("/dies").State == frontier.Queued {
				return worldtest.CrashBefore
			}
			return worldtest.NoFault
		}
		w = worldtest.New(t, worldtest.Options{Site: site, Wrap: faults.Around, NoCensus: true})
		w.Run()
		if row := w.Row("/dies"); row.State != frontier.Failed {
			t.Errorf("the parent is %s, want failed", row.State)
		}
		wantItems(t, w, "a", "b", "c1", "c2")
	})
}

// D: a parent's second run gives other output; the children of the first run
// are queued and unsent.
func TestInterleavingD(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := worldtest.Site{"/": "", "/x": "item x", "/y": "item y", "/z": "item z"}
		faults := once("rows.Put", 2, worldtest.CrashAfter)
		runs := 0
		w := worldtest.New(t, worldtest.Options{Site: site, Wrap: faults.Around, NoCensus: true, Spider: func(s *spider.Spider) {
			s.Parse = func(ctx context.Context, page *spider.Page, out *spider.Output) error {
				if !strings.HasSuffix(page.Response.URL, ".example/") {
					out.Item(map[string]string{"name": strings.TrimPrefix(page.Response.URL, worldtest.Host+"/")})
					return nil
				}
				if runs++; runs == 1 {
					out.FollowAll([]string{"/x", "/y"}, "")
				} else {
					out.Follow("/z", "")
				}
				return nil
			}
		}})
		w.Run()
		if runs != 2 {
			t.Errorf("the parent ran %d times, want 2", runs)
		}
		wantItems(t, w, "x", "y", "z")
	})
}

// E: two runs of one unit at once: the first sends three items, the second two
// and settles. Exactly its two are delivered, and no other unit's missing item
// is masked. The job stays open until both runs are done.
func TestInterleavingE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := time.Now().Add(10 * time.Minute)
		fetch := func(ctx context.Context, req *crawl.Request, site downloader.Handler) (*crawl.Response, error) {
			if strings.HasSuffix(req.URL, "/slow") && time.Now().Before(open) {
				return nil, &crawl.Later{At: open, Why: "slot"}
			}
			return site.Fetch(ctx, req)
		}
		runs := 0
		// Settle 0 is the start's, 1 the page's first run's.
		faults := once("rows.Settle", 1, worldtest.DelayBefore)
		w := worldtest.New(t, worldtest.Options{
			Site: worldtest.Site{"/": "", "/slow": ""}, Start: []string{"/", "/slow"}, Fetch: fetch,
			Wrap: faults.Around, NoCensus: true, Spider: func(s *spider.Spider) {
				s.Parse = func(_ context.Context, page *spider.Page, out *spider.Output) error {
					if strings.HasSuffix(page.URL, "/slow") {
						return nil
					}
					runs++
					for k := range 4 - runs {
						out.Item(map[string]string{"name": fmt.Sprintf("run %d item %d", runs, k)})
					}
					return nil
				}
			},
		})
		w.Run()
		if runs != 2 {
			t.Fatalf("%d runs, want 2", runs)
		}
		wantItems(t, w, "run 2 item 0", "run 2 item 1")
	})
}

// scanHook runs something before the nth scan of a job's rows.
type scanHook struct {
	frontier.Store
	mu   sync.Mutex
	n    int
	hook func(n int)
}

func (s *scanHook) Scan(ctx context.Context, job crawl.JobUID, shard int, after *crawl.UnitID, limit int) ([]frontier.Row, error) {
	s.mu.Lock()
	n := s.n
	s.n++
	s.mu.Unlock()
	s.hook(n)
	return s.Store.Scan(ctx, job, shard, after, limit)
}

// F: while the look reads the shards one after the other, work moves behind it:
// every row that it reads is closed, and yet the job is not finished.
func TestInterleavingF(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *worldtest.World
		hook := &scanHook{hook: func(int) {}}
		site := worldtest.Site{"/": "link /parent", "/parent": ""}
		w = worldtest.New(t, worldtest.Options{Site: site, NoCensus: true, Wrap: func(p worldtest.Ports) worldtest.Ports {
			hook.Store = p.Rows
			p.Rows = hook
			return p
		}})
		w.Start()
		parent := unitOf(t, "/parent")
		// A child in a shard that the look has read when it comes to its parent.
		child := ""
		for k := range 10_000 {
			path := fmt.Sprintf("/child%d", k)
			if u := unitOf(t, path); u.Shard(frontier.Shards) < parent.Shard(frontier.Shards) {
				child = path
				break
			}
		}
		// It has no item, because the items of a shard are read before its rows.
		site["/parent"] = "link " + child
		site[child] = "item child"
		for w.Row("/parent").State != frontier.Queued {
			w.Pump()
		}
		// The look passes the child's shard while there is no child yet; then
		// the parent is done, before its own shard is read.
		hook.hook = func(n int) {
			if n != parent.Shard(frontier.Shards) {
				return
			}
			hook.hook = func(int) {}
			for w.Row("/parent").State == frontier.Queued {
				step(t, w, queue.Request, w.Fetch)
				step(t, w, queue.Page, w.Parse)
			}
		}
		hook.n = 0
		w.Restart() // it has no witness
		if _, done, err := w.Scheduler.Look(t.Context(), w.Job.UID); err != nil || done {
			t.Fatalf("the look says done %v, err %v, while %s is queued", done, err, child)
		}
		w.Finish()
		wantItems(t, w, "child")
	})
}

func unitOf(t *testing.T, path string) crawl.UnitID {
	t.Helper()
	u, err := unit(path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// step works off what is due on one queue.
func step(t *testing.T, w *worldtest.World, from queue.Name, handle func(context.Context, queue.Name, []queue.Delivery) []string) {
	t.Helper()
	batch, err := w.Base().Queue.Receive(t.Context(), from, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(batch) > 0 {
		w.Work(from, handle, batch)
	}
}

// G: the job's row is written and control dies before, or half-way through, the
// start; the first slice's pages are already done.
func TestInterleavingG(t *testing.T) {
	paths := make([]string, 7000) // more than a slice
	site := make(worldtest.Site, len(paths))
	for k := range paths {
		paths[k] = fmt.Sprintf("/%d", k)
		site[paths[k]] = ""
	}
	for _, at := range []struct {
		name  string
		fault *worldtest.Faults
	}{
		{"before the start is sent", once("queue.Send control", 0, worldtest.CrashBefore)},
		{"between two slices", once("queue.Send control", 1, worldtest.CrashBefore)},
		{"half-way through a slice", once("rows.Put", 5, worldtest.CrashAfter)},
	} {
		t.Run(at.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := worldtest.New(t, worldtest.Options{Site: site, Start: paths, Wrap: at.fault.Around, NoCensus: true})
				w.Run()
				if len(at.fault.Log()) != 1 {
					t.Fatalf("faults %v, want one", at.fault.Log())
				}
				if len(w.Fetched) != len(paths) {
					t.Errorf("%d pages fetched, want %d", len(w.Fetched), len(paths))
				}
			})
		})
	}
}

// slowSends makes each send take time, so that an invocation can run out of it.
type slowSends struct {
	worldtest.Queue
	each time.Duration

	mu   sync.Mutex
	most int // messages in one send
}

func (q *slowSends) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	q.mu.Lock()
	q.most = max(q.most, len(msgs))
	q.mu.Unlock()
	time.Sleep(q.each)
	return q.Queue.Send(ctx, to, msgs)
}

// H: a page with 100,000 items and one with thousands of links do not fit one
// invocation, and are never collected.
func TestInterleavingH(t *testing.T) {
	items, links := 100_000, 5_000
	if testing.Short() {
		items, links = 50_000, 500
	}
	// About 2,800 of these fill a send. The margin, a fifth of an invocation,
	// is longer than what is left to be sent at its end.
	const each, timeout = time.Second, 20 * time.Second
	padding := strings.Repeat("x", 200)
	synctest.Test(t, func(t *testing.T) {
		site := worldtest.Site{"/": "link /items\nlink /links", "/items": "", "/links": ""}
		sends := &slowSends{each: each}
		slices := 0
		w := worldtest.New(t, worldtest.Options{
			Site: site, NoCensus: true, Timeout: timeout,
			Wrap: func(p worldtest.Ports) worldtest.Ports {
				sends.Queue = p.Queue
				p.Queue = sends
				return p
			},
			Spider: func(s *spider.Spider) {
				small := s.Parse
				s.Parse = func(ctx context.Context, page *spider.Page, out *spider.Output) error {
					switch page.Response.URL {
					case worldtest.Host + "/items":
						slices++
						for k := range items {
							out.Item(map[string]string{"name": fmt.Sprint(k), "padding": padding})
						}
					case worldtest.Host + "/links":
						for k := range links {
							out.Follow(fmt.Sprintf("/missing/%d", k), "")
						}
					default:
						return small(ctx, page, out)
					}
					return nil
				}
			},
		})
		w.Run()
		if len(w.Delivered) != items {
			t.Errorf("%d items, want %d", len(w.Delivered), items)
		}
		if want := links + 3; len(w.Fetched) != want {
			t.Errorf("%d pages asked for, want %d", len(w.Fetched), want)
		}
		if slices < 2 {
			t.Errorf("the page with many items was read in %d slice", slices)
		}
		if sends.most > 10_000 {
			t.Errorf("%d messages in one send: outputs are collected", sends.most)
		}
	})
}

// J: closing crashes between any two of its steps; two closers at once; cancel
// and completion at once.
func TestInterleavingJ(t *testing.T) {
	site := worldtest.Site{"/": "item a\nlink /b", "/b": "item b"}
	t.Run("a crash at every call of closing", func(t *testing.T) {
		for nth := 0; ; nth++ {
			reached := false
			synctest.Test(t, func(t *testing.T) {
				var w *worldtest.World
				calls := 0
				faults := &worldtest.Faults{At: func(string, int) worldtest.Fault {
					job, err := w.Base().Jobs.Find(context.Background(), "test", "job")
					if err != nil || job.State != crawl.JobClosing {
						return worldtest.NoFault
					}
					if calls++; calls-1 != nth {
						return worldtest.NoFault
					}
					reached = true
					return worldtest.CrashAfter
				}}
				w = worldtest.New(t, worldtest.Options{Site: site, Wrap: faults.Around, NoCensus: true})
				if job := w.Run(); job.State != crawl.JobFinished {
					t.Errorf("crash at call %d: job %s, want finished", nth, job.State)
				}
				wantItems(t, w, "a", "b")
			})
			if !reached {
				if nth < 30 {
					t.Errorf("closing has %d calls only", nth)
				}
				return
			}
		}
	})
	t.Run("two closers at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := worldtest.New(t, worldtest.Options{Site: site})
			w.Duplicate = func(d queue.Delivery) bool { return strings.Contains(string(d.Body), `"close"`) }
			w.Run()
			wantItems(t, w, "a", "b")
		})
	})
	t.Run("cancel and completion at once", func(t *testing.T) {
		for pumps := range 12 {
			synctest.Test(t, func(t *testing.T) {
				w := worldtest.New(t, worldtest.Options{Site: site})
				w.Start()
				for range pumps {
					w.Pump()
				}
				if err := w.Stop(t.Context(), w.Job.UID, crawl.ReasonCancelled); err != nil {
					t.Fatal(err)
				}
				job := w.Finish()
				if (job.State == crawl.JobCancelled) != (job.Reason == crawl.ReasonCancelled) {
					t.Errorf("after %d pumps: job %s with reason %s", pumps, job.State, job.Reason)
				}
			})
		}
	})
}

// L: deliveries that reach nobody raise a message's receive count; a healthy
// request must not die of it.
func TestInterleavingL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "item a"}, NoCensus: true})
		w.Start()
		step(t, w, queue.Control, w.Control)
		for range 10 { // throttled: received, and given back by the time-out
			if _, err := w.Base().Queue.Receive(t.Context(), queue.Request, "", 10); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
		}
		w.Finish()
		wantItems(t, w, "a")
	})
}

// M: two poison pages in one batch with eight good ones; a dead letter whose
// payload crashes its reader.
func TestInterleavingM(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := worldtest.Site{"/": ""}
		var want []string
		for k := range 10 {
			path := fmt.Sprintf("/%d", k)
			site["/"] += "link " + path + "\n"
			site[path] = fmt.Sprintf("item %d", k)
			if k != 3 && k != 7 {
				want = append(want, fmt.Sprint(k))
			}
		}
		worked := make(map[string]int)
		w := worldtest.New(t, worldtest.Options{Site: site, NoCensus: true, Wrap: (&worldtest.Faults{}).Around, Spider: func(s *spider.Spider) {
			good := s.Parse
			s.Parse = func(ctx context.Context, page *spider.Page, out *spider.Output) error {
				path := strings.TrimPrefix(page.Response.URL, worldtest.Host)
				if worked[path]++; path == "/3" || path == "/7" {
					worldtest.Crash(ctx)
				}
				return good(ctx, page, out)
			}
		}})
		w.Run()
		wantItems(t, w, want...)
		for _, path := range []string{"/3", "/7"} {
			row := w.Row(path)
			if row.State != frontier.Failed || row.Why != "dead: poison" {
				t.Errorf("%s is %s, %s; want failed, dead: poison", path, row.State, row.Why)
			}
			if worked[path] != 3 {
				t.Errorf("%s was worked %d times, want 3", path, worked[path])
			}
		}
		letters, err := w.Ports.Dead.List(t.Context(), w.Job.UID, 0)
		if err != nil || len(letters) != 2 {
			t.Errorf("%d dead letters, err %v; want 2", len(letters), err)
		}
	})
	t.Run("a payload that cannot be read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := worldtest.New(t, worldtest.Options{Site: worldtest.Site{"/": "item a\nlink /b", "/b": "item b"}, NoCensus: true,
				Wrap: func(p worldtest.Ports) worldtest.Ports {
					p.Queue = garbling{p.Queue, unitOf(t, "/b").String()}
					return p
				}})
			w.Run()
			wantItems(t, w, "a")
			if row := w.Row("/b"); row.State != frontier.Failed {
				t.Errorf("/b is %s, want failed", row.State)
			}
		})
	})
}

// garbling spoils the payloads of one unit's page.
type garbling struct {
	worldtest.Queue
	unit string
}

func (q garbling) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	for k, m := range msgs {
		if header, _, _ := strings.Cut(string(m.Body), "\n"); to == queue.Page && strings.Contains(header, q.unit) {
			msgs[k].Body = []byte(header + "\n{\"req\":garbled")
		}
	}
	return q.Queue.Send(ctx, to, msgs)
}

// N: a redirect A → B → A; one that only reorders the query; two pages that
// redirect to one target.
func TestInterleavingN(t *testing.T) {
	hop := func(req *crawl.Request, to string) error {
		next := req.Clone()
		next.RedirectURLs = append(next.RedirectURLs, req.URL)
		next.URL = worldtest.Host + to
		next.DontFilter = slices.ContainsFunc(next.RedirectURLs, func(visited string) bool { return sameUnit(visited, next.URL) })
		return &crawl.Instead{Request: next, Reason: "302"}
	}
	fetch := func(ctx context.Context, req *crawl.Request, site downloader.Handler) (*crawl.Response, error) {
		first := len(req.RedirectURLs) == 0
		switch path := strings.TrimPrefix(req.URL, worldtest.Host); {
		case path == "/a" && first:
			return nil, hop(req, "/b")
		case path == "/b" && len(req.RedirectURLs) == 1:
			return nil, hop(req, "/a")
		case path == "/q?y=2&x=1" && first:
			return nil, hop(req, "/q?x=1&y=2")
		case path == "/one", path == "/two":
			return nil, hop(req, "/target")
		}
		return site.Fetch(ctx, req)
	}
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Fetch: fetch, Site: worldtest.Site{
			"/": "link /a\nlink /q?y=2&x=1\nlink /one\nlink /two", "/a": "item a", "/q?x=1&y=2": "item q", "/target": "item target",
		}})
		w.Run()
		wantItems(t, w, "a", "q", "target")
	})
}

// O: a row that was just written is not found by an eventually consistent read.
func TestInterleavingO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldtest.New(t, worldtest.Options{Site: tree(50), Start: []string{"/0"}, StaleReads: true, NoCensus: true})
		w.Run()
		wantItems(t, w, names(50)...)
		for path, n := range w.Fetched {
			if n != 1 {
				t.Errorf("%s was fetched %d times", path, n)
			}
		}
	})
}
