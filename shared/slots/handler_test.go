package slots_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/slots"
)

// handlerWith is a process of a world that works differently.
func (w *world) handlerWith(change func(*slots.Config)) downloader.Handler {
	c := slots.Config{
		Slack: 50 * ms, Wait: 100 * ms, Now: time.Now, Sleep: sleep, Draw: func() float64 { return w.draw },
	}
	change(&c)
	slotOf := func(context.Context, *crawl.Request) (string, slots.Policy) { return "host", w.policy }
	web := func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		if err := ctx.Err(); err != nil {
			return nil, err // as whoever dials would
		}
		return w.web(ctx, req)
	}
	return slots.New(w.rows, c).Handler(downloader.HandlerFunc(web), slotOf, slog.New(slog.DiscardHandler))
}

// wantGaps checks what slots guarantee.
func (w *world) wantGaps(t *testing.T, starts int, least time.Duration) {
	t.Helper()
	if len(w.starts) != starts {
		t.Errorf("%d starts, want %d", len(w.starts), starts)
	}
	for k, gap := range w.gaps() {
		if gap < least {
			t.Errorf("start %d comes %s after the one before it, want at least %s", k+1, gap, least)
		}
	}
	if w.most > w.policy.Concurrency {
		t.Errorf("%d in flight, want at most %d", w.most, w.policy.Concurrency)
	}
}

var page = &crawl.Request{URL: "http://host/"}

func TestWhatTheHandlerSaysWithoutATurn(t *testing.T) {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // where the clock of a bubble stands
	errStore := errors.New("the store is down")
	tests := []struct {
		name   string
		rows   func(*testing.T) *rows
		told   time.Duration // 0: comes new
		want   crawl.Later
		writes int
	}{
		{
			"a place in the line, to be kept", func(t *testing.T) *rows {
				r := newRows()
				r.preset(t, slotrows.Row{Gate: begin, Tail: begin.Add(3 * time.Second)})
				return r
			}, 0, crawl.Later{At: begin.Add(3 * time.Second), Queued: true, Why: "slot"}, 1,
		},
		{
			"the place that it was told, where it comes early", func(*testing.T) *rows { return newRows() },
			2 * time.Second, crawl.Later{At: begin.Add(2 * time.Second), Queued: true, Why: "slot"}, 0,
		},
		{
			"no place, where the row cannot be read", func(*testing.T) *rows {
				r := newRows()
				r.onGet = func(int) error { return errStore }
				return r
			}, 0, crawl.Later{At: begin.Add(5 * time.Second), Why: "store"}, 0,
		},
		{
			"no place, where the row cannot be written", func(*testing.T) *rows {
				r := newRows()
				r.onSwap = func(int) (bool, error) { return false, errStore }
				return r
			}, 0, crawl.Later{At: begin.Add(5 * time.Second), Why: "store"}, 1,
		},
		{
			"no place, where others are always faster", func(*testing.T) *rows {
				r := newRows()
				r.onSwap = func(int) (bool, error) { return false, nil }
				return r
			}, 0, crawl.Later{At: begin.Add(5 * time.Second), Why: "store"}, 64,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := test.rows(t)
				w := &world{policy: slots.Policy{Concurrency: 1, Delay: time.Second}, rows: store}
				ctx := t.Context()
				if test.told > 0 {
					ctx = slots.WithTold(ctx, begin.Add(test.told))
				}
				resp, err := w.handler().Fetch(ctx, page)
				var later *crawl.Later
				if resp != nil || !errors.As(err, &later) {
					t.Fatalf("response %v, err %v; want a Later", resp, err)
				}
				if diff := cmp.Diff(test.want, *later); diff != "" {
					t.Errorf("(-want, +got):\n%s", diff)
				}
				if store.swaps != test.writes {
					t.Errorf("%d writes tried, want %d", store.swaps, test.writes)
				}
				w.wantGaps(t, 0, 0)
			})
		})
	}
}

