package slots_test

import (
	"context"
	"errors"
	"log/slog"
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

// A chaos is a world whose processes die, stand still and have clocks that
// differ, and whose queue delivers twice.
type chaos struct {
	*world
	*dice
	frozen bool          // processes stand still now and then
	skew   time.Duration // clocks are up to this apart
}

// stall is how a process stands still.
func (c *chaos) stall() {
	if c.frozen && c.chance(0.05) {
		time.Sleep(c.upTo(2 * time.Second))
	}
}

var errDead = errors.New("the process is dead")

// A victim is the store as one process sees it, until that dies.
type victim struct {
	slotrows.Store
	*chaos
	life context.Context
}

func (v *victim) Get(ctx context.Context, slot string) (slotrows.Row, error) {
	v.stall()
	if v.life.Err() != nil {
		return slotrows.Row{}, errDead
	}
	row, err := v.Store.Get(ctx, slot)
	v.stall()
	return row, err
}

func (v *victim) Swap(ctx context.Context, slot string, row slotrows.Row) (bool, error) {
	if v.life.Err() != nil {
		return false, errDead
	}
	ok, err := v.Store.Swap(ctx, slot, row)
	v.stall()
	return ok, err
}

// process lives for a while, and takes from the job what is there: some of it
// is delivered again though it is still being worked, or was. It does nothing
// cleanly when it dies.
func (c *chaos) process(j *job, life context.Context) {
	ahead := c.upTo(c.skew)
	s := slots.New(&victim{Store: c.rows, chaos: c, life: life}, slots.Config{
		Slack: 50 * ms, Wait: 100 * ms, Now: func() time.Time { return time.Now().Add(ahead) },
		Sleep: func(_ context.Context, d time.Duration) error { time.Sleep(d); c.stall(); return nil },
		Draw:  c.float,
	})
	web := func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		if err := errors.Join(ctx.Err(), life.Err()); err != nil {
			return nil, err
		}
		// What a dead process has asked for ends with its connection.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		return c.web(ctx, req)
	}
	h := s.Handler(downloader.HandlerFunc(web), func(context.Context, *crawl.Request) (string, slots.Policy) {
		return "host", c.policy
	}, slog.New(slog.DiscardHandler))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for life.Err() == nil {
				e, wait, ok := j.next()
				if !ok {
					return
				}
				if wait > 0 {
					time.Sleep(wait)
					continue
				}
				c.work(j, h, e)
			}
		})
	}
	all.Wait()
}

func (c *chaos) work(j *job, h downloader.Handler, e errand) {
	if !e.copied && e.copies < 2 && c.chance(0.3) { // a copy comes soon
		e.copies++
		j.put(errand{due: time.Now().Add(c.upTo(time.Second)), told: e.told, copied: true})
	}
	ctx, cancel := context.WithTimeout(slots.WithTold(context.Background(), e.told), 3*time.Second)
	defer cancel()
	_, err := h.Fetch(ctx, page)
	var later *crawl.Later
	switch {
	case err == nil && !e.copied:
		j.done()
	case errors.As(err, &later):
		e.due = later.At
		if later.Queued {
			e.told = later.At
		}
		j.put(e)
	case err != nil && !e.copied: // it is delivered again
		e.due = time.Now().Add(c.upTo(5 * time.Second))
		j.put(e)
	}
}

// I4: never more in flight than the concurrency, never less than the delay
// between two starts, to within the slack, whatever is delivered twice, dies,
// or stands still.
func TestI4HoldsInChaos(t *testing.T) {
	policies := []slots.Policy{
		{Concurrency: 1}, {Concurrency: 3}, {Concurrency: 1, Delay: 200 * ms}, {Concurrency: 2, Delay: 300 * ms},
		{Concurrency: 4, Delay: 400 * ms, Randomize: true}, {Concurrency: 1, Delay: time.Second},
	}
	const seeds, pages = 60, 40
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			w := &world{policy: policies[seed%uint64(len(policies))], latency: 150 * ms, jitter: 140 * ms, rows: memory.NewSlotRows()}
			w.random = newDice(4, seed)
			c := &chaos{world: w, dice: newDice(3, seed)}
			// The slack is for lateness and difference of clocks together.
			if c.frozen = seed/uint64(len(policies))%2 == 0; !c.frozen {
				c.skew = 50 * ms
			}
			j := newJob(pages)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					for !j.over() {
						life, kill := context.WithTimeout(t.Context(), 500*ms+c.upTo(15*time.Second))
						c.process(j, life)
						kill()
					}
				})
			}
			all.Wait()
			least := w.policy.Delay
			if w.policy.Randomize {
				least /= 2
			}
			w.wantGaps(t, len(w.starts), least-50*ms)
			if len(w.starts) < pages {
				t.Errorf("%d starts of %d pages", len(w.starts), pages)
			}
			if t.Failed() {
				t.Logf("seed %d: %+v, frozen %t", seed, w.policy, c.frozen)
			}
		})
	}
}
