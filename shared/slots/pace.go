package slots

import (
	"time"

	"github.com/skitterhq/skitter/shared/slotrows"
)

// startHold is how long a turn is taken to be held before any has been given
// back here: about what a page takes on the web.
const startHold = 200 * time.Millisecond

// leastAway is how far away the next permit is said to be at least: sending a
// request away and taking it back takes about this time itself.
const leastAway = 10 * time.Millisecond

// A pace is what a process knows of one slot by itself. It is only ever a
// guess at when to come back; the guarantee does not hang on it.
type pace struct {
	// hold is how long turns were held lately, as a moving average in which
	// the last eight count for two thirds; 0 before the first.
	hold time.Duration
	// tail is the end of the line of those whom this process refused, where
	// there is no delay and so no line in the row.
	tail time.Time
	// out is how many turns this process holds.
	out int
	// mark is the last tail that this process wrote because it starved.
	mark time.Time

	// row is the row as this process wrote it last, read when it last read
	// one, and alone whether that was still the one that it had written.
	row   slotrows.Row
	read  time.Time
	alone bool
}

// trusted is for how long a process that writes a row alone takes its own word
// for what stands there. A mistake costs a write that fails; and no more than
// this late it sees the leases that ended with their process.
const trusted = time.Second

// trusts reports whether the row need not be read.
func (c *pace) trusts(now time.Time) bool {
	return c.alone && now.Sub(c.read) < trusted
}

// saw notes a row that was read.
func (c *pace) saw(row slotrows.Row, now time.Time) {
	c.alone = row.Version == c.row.Version
	c.row, c.read = row, now
}

// wrote notes a row that was written.
func (c *pace) wrote(row slotrows.Row) {
	row.Version++
	c.row = row
}

// released notes that a turn was given back which had been held so long.
func (c *pace) released(held time.Duration) {
	c.out = max(c.out-1, 0) // one may be given back twice
	if held <= 0 {
		return // it was given up before its start
	}
	if c.hold == 0 {
		c.hold = held
	}
	c.hold += (held - c.hold) / 8
}

// typical is how long a turn is likely to be held.
func (c *pace) typical() time.Duration {
	if c.hold == 0 {
		return startHold
	}
	return c.hold
}

// place is how much of the line one place takes at least: where permits and
// not the delay are short, one of them comes free this often.
func (c *pace) place(p Policy) time.Duration {
	return c.typical() / time.Duration(max(p.Concurrency, 1))
}
