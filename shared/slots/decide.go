package slots

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/skitterhq/skitter/shared/slotrows"
)

// lineLength is how much time the places in a line take up at most. Whoever
// would get one further away gets none and comes back in about this time. So a
// line whose people are not coming any more, since their job was stopped,
// delays others by this at most; and no more than this much is on its way
// through the queue at a time (architecture, section 5). Shorter would send
// those without a place around more often.
const lineLength = time.Minute

// comeBack is the earliest, as a part of lineLength, that whoever has no place
// comes back: less than all of it, so that they come spread, and find the line
// not yet at its end.
const comeBack = lineLength * 3 / 4

// A round is one look at a slot's row with all that is wished for here. It
// touches nothing else, so that it can be thrown away if the row was written
// meanwhile.
type round struct {
	*Slots
	now     time.Time
	row     slotrows.Row
	pace    pace
	changed bool // the row is to be written
}

// decide answers ops from a row. It is all of the politeness that there is:
//
//   - gate is the earliest next start. Nobody starts before it, and it alone
//     gives the guarantee.
//   - tail is the end of the line. Who is refused is told tail, which moves
//     on; who comes new while there is a line goes to its end. Who was told a
//     place comes back at that time and takes the gate if it is open. The line
//     is lineLength long at most.
//   - If the gate stands idle, the line is void: those in it are not coming.
//   - Without a delay there is no line to keep: a free permit goes to whoever
//     asks. What the refused are told is this process's guess.
func (s *Slots) decide(row slotrows.Row, now time.Time, own pace, ops []*op) round {
	r := round{Slots: s, now: now, row: row, pace: own}
	r.row.Leases = slices.DeleteFunc(slices.Clone(row.Leases), func(l slotrows.Lease) bool {
		// Its holder's clock may be behind this one.
		over := !l.Until.Add(s.Slack).After(now)
		return over || slices.ContainsFunc(ops, func(o *op) bool { return o.release == l.ID })
	})
	r.changed = len(r.row.Leases) != len(row.Leases)
	asks := make([]*op, 0, len(ops))
	for _, o := range ops {
		if o.ask == nil {
			r.pace.released(o.held)
			continue
		}
		o.told = o.ask.Told
		if now.Sub(o.told) >= comeBack {
			o.told = time.Time{} // it was sent away without a place since then
		}
		asks = append(asks, o)
	}
	slices.SortStableFunc(asks, byPlace)
	for _, o := range asks {
		r.answer(o)
	}
	return r
}

// byPlace puts those who were told a place first, in the order of their places.
func byPlace(a, b *op) int {
	if a.told.IsZero() != b.told.IsZero() {
		if a.told.IsZero() {
			return 1
		}
		return -1
	}
	return a.told.Compare(b.told)
}

// answer decides about one ask.
func (r *round) answer(o *op) {
	p := o.ask.Policy
	o.turn, o.refusal = nil, nil
	soon := r.now.Add(r.Wait)
	free := len(r.row.Leases) < p.Concurrency
	idle := free && r.now.Sub(latest(r.row.Gate, r.row.BlockedUntil)) > r.idle(p)
	if idle {
		r.row.Tail, r.pace.tail = r.row.Gate, time.Time{}
	}
	free = free && !r.kept(p)
	start := latest(r.now, r.row.Gate, r.row.BlockedUntil)
	lined := p.Delay > 0 && !idle // there is a line to keep
	switch {
	case o.told.After(soon) && (lined || !free): // it is early: its place stands
		o.refusal = &Refusal{At: o.told, Queued: true}
	case start.After(soon) || lined && o.told.IsZero() && r.row.Tail.After(soon):
		r.refuse(o, start, free)
	case free:
		r.grant(o, start)
	case o.last:
		r.refuse(o, start, free)
	}
}

// grant gives a turn.
func (r *round) grant(o *op, start time.Time) {
	p := o.ask.Policy
	o.turn = &Turn{lease: leaseID(), Start: start, Until: o.ask.Until}
	r.row.Leases = append(r.row.Leases, slotrows.Lease{ID: o.turn.lease, Until: o.ask.Until})
	r.row.Gate = start.Add(p.least())
	if r.starved() {
		r.row.Tail = start // it is over
	}
	r.row.Tail = latest(r.row.Tail, start.Add(r.draw(p)))
	r.pace.out++
	r.changed = true
}

// refuse gives a place in the line, or none where the line is full.
func (r *round) refuse(o *op, start time.Time, free bool) {
	p := o.ask.Policy
	place := r.pace.place(p)
	tail := &r.row.Tail
	if p.Delay == 0 {
		tail = &r.pace.tail
	}
	at := latest(*tail, start)
	if !free {
		// Nobody has started since the gate opened: these turns are held for
		// longer than others were, and asking all the time is no use.
		held := min(r.now.Sub(r.row.Gate), lineLength)
		at = latest(at, r.now.Add(max(place, held/8, leastAway)))
	}
	if at.Sub(r.now) > lineLength {
		// Nobody starts before start, so the minute before it is early enough.
		from := latest(r.now, start.Add(-lineLength))
		o.refusal = &Refusal{At: from.Add(lineLength - time.Duration(r.Draw()*float64(lineLength-comeBack)))}
		return
	}
	o.refusal = &Refusal{At: at, Queued: true}
	*tail = at.Add(max(r.draw(p), place))
	r.changed = r.changed || p.Delay > 0
	if p.Delay == 0 && o.last && r.pace.out == 0 && !r.row.Tail.After(r.now) {
		r.pace.mark = at.Add(r.Wait)
		r.row.Tail, r.changed = r.pace.mark, true
	}
}

// Without a delay a process hands each permit that comes back to its next ask,
// so another one would never get any as long as the first has asks. So a
// process that has waited for nothing and holds no permit writes into tail
// until when it will have come back, and until then all others leave one
// permit to it.

// starved reports whether it is this process that permits are left to.
func (r *round) starved() bool {
	return !r.pace.mark.IsZero() && r.row.Tail.Equal(r.pace.mark)
}

// kept reports whether the last free permit is to be left to another process:
// to one that starves, or to a line that a job with a delay keeps.
func (r *round) kept(p Policy) bool {
	return p.Delay == 0 && r.row.Tail.After(r.now) && !r.starved() && len(r.row.Leases)+1 >= p.Concurrency
}

// idle is how long the gate may be open, with a permit free, without anybody
// coming before the line is taken to be void.
func (r *round) idle(p Policy) time.Duration {
	// Turns that started together end together: nobody starts meanwhile.
	return max(p.Delay+p.Delay/2, 2*r.pace.typical()) + r.Slack
}

// draw is the delay to the next place.
func (r *round) draw(p Policy) time.Duration {
	if !p.Randomize || p.Delay == 0 {
		return p.Delay
	}
	return time.Duration(float64(p.Delay) * (0.5 + r.Draw()))
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// leaseID needs no secrecy, but must be another in each process: math/rand/v2
// seeds itself from the system's random numbers.
func leaseID() string { return strconv.FormatUint(rand.Uint64(), 16) }
