// Package slots keeps politeness: how many requests are under way in a
// download slot, and how much time lies between their starts, across all
// processes and jobs, in one durable row a slot (package slotrows).
//
// A turn is taken by the innermost handler, so that what a cache, robots.txt or
// scope answers uses none; see [Slots.Handler].
package slots

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/slotrows"
)

// A Policy is what a slot allows. Where jobs share a slot each brings its own.
type Policy struct {
	// Concurrency is how many requests may be under way; at least 1.
	Concurrency int
	// Delay is the time from one start to the next.
	Delay time.Duration
	// Randomize draws each delay from 0.5 to 1.5 times Delay.
	Randomize bool
}

// least is the shortest time between two starts that the policy allows.
func (p Policy) least() time.Duration {
	if p.Randomize {
		return p.Delay / 2
	}
	return p.Delay
}

// Config is how slots work in this process.
type Config struct {
	// Slack is by how much a start may be late, and clocks may differ.
	Slack time.Duration
	// Wait is how long a turn is waited for here, be it for the gate or for a
	// permit; one that is further away is come back for, since waiting is
	// billed.
	Wait time.Duration
	// Gather is how long a turn that is given back may wait for others, so
	// that one write serves them all, where it is this process alone that
	// could use it; asks wait a tenth of that. 0 waits for nobody: where a
	// write costs little.
	Gather time.Duration
	// Now is the clock, and Sleep waits by it or until ctx is done.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	// Draw gives a random number from 0 to 1: for randomized delays, and for
	// when those come back who have no place in the line.
	Draw func() float64
}

// Slots gives turns. It is safe for concurrent use.
type Slots struct {
	Config
	rows slotrows.Store

	mu    sync.Mutex
	lines map[string]*line
}

// New returns slots over the rows.
func New(rows slotrows.Store, c Config) *Slots {
	return &Slots{Config: c, rows: rows, lines: make(map[string]*line)}
}

// A Turn is a permit to start one request.
type Turn struct {
	slot  string
	lease string
	// Start is when the request may start: now or soon.
	Start time.Time
	// Until is when the turn ends by itself; no download may outlast it.
	Until time.Time
}

// An Ask is a wish for a turn.
type Ask struct {
	Policy Policy
	// Told is the place in the line that was told before; zero for who
	// comes new.
	Told time.Time
	// Until is when the lease must end: with the asking invocation.
	Until time.Time
}

// A Refusal says when to come back.
type Refusal struct {
	At time.Time
	// Queued is true when At is a place in the line, to be brought along as
	// Told. It is false when the line is full.
	Queued bool
}

func (r *Refusal) Error() string {
	return "no turn before " + r.At.Format(time.RFC3339Nano)
}

// Acquire takes a turn at a slot, or returns a *[Refusal]. An ask that lacks
// nothing but a permit waits here for one, for Config.Wait at most or until ctx
// is done. Asks and releases that come together for one slot are worked in one
// write.
func (s *Slots) Acquire(ctx context.Context, slot string, ask Ask) (*Turn, error) {
	o := &op{ask: &ask, hurry: s.Wait <= 0}
	l := s.line(slot)
	s.put(ctx, slot, l, o)
	if err := s.wait(ctx, slot, l, o); err != nil {
		return nil, fmt.Errorf("turn at slot %s: %w", slot, err)
	}
	if o.turn == nil {
		return nil, o.refusal
	}
	o.turn.slot = slot
	return o.turn, nil
}

// wait waits for the answer to an ask. If ctx ends first the ask is as if it
// had never been made: what was granted to it meanwhile is given back.
func (s *Slots) wait(ctx context.Context, slot string, l *line, o *op) error {
	if !o.isDone() {
		s.stand(ctx, slot, l, o)
	}
	if ctx.Err() == nil {
		return o.err
	}
	if !o.isDone() && !l.leave(o) {
		<-o.done
	}
	if o.turn != nil {
		o.turn.slot = slot
		if err := s.Release(context.WithoutCancel(ctx), o.turn); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// stand stands in the line until there is an answer, or until an answer of
// whatever kind was asked for, or until ctx is done.
func (s *Slots) stand(ctx context.Context, slot string, l *line, o *op) {
	patience := time.NewTimer(s.Wait)
	defer patience.Stop()
	select {
	case <-o.done:
	case <-patience.C:
		s.hurry(ctx, slot, l, o)
		<-o.done
	case <-ctx.Done():
	}
}

// Release gives a turn back.
func (s *Slots) Release(ctx context.Context, t *Turn) error {
	o := &op{release: t.lease, held: s.Now().Sub(t.Start)}
	s.put(ctx, t.slot, s.line(t.slot), o)
	if o.done != nil {
		<-o.done
	}
	if o.err != nil {
		return fmt.Errorf("give a turn at slot %s back: %w", t.slot, o.err)
	}
	return nil
}
