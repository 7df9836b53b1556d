package slots

import (
	"context"
	"errors"
	"sync"
)

// An op is one wish about a slot: a turn, or to give one back.
type op struct {
	ask     *Ask
	release string

	turn *Turn
	at   refusedAt
	err  error
	done chan struct{}
}

// A line is what waits in this process for one slot's row. Whoever finds it
// idle works off all that is there, in one write for all, until none is left.
type line struct {
	mu      sync.Mutex
	waiting []*op
	busy    bool
}

// run works an op off, together with those that came meanwhile.
func (s *Slots) run(ctx context.Context, slot string, o *op) {
	l := s.line(slot)
	l.mu.Lock()
	l.waiting = append(l.waiting, o)
	if l.busy {
		l.mu.Unlock()
		<-o.done // the one who works answers, whatever happens
		return
	}
	l.busy = true
	for len(l.waiting) > 0 {
		ops := l.waiting
		l.waiting = nil
		l.mu.Unlock()
		// Others' wishes are in here too, so this one's end must not end
		// them: the row's write is short.
		s.work(context.WithoutCancel(ctx), slot, ops)
		l.mu.Lock()
	}
	l.busy = false
	l.mu.Unlock()
}

func (s *Slots) line(slot string) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[slot]
	if l == nil {
		s.forget()
		l = &line{}
		s.lines[slot] = l
	}
	return l
}

// maxLines is how many slots' lines are kept in a process: an idle one is
// 100 bytes and can be made again.
const maxLines = 10_000

// forget makes room when there are too many lines: idle ones go.
func (s *Slots) forget() {
	if len(s.lines) < maxLines {
		return
	}
	for slot, l := range s.lines {
		l.mu.Lock()
		idle := !l.busy && len(l.waiting) == 0
		l.mu.Unlock()
		if idle {
			delete(s.lines, slot)
		}
	}
}

// maxSwaps is how often a write is tried against others who write the same
// row. Each round one of them succeeds.
const maxSwaps = 64

var errContended = errors.New("too many others write its row")

// work reads the row, decides about every op, and writes once.
func (s *Slots) work(ctx context.Context, slot string, ops []*op) {
	err := s.swap(ctx, slot, ops)
	for _, o := range ops {
		if err != nil {
			o.turn, o.err = nil, err
		}
		close(o.done)
	}
}

func (s *Slots) swap(ctx context.Context, slot string, ops []*op) error {
	for range maxSwaps {
		row, err := s.rows.Get(ctx, slot)
		if err != nil {
			return err
		}
		next, changed := s.decide(row, s.Now(), ops)
		if !changed {
			return nil
		}
		if ok, err := s.rows.Swap(ctx, slot, next); ok || err != nil {
			return err
		}
	}
	return errContended
}
