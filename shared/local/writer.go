package local

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// A writer has the one connection of a process that writes. All operations
// that come while it commits go together into its next transaction, since a
// commit costs more than what is written: the more there is to do, the less
// each costs.
//
// It has no goroutine of its own: whoever comes while nobody uses the
// connection leads, does what waits, and makes the next that waits the leader.
type writer struct {
	file    *file
	conn    *sqlite.Conn
	numbers *numbers
	crowded bool // the last group was none of one; the leader's alone

	mu      sync.Mutex
	led     bool         // somebody uses the connection
	waiting []*operation // empty while nobody leads
	stopped bool
}

// An operation is one call's part of a transaction. It may run more than once:
// when another one of its transaction fails, it runs again in one of its own.
type operation struct {
	ctx    context.Context
	writes bool
	alone  bool // where nothing shares its transaction it needs none
	run    func(c *sqlite.Conn) error
	err    error
	turn   chan turn // for the next to wait for; nil for who leads at once
}

// A turn is what an operation that waits is told.
type turn bool

const (
	lead turn = true
	done turn = false // another one led
)

// maxGroup is how many operations share a transaction at most, so that none
// waits long for its answer.
const maxGroup = 256

// do runs an operation that may write, and returns when it is committed or has
// failed. An operation that returns an error leaves nothing behind.
func (w *writer) do(ctx context.Context, run func(c *sqlite.Conn) error) error {
	return w.submit(&operation{ctx: ctx, writes: true, run: run}, false)
}

// read runs an operation that only reads, and little. It sees all that was
// acknowledged. (A connection that reads only, as those of readers, has to
// fetch its pages anew after each commit.)
func (w *writer) read(ctx context.Context, run func(c *sqlite.Conn) error) error {
	return w.submit(&operation{ctx: ctx, run: run}, false)
}

// doOne is do of an operation that is one statement, which SQLite runs whole
// or not at all. It spares the statements that begin and end a transaction,
// about a tenth of what it costs.
func (w *writer) doOne(ctx context.Context, run func(c *sqlite.Conn) error) error {
	return w.submit(&operation{ctx: ctx, writes: true, alone: true, run: run}, false)
}

// readOne is read of an operation that is one statement.
func (w *writer) readOne(ctx context.Context, run func(c *sqlite.Conn) error) error {
	return w.submit(&operation{ctx: ctx, alone: true, run: run}, false)
}

// stop does what waits, then a last operation, and closes the connection.
func (w *writer) stop(last func(c *sqlite.Conn) error) error {
	err := w.submit(&operation{ctx: context.Background(), writes: true, run: last}, true)
	return errors.Join(err, w.conn.Close())
}

func (w *writer) submit(op *operation, last bool) error {
	if err := op.ctx.Err(); err != nil {
		return err
	}
	if err := w.file.err(); err != nil {
		return err
	}
	w.mu.Lock()
	if w.stopped {
		w.mu.Unlock()
		return ErrClosed
	}
	w.stopped = last
	w.waiting = append(w.waiting, op)
	if w.led {
		op.turn = make(chan turn, 1)
		w.mu.Unlock()
		// The leader looks at op.ctx before it runs the operation, and while
		// it waits for the lock; leaving earlier would leave it running.
		if <-op.turn == done {
			return explain(w.file.path, op.err)
		}
	} else {
		w.led = true
		w.mu.Unlock()
	}
	w.lead()
	return explain(w.file.path, op.err)
}

// lead does what waits, the caller's own operation among it, and hands over.
func (w *writer) lead() {
	if w.crowded {
		// More may come: what can run now goes first, so that it shares
		// this transaction. (One that is alone goes on at once: to be
		// scheduled again would cost it more than its commit.)
		runtime.Gosched()
	}
	w.mu.Lock()
	n := min(len(w.waiting), maxGroup)
	group := w.waiting[:n:n]
	w.waiting = w.waiting[n:]
	w.crowded = n > 1
	w.mu.Unlock()

	own := group[0] // the first that waits is the one that leads
	w.commit(group)
	for _, op := range group {
		if op != own {
			op.turn <- done
		}
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) > 0 {
		w.crowded = true
		w.waiting[0].turn <- lead
		return
	}
	w.waiting, w.led = nil, false
}

// commit runs a group in one transaction. If one fails nothing is kept of any,
// and each runs again by itself.
func (w *writer) commit(group []*operation) {
	for wait := shortestWait; ; wait = min(2*wait, longestWait) {
		if group = alive(group); len(group) == 0 {
			return
		}
		err := w.transact(group)
		switch {
		case sqlite.Busy(err):
			time.Sleep(jitter(wait))
		case err != nil && len(group) > 1:
			for i := range group {
				w.commit(group[i : i+1])
			}
			return
		default:
			for _, op := range group {
				op.err = err
			}
			return
		}
	}
}

// transact runs a group in one transaction, which it ends.
func (w *writer) transact(group []*operation) (err error) {
	defer func() { w.numbers.end(err == nil) }()
	if len(group) == 1 && group[0].alone {
		return group[0].run(w.conn)
	}
	begin := `BEGIN`
	if slices.ContainsFunc(group, func(op *operation) bool { return op.writes }) {
		begin = `BEGIN IMMEDIATE`
	}
	if err := w.conn.Stmt(begin).Run(); err != nil {
		return err
	}
	err = w.run(group)
	if err == nil {
		err = w.conn.Stmt(`COMMIT`).Run()
	}
	if err != nil {
		// A transaction that an error has ended already has none to roll back.
		_ = w.conn.Stmt(`ROLLBACK`).Run()
	}
	return err
}

func (w *writer) run(group []*operation) error {
	for _, op := range group {
		if err := op.run(w.conn); err != nil {
			return err
		}
	}
	return nil
}

// alive gives the operations whose context is done its error, and returns the
// others.
func alive(group []*operation) []*operation {
	ended := func(op *operation) bool {
		op.err = op.ctx.Err()
		return op.err != nil
	}
	if !slices.ContainsFunc(group, ended) {
		return group
	}
	return slices.DeleteFunc(slices.Clone(group), ended)
}
