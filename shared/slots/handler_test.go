package slots_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/slots"
)

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
			"no place, where the line is full", func(t *testing.T) *rows {
				r := newRows()
				r.preset(t, slotrows.Row{Gate: begin, Tail: begin.Add(2 * time.Minute)})
				return r
			}, 0, crawl.Later{At: begin.Add(time.Minute), Why: "slot"}, 0,
		},
		{
			"the place that it was told, where it comes early", func(t *testing.T) *rows {
				r := newRows()
				r.preset(t, slotrows.Row{Gate: begin, Tail: begin.Add(3 * time.Second)})
				return r
			}, 2 * time.Second, crawl.Later{At: begin.Add(2 * time.Second), Queued: true, Why: "slot"}, 0,
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

func TestWithTold(t *testing.T) {
	if ctx := slots.WithTold(t.Context(), time.Time{}); ctx != t.Context() {
		t.Error("who was told nothing carries something")
	}
}

// Who stood still until its invocation had ended takes no other turn.
func TestAWorkerWhoseTimeIsUpTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		gate := time.Now().Add(80 * ms)
		store.preset(t, slotrows.Row{Gate: gate})
		s := slots.New(store, slots.Config{
			Slack: 50 * ms, Wait: 100 * ms, Now: time.Now,
			// Both the timer and the context are due when it goes on; a select may take either.
			Sleep: func(_ context.Context, d time.Duration) error { time.Sleep(d + 10*time.Second); return nil },
		})
		web := downloader.HandlerFunc(func(ctx context.Context, _ *crawl.Request) (*crawl.Response, error) {
			t.Errorf("the request starts though its invocation has ended: %v", ctx.Err())
			return nil, ctx.Err()
		})
		slotOf := func(context.Context, *crawl.Request) (string, slots.Policy) {
			return "host", slots.Policy{Concurrency: 1, Delay: time.Second}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := s.Handler(web, slotOf, slog.New(slog.DiscardHandler)).Fetch(ctx, page); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err %v, want the deadline's", err)
		}
		if want := gate.Add(time.Second); !store.row(t).Gate.Equal(want) {
			t.Errorf("the gate was moved on by %s for nobody", store.row(t).Gate.Sub(want))
		}
	})
}
