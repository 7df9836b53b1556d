package local

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// How long to wait before another try for a lock that another process has:
// twice as long each time, between these two. A commit takes well under a
// millisecond, and one that works off the log some tens of them. (SQLite's own
// busy time-out waits up to 100 ms between two tries, so a process that writes
// all the time would starve the others.)
const (
	shortestWait = 100 * time.Microsecond
	longestWait  = 5 * time.Millisecond
)

// retry runs do until it does not find the database busy, or ctx is done.
func retry(ctx context.Context, do func() error) error {
	for wait := shortestWait; ; wait = min(2*wait, longestWait) {
		err := do()
		if !sqlite.Busy(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		time.Sleep(jitter(wait))
	}
}

// jitter keeps those that wait from trying in step.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// immediate runs do in a transaction that has the write lock from its start.
// (A transaction that reads first and then writes is refused at once when
// another has written in between, whatever the patience.)
func immediate(ctx context.Context, c *sqlite.Conn, do func() error) error {
	if err := retry(ctx, func() error { return c.Stmt(`BEGIN IMMEDIATE`).Run() }); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = c.Stmt(`COMMIT`).Run()
	}
	if err != nil {
		// A transaction that an error has ended already has none to roll back.
		_ = c.Stmt(`ROLLBACK`).Run()
	}
	return err
}
