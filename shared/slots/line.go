package slots

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// An op is one wish about a slot: a turn, or to give one back.
type op struct {
	ask     *Ask
	release string
	held    time.Duration // how long what is given back was held

	// hurry is set, under the line's lock, when the ask is not to wait any
	// longer; last is what the round that works it has seen of that.
	hurry, last bool
	told        time.Time // the place that it was told, if that still counts

	// The answer: one of them, or none for an ask that only lacks a permit.
	turn    *Turn
	refusal *Refusal
	err     error
	// done is closed when the answer is there. It stays nil where who made the
	// op has answered it, too.
	done chan struct{}
}

// answered reports whether a round has settled the op.
func (o *op) answered() bool {
	return o.ask == nil || o.turn != nil || o.refusal != nil || o.err != nil
}

// isDone reports whether the answer is there. Once put has returned, done is
// nil only if it is.
func (o *op) isDone() bool {
	if o.done == nil {
		return true
	}
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// A line is what waits in this process for one slot's row. One goroutine at a
// time, if there is anything to do, works off all that is there in one write.
type line struct {
	mu sync.Mutex
	// fresh are ops that no round has seen; parked are asks that lack nothing
	// but a permit and wait for one to come back.
	fresh, parked []*op
	hurried       bool // the parked are to be looked at, though nothing may come
	looking       bool // they will be soon
	busy          bool // somebody works the line
	pace          pace

	gather *time.Timer // works the line when it fires; nil where nothing waits
	at     time.Time   // when it does
}

// put adds an op, and works the line where that is for the caller to do.
func (s *Slots) put(ctx context.Context, slot string, l *line, o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.queue(ctx, slot, l, o) {
		o.done = make(chan struct{})
		return
	}
	// Whoever waits for the answer can as well work for it: a goroutine costs
	// more than the decision. Not for longer, since others may keep coming.
	if ctx.Done() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	s.round(ctx, slot, l)
	if l.due() {
		go s.work(ctx, slot, l)
		return
	}
	s.rest(ctx, slot, l)
}

// queue adds an op to the line, whose lock is held, and reports whether the
// caller is to work the line's next round. An ask that others wait before, for
// the same permits, is not worth a look at the row while one of those permits is
// here: when that comes back, all are looked at.
func (s *Slots) queue(ctx context.Context, slot string, l *line, o *op) (mine bool) {
	if o.ask != nil && len(l.parked) > 0 && l.pace.out > 0 &&
		o.ask.Policy == l.parked[0].ask.Policy && !o.ask.Told.After(s.Now()) {
		l.parked = append(l.parked, o)
		return false
	}
	l.fresh = append(l.fresh, o)
	if d := s.patience(l, o); d > 0 {
		s.startIn(ctx, slot, l, d)
		return false
	}
	return l.take()
}

// patience is how long an op may wait for others to share its write.
func (s *Slots) patience(l *line, o *op) time.Duration {
	if o.ask != nil {
		return s.Gather / 10
	}
	back := 0
	for _, other := range l.fresh {
		if other.ask == nil {
			back++
		}
	}
	if len(l.parked) > 0 || back >= l.pace.out {
		return 0 // somebody waits for it, or no other one will come
	}
	return s.Gather
}

// startIn has the line worked after a while, unless it is sooner; its lock is
// held.
func (s *Slots) startIn(ctx context.Context, slot string, l *line, d time.Duration) {
	at := time.Now().Add(d)
	if l.busy || l.gather != nil && !at.Before(l.at) {
		return
	}
	if l.gather != nil {
		l.gather.Stop()
	}
	l.at = at
	l.gather = time.AfterFunc(d, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		s.start(ctx, slot, l)
	})
}

// start has the line worked if nobody does; its lock is held.
func (s *Slots) start(ctx context.Context, slot string, l *line) {
	if l.take() {
		// Others' wishes are in here too, so this one's end must not end
		// them: the row's write is short.
		go s.work(context.WithoutCancel(ctx), slot, l)
	}
}

// take makes the line busy, and reports whether it was not; its lock is held.
func (l *line) take() bool {
	if l.gather != nil {
		l.gather.Stop()
		l.gather = nil
	}
	if l.busy {
		return false
	}
	l.busy = true
	return true
}

