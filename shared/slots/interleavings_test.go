package slots_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/slots"
)

// Q: a request that was told its turn is delivered twice, each time, to two
// processes: a grant is never in the message, so the copy starts no earlier
// than anybody else. Another never arrives at all, and one only once: their
// places in the line hold nobody up.
func TestInterleavingQ(t *testing.T) {
	for _, policy := range []slots.Policy{
		{Concurrency: 1, Delay: time.Second}, {Concurrency: 8, Delay: time.Second}, {Concurrency: 8, Delay: time.Second, Randomize: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &world{policy: policy, latency: 300 * ms, rows: memory.NewSlotRows(), draw: 0.5}
			processes := []downloader.Handler{w.handler(), w.handler()}
			var first time.Time // who opens the line
			w.fetch(t, processes[0])
			first = w.starts[0]
			var all sync.WaitGroup
			told := map[time.Time]bool{}
			for _, arrive := range []int{2, 2, 0, 1, 2} {
				_, err := processes[0].Fetch(t.Context(), page)
				var later *crawl.Later
				if !errors.As(err, &later) || !later.Queued {
					t.Fatalf("err %v, want a place in the line", err)
				}
				if told[later.At] {
					t.Errorf("two were told %s", later.At.Sub(first))
				}
				told[later.At] = true
				for _, h := range processes[:arrive] { // the message and its copy
					all.Go(func() {
						time.Sleep(time.Until(later.At))
						for at := later.At; ; {
							_, err := h.Fetch(slots.WithTold(t.Context(), at), page)
							var later *crawl.Later
							if !errors.As(err, &later) {
								return
							}
							at = later.At
							time.Sleep(time.Until(at))
						}
					})
				}
			}
			all.Wait()
			least := policy.Delay
			if policy.Randomize {
				least /= 2
			}
			w.wantGaps(t, 8, least)
			if took := w.starts[7].Sub(first); took > 12*policy.Delay {
				t.Errorf("the last starts after %s", took)
			}
		})
	}
}

// R: a worker has its turn and stands still before it starts, while others
// start; when it goes on, the turn is too late and must be given up.
func TestInterleavingR(t *testing.T) {
	tests := []struct {
		name   string
		policy slots.Policy
		frozen time.Duration
		lease  time.Duration // 0: no deadline
		least  time.Duration
		others time.Duration // when they come
	}{
		{"for less than the others' delay", slots.Policy{Concurrency: 2, Delay: time.Second}, 300 * ms, 0, time.Second, 0},
		{"for some of the others' turns", slots.Policy{Concurrency: 2, Delay: time.Second}, 4500 * ms, 0, time.Second, 0},
		{"for as long as its lease", slots.Policy{Concurrency: 1, Delay: time.Second}, 10 * time.Second, 5 * time.Second, time.Second, 0},
		{"for longer than its lease, without a delay", slots.Policy{Concurrency: 1}, 10 * time.Second, 5 * time.Second, 0, 0},
		{"for longer than the longest lease, without a delay", slots.Policy{Concurrency: 1}, time.Hour + 2*time.Second, 0, 0, time.Hour + 10*ms},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const others = 12
				store := newRows()
				// The gate opens soon, so that the worker has to wait.
				store.preset(t, slotrows.Row{Gate: time.Now().Add(80 * ms)})
				w := &world{policy: test.policy, latency: 400 * ms, rows: store}
				var froze bool
				frozen := w.handlerWith(func(c *slots.Config) {
					c.Sleep = func(_ context.Context, d time.Duration) error {
						if !froze {
							froze = true
							d += test.frozen
						}
						time.Sleep(d) // who stands still hears of no deadline
						return nil
					}
				})
				var all sync.WaitGroup
				all.Go(func() {
					ctx := t.Context()
					if test.lease > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, test.lease)
						defer cancel()
						if _, err := frozen.Fetch(ctx, page); err == nil {
							t.Error("a page after the invocation has ended")
						}
						return
					}
					w.fetch(t, frozen)
				})
				synctest.Wait()
				time.Sleep(test.others)
				h := w.handler()
				for range others {
					all.Go(func() { w.fetch(t, h) })
				}
				all.Wait()
				if !froze {
					t.Fatal("the worker did not stand still")
				}
				starts := others + 1
				if test.lease > 0 {
					starts = others
				}
				w.wantGaps(t, starts, test.least)
			})
		})
	}
}

// R, with clocks that are 50 ms apart: to within the slack, which is as much,
// the guarantee stands.
func TestInterleavingRWithClocksApart(t *testing.T) {
	ahead := func(c *slots.Config) { c.Now = func() time.Time { return time.Now().Add(50 * ms) } }
	exact := func(*slots.Config) {}
	for _, policy := range []slots.Policy{{Concurrency: 4, Delay: time.Second}, {Concurrency: 1, Delay: 200 * ms}, {Concurrency: 2}} {
		synctest.Test(t, func(t *testing.T) {
			w := &world{policy: policy, latency: 400 * ms, rows: memory.NewSlotRows()}
			var all sync.WaitGroup
			for _, h := range []downloader.Handler{w.handlerWith(ahead), w.handlerWith(exact)} {
				for range 20 {
					all.Go(func() { w.fetch(t, h) })
				}
			}
			all.Wait()
			w.wantGaps(t, 40, policy.Delay-50*ms)
		})
	}
}

// S: a download that takes longer than its lease is ended with it, so that the
// permit which comes free then is no second request in flight.
func TestInterleavingS(t *testing.T) {
	for _, lease := range []time.Duration{0, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := &world{policy: slots.Policy{Concurrency: 1}, latency: 24 * time.Hour, rows: memory.NewSlotRows()}
			begin, want := time.Now(), time.Hour
			ctx := t.Context()
			if lease > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, lease)
				defer cancel()
				want = lease
			}
			var all sync.WaitGroup
			all.Go(func() {
				if _, err := w.handler().Fetch(ctx, page); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("lease %s: err %v, want the deadline's", lease, err)
				}
				if took := time.Since(begin); took != want {
					t.Errorf("lease %s: the download ended after %s, want %s", lease, took, want)
				}
			})
			synctest.Wait()
			w.mu.Lock()
			w.latency = 100 * ms // for whoever comes next
			w.mu.Unlock()
			// It comes back each 200 ms; this keeps it off the very instant at
			// which the download ends, where either may come first.
			time.Sleep(130 * ms)
			w.fetch(t, w.handler())
			all.Wait()
			w.wantGaps(t, 2, want)
		})
	}
}
