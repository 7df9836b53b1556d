package slots_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/slotrows"
	"github.com/skitterhq/skitter/shared/slots"
)

// drawing is a process of a world that draws for itself.
func (w *world) drawing(seed uint64) func(*slots.Config) {
	return func(c *slots.Config) { c.Draw = newDice(1, seed).float }
}

// A job is stopped whose requests have filled a host's line. Another one comes
// some time later, and must not wait for those who are not coming.
func TestADeadLineDelaysAMinuteAtMost(t *testing.T) {
	for _, policy := range []slots.Policy{
		{Concurrency: 8, Delay: 500 * ms}, {Concurrency: 8, Delay: 500 * ms, Randomize: true},
		{Concurrency: 1, Delay: 5 * time.Second}, {Concurrency: 1}, {Concurrency: 8},
	} {
		for _, pause := range []time.Duration{0, 400 * ms, time.Second, 20 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				w := &world{policy: policy, latency: 200 * ms, rows: memory.NewSlotRows()}
				ctx, stop := context.WithCancel(t.Context())
				var dead, living sync.WaitGroup
				w.crawl(ctx, t, &dead, w.handlerWith(w.drawing(1)), newJob(500), 16)
				time.Sleep(90 * time.Second)
				stop()
				dead.Wait()
				time.Sleep(pause)
				begin, pages := time.Now(), 40
				w.starts, w.most = nil, 0
				w.crawl(t.Context(), t, &living, w.handlerWith(w.drawing(2)), newJob(pages), 16)
				living.Wait()
				w.wantGaps(t, pages, policy.Delay/2)
				if wait := w.starts[0].Sub(begin); wait > time.Minute {
					t.Errorf("%+v, %s later: the first start after %s, want it within a minute", policy, pause, wait)
				}
				own := time.Duration(pages) * max(policy.Delay, 200*ms)
				if took := time.Since(begin); took > time.Minute+own*3/2 {
					t.Errorf("%+v, %s later: all %d pages after %s", policy, pause, pages, took)
				}
			})
		}
	}
}

// However many wait, the host is used as much as its delay allows, though most
// have no place in the line.
func TestAHostIsUsedThoughManyWait(t *testing.T) {
	for _, randomize := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const (
				waiting = 20_000
				during  = 150 * time.Second
				delay   = 500 * ms
			)
			w := &world{policy: slots.Policy{Concurrency: 8, Delay: delay, Randomize: randomize}, latency: 200 * ms, rows: memory.NewSlotRows()}
			ctx, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			j := newJob(waiting)
			for p := range 2 {
				w.crawl(ctx, t, &all, w.handlerWith(w.drawing(uint64(p))), j, 8)
			}
			time.Sleep(during)
			stop()
			all.Wait()
			w.wantGaps(t, len(w.starts), delay/2)
			if used := float64(len(w.starts)) / float64(during/delay); used < 0.9 || used > 1.1 {
				t.Errorf("%d starts, %.0f %% of what the delay allows", len(w.starts), 100*used)
			}
			// Each comes back after 45 s to a minute.
			if most := waiting * 4; w.resends > most {
				t.Errorf("%d re-sends, want at most %d", w.resends, most)
			}
			t.Logf("randomized %t: %d starts, %d re-sends", randomize, len(w.starts), w.resends)
		})
	}
}

// Who would stand further away than a minute gets no place, and nothing is
// written. All times are from now.
func TestTheLineIsAMinuteLong(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	delay, none := slots.Policy{Concurrency: 1, Delay: time.Second}, slots.Policy{Concurrency: 1}
	tests := []struct {
		name          string
		policy        slots.Policy
		tail, blocked time.Duration
		told          time.Duration // 0: comes new
		draw          float64
		at            time.Duration
		queued        bool
	}{
		{"the last place", delay, time.Minute, 0, 0, 0.5, time.Minute, true},
		{"beyond it, at the latest", delay, time.Minute + 1, 0, 0, 0, time.Minute, false},
		{"beyond it, at the earliest", delay, time.Minute + 1, 0, 0, 1, 45 * time.Second, false},
		{"beyond it, though it was told a place long ago", delay, time.Minute + 1, 0, -45 * time.Second, 0, time.Minute, false},
		{"a place told too long ago is none", delay, time.Minute, 0, -45 * time.Second, 0, time.Minute, true},
		{"blocked for long", delay, 0, time.Hour, 0, 0.2, time.Hour - 3*time.Second, false},
		{"blocked for long, without a delay", none, 0, time.Hour, 0, 0.2, time.Hour - 3*time.Second, false},
		{"blocked for a minute, without a delay", none, 0, time.Minute, 0, 0.2, time.Minute, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := newRows()
			preset := slotrows.Row{Gate: now, Tail: now.Add(test.tail), BlockedUntil: now.Add(test.blocked)}
			store.preset(t, preset)
			s := slots.New(store, slots.Config{
				Slack: 50 * ms, Wait: 100 * ms, Now: func() time.Time { return now }, Draw: func() float64 { return test.draw },
			})
			ask := slots.Ask{Policy: test.policy, Until: now.Add(time.Hour)}
			if test.told != 0 {
				ask.Told = now.Add(test.told)
			}
			_, err := s.Acquire(t.Context(), "host", ask)
			var refused *slots.Refusal
			if !errors.As(err, &refused) {
				t.Fatalf("err %v, want a refusal", err)
			}
			if got := refused.At.Sub(now); got != test.at || refused.Queued != test.queued {
				t.Errorf("told %s, a place: %t; want %s, %t", got, refused.Queued, test.at, test.queued)
			}
			if wrote := store.swaps > 0; wrote != (test.queued && test.policy.Delay > 0) {
				t.Errorf("%d writes", store.swaps)
			}
		})
	}
}
