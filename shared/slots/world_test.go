package slots_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/slots"
)

// A world is some processes that crawl one host in virtual time, as the
// engine would: who is told to come back later does so then.
type world struct {
	policy  slots.Policy
	latency time.Duration
	rows    slotrows.Store
	draw    float64
	jitter  time.Duration // by which latency is longer or shorter
	random  *dice         // for jitter, if there is any

	mu       sync.Mutex
	starts   []time.Time
	inFlight int
	most     int
	resends  int
}

func (w *world) slots() *slots.Slots {
	return slots.New(w.rows, slots.Config{
		Slack: 50 * time.Millisecond, Wait: 100 * time.Millisecond,
		Now: time.Now, Sleep: sleep, Draw: func() float64 { return w.draw },
	})
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// web stands for the host: it notes who came when.
func (w *world) web(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
	w.mu.Lock()
	w.starts = append(w.starts, time.Now())
	w.inFlight++
	w.most = max(w.most, w.inFlight)
	latency := w.latency
	if w.jitter > 0 {
		latency += w.random.upTo(2*w.jitter) - w.jitter
	}
	w.mu.Unlock()
	err := sleep(ctx, latency)
	w.mu.Lock()
	w.inFlight--
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &crawl.Response{Status: 200, Request: req}, nil
}

func (w *world) handler() downloader.Handler {
	slotOf := func(context.Context, *crawl.Request) (string, slots.Policy) { return "host", w.policy }
	return w.slots().Handler(downloader.HandlerFunc(w.web), slotOf, slog.New(slog.DiscardHandler))
}

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

// fetch gets one page, however often it is sent away.
func (w *world) fetch(t *testing.T, h downloader.Handler) {
	var told time.Time
	for {
		_, err := h.Fetch(slots.WithTold(t.Context(), told), &crawl.Request{URL: "http://host/"})
		var later *crawl.Later
		switch {
		case err == nil:
			return
		case errors.As(err, &later):
			w.mu.Lock()
			w.resends++
			w.mu.Unlock()
			if later.Queued {
				told = later.At
			}
			time.Sleep(time.Until(later.At))
		default:
			t.Error(err)
			return
		}
	}
}

func (w *world) started() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.starts)
}

// gaps are the times between starts.
func (w *world) gaps() []time.Duration {
	slices.SortFunc(w.starts, time.Time.Compare)
	var gaps []time.Duration
	for k := 1; k < len(w.starts); k++ {
		gaps = append(gaps, w.starts[k].Sub(w.starts[k-1]))
	}
	return gaps
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

// rows are a store whose calls are counted, and can be held up or fail.
type rows struct {
	slotrows.Store

	mu     sync.Mutex
	gets   int
	swaps  int
	onGet  func(n int) error         // called before the nth read
	onSwap func(n int) (bool, error) // false: another has written meanwhile
}

func newRows() *rows { return &rows{Store: memory.NewSlotRows()} }

func (r *rows) calls() (gets, swaps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gets, r.swaps
}

func (r *rows) Get(ctx context.Context, slot string) (slotrows.Row, error) {
	r.mu.Lock()
	r.gets++
	n := r.gets
	r.mu.Unlock()
	if r.onGet != nil {
		if err := r.onGet(n); err != nil {
			return slotrows.Row{}, err
		}
	}
	return r.Store.Get(ctx, slot)
}

// preset writes a row as others have left it.
func (r *rows) preset(t *testing.T, row slotrows.Row) {
	t.Helper()
	if ok, err := r.Store.Swap(t.Context(), "host", row); !ok || err != nil {
		t.Fatalf("preset the row: %t, %v", ok, err)
	}
}

func (r *rows) row(t *testing.T) slotrows.Row {
	t.Helper()
	row, err := r.Store.Get(t.Context(), "host")
	if err != nil {
		t.Fatal(err)
	}
	return row
}

const (
	ms   = time.Millisecond
	none = time.Duration(-1 << 62) // a time that is not set
)

func (r *rows) Swap(ctx context.Context, slot string, row slotrows.Row) (bool, error) {
	r.mu.Lock()
	r.swaps++
	n := r.swaps
	r.mu.Unlock()
	if r.onSwap != nil {
		if ok, err := r.onSwap(n); !ok || err != nil {
			return false, err
		}
	}
	return r.Store.Swap(ctx, slot, row)
}

// A dice is chance that many may use at a time.
type dice struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func newDice(game, seed uint64) *dice { return &dice{rand: rand.New(rand.NewPCG(game, seed))} }

func (d *dice) float() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.Float64()
}

func (d *dice) upTo(most time.Duration) time.Duration {
	return time.Duration(d.float() * float64(most))
}

func (d *dice) chance(p float64) bool { return d.float() < p }
