package slots

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"

	"github.com/skitterhq/skitter/shared/slotrows"
)

type refusedAt = time.Time

// spread is how far apart the places in a line lie where no delay says so:
// one permit is likely to be free again after this time.
const spread = 200 * time.Millisecond

// decide answers ops from a row, and returns the row as it is to be written
// and whether it changed. It is all of the politeness that there is:
//
//   - gate is the earliest next start. Nobody starts before it, and it alone
//     gives the guarantee.
//   - tail is the end of the line. Who is refused is told tail, which moves
//     on; who comes new while there is a line goes to its end. Who was told a
//     place comes back at that time and takes the gate if it is open.
//   - If the gate stands idle, the line is void: those in it are not coming.
func (s *Slots) decide(row slotrows.Row, now time.Time, ops []*op) (slotrows.Row, bool) {
	before := len(row.Leases)
	leases := slices.DeleteFunc(slices.Clone(row.Leases), func(l slotrows.Lease) bool {
		return !l.Until.After(now) || slices.ContainsFunc(ops, func(o *op) bool { return o.release == l.ID })
	})
	row.Leases = leases
	changed := len(leases) != before
	asks := make([]*op, 0, len(ops))
	for _, o := range ops {
		if o.ask != nil {
			asks = append(asks, o)
		}
	}
	// Those who were told a place come first, in the order of their places.
	slices.SortStableFunc(asks, func(a, b *op) int {
		ta, tb := a.ask.Told, b.ask.Told
		if ta.IsZero() != tb.IsZero() {
			if ta.IsZero() {
				return 1
			}
			return -1
		}
		return cmp.Compare(ta.UnixNano(), tb.UnixNano())
	})
	for _, o := range asks {
		if s.answer(&row, now, o) {
			changed = true
		}
	}
	return row, changed
}

// answer decides about one ask, and reports whether it changed the row.
func (s *Slots) answer(row *slotrows.Row, now time.Time, o *op) bool {
	p := o.ask.Policy
	o.turn, o.at = nil, time.Time{}
	soon := now.Add(s.Wait)
	if o.ask.Told.After(soon) { // it is early: its place stands
		o.at = o.ask.Told
		return false
	}
	free := len(row.Leases) < p.Concurrency
	start := latest(now, row.Gate, row.BlockedUntil)
	if free && now.Sub(latest(row.Gate, row.BlockedUntil)) > p.idle()+s.Slack {
		row.Tail = row.Gate // the gate stands idle
	}
	inLine := row.Tail.After(soon) && o.ask.Told.IsZero()
	if free && !inLine && !start.After(soon) {
		o.turn = &Turn{lease: leaseID(), Start: start, Until: o.ask.Until}
		row.Leases = append(row.Leases, slotrows.Lease{ID: o.turn.lease, Until: o.ask.Until})
		row.Gate = start.Add(p.least())
		row.Tail = latest(row.Tail, start.Add(s.draw(p)))
		return true
	}
	at := latest(row.Tail, start)
	if !free {
		at = latest(at, now.Add(p.place()))
	}
	o.at = at
	row.Tail = at.Add(max(s.draw(p), p.place()))
	return true
}

// place is how much of the line one place takes at least: where permits and
// not the delay are short, one is free again each spread/Concurrency.
func (p Policy) place() time.Duration {
	if p.Delay > 0 {
		return 0
	}
	return spread / time.Duration(max(p.Concurrency, 1))
}

// idle is how long the gate may be open without anybody coming before the
// line is taken to be void.
func (p Policy) idle() time.Duration { return max(p.Delay+p.Delay/2, spread) }

// draw is the delay to the next place.
func (s *Slots) draw(p Policy) time.Duration {
	if !p.Randomize {
		return p.Delay
	}
	return time.Duration(float64(p.Delay) * (0.5 + s.Draw()))
}

func latest(times ...time.Time) time.Time {
	var t time.Time
	for _, u := range times {
		if u.After(t) {
			t = u
		}
	}
	return t
}

func leaseID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}