// Whatever becomes of the request, its turn is given back at once.
func TestTheTurnIsGivenBack(t *testing.T) {
	errNet := errors.New("connection refused")
	tests := []struct {
		name string
		run  func(t *testing.T, s *slots.Slots, handler func(downloader.HandlerFunc) downloader.Handler)
	}{
		{"after a response", func(t *testing.T, _ *slots.Slots, handler func(downloader.HandlerFunc) downloader.Handler) {
			h := handler(func(context.Context, *crawl.Request) (*crawl.Response, error) {
				return &crawl.Response{Status: 200}, nil
			})
			if resp, err := h.Fetch(t.Context(), page); err != nil || resp.Status != 200 {
				t.Errorf("response %v, err %v", resp, err)
			}
		}},
		{"after a failure", func(t *testing.T, _ *slots.Slots, handler func(downloader.HandlerFunc) downloader.Handler) {
			h := handler(func(context.Context, *crawl.Request) (*crawl.Response, error) { return nil, errNet })
			if _, err := h.Fetch(t.Context(), page); !errors.Is(err, errNet) {
				t.Errorf("err %v, want %v", err, errNet)
			}
		}},
		{"after a panic", func(t *testing.T, _ *slots.Slots, handler func(downloader.HandlerFunc) downloader.Handler) {
			defer func() {
				if recover() == nil {
					t.Error("the panic did not pass up")
				}
			}()
			h := handler(func(context.Context, *crawl.Request) (*crawl.Response, error) { panic("boom") })
			_, _ = h.Fetch(t.Context(), page)
		}},
		{"when its invocation ends during the download", func(t *testing.T, _ *slots.Slots, handler func(downloader.HandlerFunc) downloader.Handler) {
			ctx, cancel := context.WithCancel(t.Context())
			h := handler(func(ctx context.Context, _ *crawl.Request) (*crawl.Response, error) {
				cancel()
				return nil, ctx.Err()
			})
			if _, err := h.Fetch(ctx, page); !errors.Is(err, context.Canceled) {
				t.Errorf("err %v, want that of the context", err)
			}
		}},
		{"when its invocation ends while it waits", func(t *testing.T, s *slots.Slots, handler func(downloader.HandlerFunc) downloader.Handler) {
			h := handler(func(context.Context, *crawl.Request) (*crawl.Response, error) { return &crawl.Response{}, nil })
			if _, err := h.Fetch(t.Context(), page); err != nil { // moves the gate
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*ms)
			defer cancel()
			if _, err := h.Fetch(ctx, page); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("err %v, want that of the context", err)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newRows()
				s := slots.New(store, slots.Config{Slack: 50 * ms, Wait: 100 * ms, Now: time.Now, Sleep: sleep})
				slotOf := func(context.Context, *crawl.Request) (string, slots.Policy) {
					return "host", slots.Policy{Concurrency: 1, Delay: 80 * ms}
				}
				test.run(t, s, func(web downloader.HandlerFunc) downloader.Handler {
					return s.Handler(web, slotOf, slog.New(slog.DiscardHandler))
				})
				if leases := store.row(t).Leases; len(leases) > 0 {
					t.Errorf("leases %v are out", leases)
				}
			})
		})
	}
}

// A turn that cannot be given back does not spoil the page: its lease ends by
// itself.
func TestAPageIsKeptThoughItsTurnCannotBeGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		store.onSwap = func(n int) (bool, error) {
			if n == 2 {
				return false, errors.New("the store is down")
			}
			return true, nil
		}
		w := &world{policy: slots.Policy{Concurrency: 1}, rows: store}
		h := w.handler()
		if resp, err := h.Fetch(t.Context(), page); err != nil || resp.Status != 200 {
			t.Fatalf("response %v, err %v", resp, err)
		}
		w.fetch(t, h)
		if took := w.starts[1].Sub(w.starts[0]); took < time.Hour {
			t.Errorf("the next starts after %s, want it after the lease has ended", took)
		}
	})
}

func TestARandomizedDelayStaysInItsBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pages, processes = 120, 3
		w := &world{policy: slots.Policy{Concurrency: 1, Delay: time.Second, Randomize: true}, latency: 100 * ms, rows: memory.NewSlotRows()}
		var all sync.WaitGroup
		for p := range processes {
			draw := rand.New(rand.NewPCG(1, uint64(p)))
			h := w.handlerWith(func(c *slots.Config) { c.Draw = draw.Float64 })
			for range pages / processes {
				all.Go(func() { w.fetch(t, h) })
			}
		}
		all.Wait()
		w.wantGaps(t, pages, 500*ms)
		var short, long int
		var sum time.Duration
		for k, gap := range w.gaps() {
			sum += gap
			switch {
			case gap > 1500*ms:
				t.Errorf("start %d comes %s after the one before it, want at most 1.5s", k+1, gap)
			case gap < 700*ms:
				short++
			case gap > 1300*ms:
				long++
			}
		}
		// A fifth of the draws lies at either end.
		if short < pages/10 || long < pages/10 {
			t.Errorf("%d short gaps and %d long ones of %d, want them spread", short, long, pages)
		}
		if mean := sum / (pages - 1); mean < 900*ms || mean > 1100*ms {
			t.Errorf("the mean gap is %s, want about 1s", mean)
		}
	})
}

// Q: a request that was told its turn is delivered twice, each time, to two
// processes: a grant is never in the message, so the copy starts no earlier
// than anybody else.
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
			for range 5 {
				_, err := processes[0].Fetch(t.Context(), page)
				var later *crawl.Later
				if !errors.As(err, &later) || !later.Queued {
					t.Fatalf("err %v, want a place in the line", err)
				}
				if told[later.At] {
					t.Errorf("two were told %s", later.At.Sub(first))
				}
				told[later.At] = true
				for _, h := range processes { // the message and its copy
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
			w.wantGaps(t, 11, least)
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

func TestWithTold(t *testing.T) {
	if ctx := slots.WithTold(t.Context(), time.Time{}); ctx != t.Context() {
		t.Error("who was told nothing carries something")
	}
}
