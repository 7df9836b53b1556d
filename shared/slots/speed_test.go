package slots_test

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/slots"
)

// An errand is a request in a queue: when it is delivered, and the place that
// it was told.
type errand struct {
	due, told time.Time
	copied    bool // delivered though it is, or was, worked
	copies    int  // of this one, so far
}

type errands []errand

func (e errands) Len() int           { return len(e) }
func (e errands) Less(a, b int) bool { return e[a].due.Before(e[b].due) }
func (e errands) Swap(a, b int)      { e[a], e[b] = e[b], e[a] }
func (e *errands) Push(x any)        { *e = append(*e, x.(errand)) }
func (e *errands) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// A job is a queue of requests with delays, which processes work as the engine
// does: each has so many under way at a time, and what is sent away comes back
// when it is due, with the place that it was told.
type job struct {
	mu   sync.Mutex
	left errands
	open int // not fetched yet
}

func newJob(pages int) *job {
	j := &job{open: pages}
	for range pages {
		j.left = append(j.left, errand{due: time.Now()})
	}
	return j
}

// next takes what is due, or says how long to wait.
func (j *job) next() (e errand, wait time.Duration, ok bool) {
	const look = 50 * ms // at least this often, since more may have come
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open == 0 {
		return errand{}, 0, false
	}
	if len(j.left) == 0 {
		return errand{}, look, true
	}
	if wait := time.Until(j.left[0].due); wait > 0 {
		return errand{}, min(wait, look), true
	}
	return heap.Pop(&j.left).(errand), 0, true
}

func (j *job) put(e errand) {
	j.mu.Lock()
	defer j.mu.Unlock()
	heap.Push(&j.left, e)
}

func (j *job) done() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open--
}

func (j *job) over() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.open == 0
}

// crawl has askers fetch through one process until ctx is done or nothing is
// left.
func (w *world) crawl(ctx context.Context, t *testing.T, all *sync.WaitGroup, h downloader.Handler, j *job, askers int) {
	for range askers {
		all.Go(func() {
			for {
				e, wait, ok := j.next()
				if !ok || ctx.Err() != nil {
					return
				}
				if wait > 0 {
					time.Sleep(wait)
					continue
				}
				_, err := h.Fetch(slots.WithTold(ctx, e.told), page)
				var later *crawl.Later
				switch {
				case err == nil:
					j.done()
				case errors.As(err, &later):
					e.due = later.At
					if later.Queued {
						e.told = later.At
					}
					j.put(e)
					w.mu.Lock()
					w.resends++
					w.mu.Unlock()
				case ctx.Err() == nil:
					t.Error(err)
				}
			}
		})
	}
}