// due reports whether there is something to work; the lock is held.
func (l *line) due() bool { return len(l.fresh) > 0 || l.hurried && len(l.parked) > 0 }

// hurry has a parked ask answered at once, whatever the answer is.
func (s *Slots) hurry(ctx context.Context, slot string, l *line, o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.hurry, l.hurried = true, true
	s.start(ctx, slot, l)
}

// leave takes an ask back. Where it cannot, since a round is just working it,
// it returns false: the answer comes at once.
func (l *line) leave(o *op) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := slices.Index(l.parked, o)
	if k < 0 {
		o.hurry, l.hurried = true, true // lest it be parked again
		return false
	}
	l.parked = slices.Delete(l.parked, k, k+1)
	return true
}

// work works a line off, round by round, until nothing is left to do.
func (s *Slots) work(ctx context.Context, slot string, l *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.due() {
		s.round(ctx, slot, l)
	}
	s.rest(ctx, slot, l)
}

// round works off all that is there in one write. The line's lock is held, save
// while the row is read and written.
func (s *Slots) round(ctx context.Context, slot string, l *line) {
	ops := append(l.parked, l.fresh...)
	l.parked, l.fresh, l.hurried = nil, nil, false
	for _, o := range ops {
		o.last = o.hurry
	}
	own := l.pace
	l.mu.Unlock()
	own, err := s.swap(ctx, slot, own, ops)
	l.mu.Lock()
	l.pace = own
	for _, o := range ops {
		if err != nil {
			o.turn, o.refusal, o.err = nil, nil, err
		}
		if !o.answered() {
			if o.done == nil {
				o.done = make(chan struct{})
			}
			l.parked = append(l.parked, o)
		} else if o.done != nil {
			close(o.done)
		}
	}
}

// rest leaves the line until something comes; its lock is held.
func (s *Slots) rest(ctx context.Context, slot string, l *line) {
	l.busy, l.hurried = false, false
	if len(l.parked) > 0 && l.pace.out == 0 && l.pace.mark.After(s.Now()) && !l.looking {
		// A permit is left to this process, of which nobody here will hear.
		l.looking = true
		time.AfterFunc(s.Wait/looks, func() { s.look(ctx, slot, l) })
	}
}

// looks is how often in Config.Wait a process that starves looks whether a
// permit was left to it: that permit is idle until then, and a look is a read.
const looks = 10

func (s *Slots) look(ctx context.Context, slot string, l *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looking, l.hurried = false, true
	s.start(ctx, slot, l)
}

// maxSwaps is how often a write is tried against others who write the same
// row. Each round one of them succeeds.
const maxSwaps = 64

var errContended = errors.New("too many others write its row")

// swap reads the row where it must, decides about every op, and writes once. It
// returns what the process knows then.
func (s *Slots) swap(ctx context.Context, slot string, own pace, ops []*op) (pace, error) {
	for range maxSwaps {
		known := own.trusts(s.Now())
		if !known {
			row, err := s.rows.Get(ctx, slot)
			if err != nil {
				return own, err
			}
			own.saw(row, s.Now())
		}
		r := s.decide(own.row, s.Now(), own, ops)
		if known && !granted(ops) {
			own.alone = false // what others wrote may be better
			continue
		}
		if !r.changed {
			return r.pace, nil
		}
		ok, err := s.rows.Swap(ctx, slot, r.row)
		if err != nil {
			own.alone = false // it may have been written
			return own, err
		}
		if ok {
			r.pace.wrote(r.row)
			return r.pace, nil
		}
		own.alone = false
	}
	return own, errContended
}

// granted reports whether every ask among ops got its turn.
func granted(ops []*op) bool {
	return !slices.ContainsFunc(ops, func(o *op) bool { return o.ask != nil && o.turn == nil })
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
// 200 bytes and can be made again.
const maxLines = 10_000

// forget makes room when there are too many lines: idle ones go.
func (s *Slots) forget() {
	if len(s.lines) < maxLines {
		return
	}
	for slot, l := range s.lines {
		l.mu.Lock()
		idle := !l.busy && len(l.fresh) == 0 && len(l.parked) == 0
		l.mu.Unlock()
		if idle {
			delete(s.lines, slot)
		}
	}
}