// How fast a slot is used, as a part of what its policy allows.
func TestASlotIsUsedAsFastAsItMayBe(t *testing.T) {
	tests := []struct {
		name             string
		policy           slots.Policy
		latency, jitter  time.Duration
		pages, processes int
		askers           int     // in each process
		rate             float64 // pages a second that are allowed
		used             float64 // part of that, at least
		resends          float64 // a page, at most
	}{
		{"a quick server", slots.Policy{Concurrency: 1}, ms, 0, 5000, 1, 16, 1000, 0.9, 0.01},
		{"as many askers as permits", slots.Policy{Concurrency: 16}, 200 * ms, 0, 2000, 1, 16, 80, 0.9, 1.5},
		{"Scrapy's settings", slots.Policy{Concurrency: 8}, 200 * ms, 0, 2000, 1, 16, 40, 0.9, 1.5},
		{"Scrapy's settings, answers of many speeds", slots.Policy{Concurrency: 8}, 200 * ms, 150 * ms, 2000, 1, 16, 40, 0.9, 1.5},
		{"many more askers than permits", slots.Policy{Concurrency: 4}, 200 * ms, 50 * ms, 500, 1, 64, 20, 0.9, 3},
		{"three processes", slots.Policy{Concurrency: 4}, 200 * ms, 0, 600, 3, 16, 20, 0.8, 4},
		{"three processes, answers of many speeds", slots.Policy{Concurrency: 4}, 200 * ms, 150 * ms, 600, 3, 16, 20, 0.8, 4},
		{"three processes with a permit each at most", slots.Policy{Concurrency: 3}, 200 * ms, 50 * ms, 300, 3, 1, 15, 0.8, 1},
		{"one permit, slow answers", slots.Policy{Concurrency: 1}, time.Second, 300 * ms, 100, 1, 16, 1, 0.75, 4},
		{"a delay", slots.Policy{Concurrency: 8, Delay: 500 * ms}, 200 * ms, 50 * ms, 200, 2, 16, 2, 0.9, 3},
		{"a delay shorter than the answers", slots.Policy{Concurrency: 1, Delay: 100 * ms}, 350 * ms, 50 * ms, 200, 2, 16, 1 / 0.35, 0.8, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{policy: test.policy, latency: test.latency, jitter: test.jitter, rows: memory.NewSlotRows(), draw: 0.5}
				w.random = newDice(1, 2)
				begin, j := time.Now(), newJob(test.pages)
				var all sync.WaitGroup
				for range test.processes {
					w.crawl(t.Context(), t, &all, w.handler(), j, test.askers)
				}
				all.Wait()
				took := time.Since(begin)
				if len(w.starts) != test.pages || w.most > test.policy.Concurrency {
					t.Errorf("%d starts, %d in flight; want %d, at most %d", len(w.starts), w.most, test.pages, test.policy.Concurrency)
				}
				rate, resends := float64(test.pages)/took.Seconds(), float64(w.resends)/float64(test.pages)
				if rate < test.used*test.rate || resends > test.resends {
					t.Errorf("%.1f pages/s, %.2f re-sends a page; want at least %.1f, at most %.2f", rate, resends, test.used*test.rate, test.resends)
				}
				t.Logf("%.1f of %.1f pages/s, %.2f re-sends a page", rate, test.rate, resends)
			})
		})
	}
}

// A process hands the permits that come back to its own asks, and yet those of
// another, which holds none, are not kept out.
func TestAnotherProcessIsNotKeptOut(t *testing.T) {
	tests := []struct {
		policy  slots.Policy
		latency time.Duration
		pages   int           // of the other
		within  time.Duration // its pages are fetched
	}{
		{slots.Policy{Concurrency: 8}, 200 * ms, 100, 25 * time.Second}, // a permit of eight: 5 pages/s
		{slots.Policy{Concurrency: 1}, 200 * ms, 20, 15 * time.Second},
		{slots.Policy{Concurrency: 1}, 10 * ms, 500, 20 * time.Second},
		{slots.Policy{Concurrency: 1}, ms, 2000, 8 * time.Second},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			w := &world{policy: test.policy, latency: test.latency, rows: memory.NewSlotRows(), draw: 0.5}
			ctx, stop := context.WithCancel(t.Context())
			var first, other sync.WaitGroup
			w.crawl(ctx, t, &first, w.handler(), newJob(1_000_000), 16)
			time.Sleep(time.Second)
			begin, starts := time.Now(), w.started()
			w.crawl(t.Context(), t, &other, w.handler(), newJob(test.pages), 16)
			other.Wait()
			took := time.Since(begin)
			used := float64(w.started()-starts) / took.Seconds() * test.latency.Seconds() / float64(test.policy.Concurrency)
			stop()
			first.Wait()
			if w.most > test.policy.Concurrency {
				t.Errorf("%d in flight, want at most %d", w.most, test.policy.Concurrency)
			}
			if took > test.within {
				t.Errorf("concurrency %d, latency %s: the other's %d pages after %s, want %s", test.policy.Concurrency, test.latency, test.pages, took, test.within)
			}
			if used < 0.7 {
				t.Errorf("concurrency %d, latency %s: the slot was used for %.0f %%", test.policy.Concurrency, test.latency, 100*used)
			}
			t.Logf("concurrency %d, latency %s: %d pages after %s, the slot was used for %.0f %%", test.policy.Concurrency, test.latency, test.pages, took, 100*used)
		})
	}
}
