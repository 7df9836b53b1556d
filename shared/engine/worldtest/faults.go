package worldtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/queue"
)

// A Fault is what can go wrong at a port call.
type Fault int

// The faults.
const (
	NoFault Fault = iota
	// CrashBefore ends the invocation before the call, CrashAfter after it:
	// what it would still do is not done, and its messages come again.
	CrashBefore
	CrashAfter
	// ErrorBefore refuses the call; LostAnswer does it and says it failed.
	ErrorBefore
	LostAnswer
	// Twice does the call two times.
	Twice
	// DelayBefore and DelayAfter stretch the call beyond the visibility
	// time-out, so that its messages are delivered again meanwhile.
	DelayBefore
	DelayAfter
	// PauseBefore and PauseAfter stretch it too, but not so far.
	PauseBefore
	PauseAfter
)

// AllFaults are the faults there are.
var AllFaults = []Fault{CrashBefore, CrashAfter, ErrorBefore, LostAnswer, Twice, DelayBefore, DelayAfter, PauseBefore, PauseAfter}

func (f Fault) String() string {
	return [...]string{"none", "crash before", "crash after", "error before", "lost answer", "twice", "delay before", "delay after", "pause before", "pause after"}[f]
}

// stretch is how long a delayed call takes: two visibility time-outs. A pause is
// long enough for others to work off what is due, and short of a time-out.
const (
	stretch = 2 * visibility
	pause   = visibility / 6
)

// ErrFault is what a call says that a fault refused, ErrCrashed what every call
// says of an invocation that has crashed.
var (
	ErrFault   = errors.New("injected fault")
	ErrCrashed = errors.New("the invocation has crashed")
)

// Faults stand before a world's ports. The calls are counted from 0 as they
// come.
type Faults struct {
	// Plan says what goes wrong at which call.
	Plan map[int]Fault
	// At, if not nil, says what goes wrong at the nth call of a name, from 0,
	// such as "rows.Put" or "queue.Send page".
	At func(name string, nth int) Fault

	mu    sync.Mutex
	calls int
	names map[string]int
	log   []string
}

// Calls is how many calls there were.
func (f *Faults) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Log says at which calls something went wrong.
func (f *Faults) Log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log
}

func (f *Faults) next(name string) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.Plan[f.calls]
	if f.names == nil {
		f.names = make(map[string]int)
	}
	if f.At != nil {
		fault = f.At(name, f.names[name])
	}
	f.names[name]++
	if fault != NoFault {
		f.log = append(f.log, fmt.Sprintf("%s call %d, %s", fault, f.calls, name))
	}
	f.calls++
	return fault
}

// An invocation is one batch on its way through a stage.
type invocation struct {
	from queue.Name

	mu      sync.Mutex
	crashed bool
}

type invocationKey struct{}

// Crash ends the invocation of a context.
func Crash(ctx context.Context) {
	if inv, ok := ctx.Value(invocationKey{}).(*invocation); ok {
		inv.mu.Lock()
		defer inv.mu.Unlock()
		inv.crashed = true
	}
}

// Invoked reports whether a context is that of an invocation, and which queue
// its batch came from, "" for a sweep or an order. The world's own calls have
// none.
func Invoked(ctx context.Context) (from queue.Name, ok bool) {
	inv, ok := ctx.Value(invocationKey{}).(*invocation)
	if !ok {
		return "", false
	}
	return inv.from, true
}

// Crashed reports whether the invocation of a context has crashed.
func Crashed(ctx context.Context) bool {
	inv, ok := ctx.Value(invocationKey{}).(*invocation)
	if !ok {
		return false
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.crashed
}

// call is one call to a port.
func call[T any](ctx context.Context, f *Faults, name string, do func() (T, error)) (T, error) {
	var none T
	if Crashed(ctx) {
		return none, ErrCrashed
	}
	switch f.next(name) {
	case CrashBefore:
		Crash(ctx)
		return none, ErrCrashed
	case CrashAfter:
		_, _ = do() // the crash hides the answer
		Crash(ctx)
		return none, ErrCrashed
	case ErrorBefore:
		return none, ErrFault
	case LostAnswer:
		_, _ = do() // so does the fault
		return none, ErrFault
	case Twice:
		if v, err := do(); err != nil {
			return v, err
		}
	case DelayBefore:
		time.Sleep(stretch)
	case DelayAfter:
		defer time.Sleep(stretch)
	case PauseBefore:
		time.Sleep(pause)
	case PauseAfter:
		defer time.Sleep(pause)
	}
	return do()
}

func call0(ctx context.Context, f *Faults, name string, do func() error) error {
	_, err := call(ctx, f, name, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// Around puts the faults round ports.
func (f *Faults) Around(p Ports) Ports {
	return Ports{
		Queue: faultyQueue{p.Queue, f}, Rows: faultyRows{p.Rows, f}, Items: faultyItems{p.Items, f},
		Jobs: faultyJobs{p.Jobs, f}, Blobs: faultyBlobs{p.Blobs, f}, Jars: faultyJars{p.Jars, f}, Dead: faultyDead{p.Dead, f},
	}
}

type faultyQueue struct {
	Queue
	f *Faults
}

func (q faultyQueue) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	return call0(ctx, q.f, "queue.Send "+string(to), func() error { return q.Queue.Send(ctx, to, msgs) })
}

func (q faultyQueue) Delete(ctx context.Context, from queue.Name, receipts []string) error {
	return call0(ctx, q.f, "queue.Delete "+string(from), func() error { return q.Queue.Delete(ctx, from, receipts) })
}

type faultyRows struct {
	frontier.Store
	f *Faults
}

func (s faultyRows) Get(ctx context.Context, job crawl.JobUID, units []crawl.UnitID, c frontier.Consistency) (map[crawl.UnitID]frontier.Row, error) {
	return call(ctx, s.f, "rows.Get", func() (map[crawl.UnitID]frontier.Row, error) { return s.Store.Get(ctx, job, units, c) })
}

func (s faultyRows) Put(ctx context.Context, job crawl.JobUID, rows []frontier.Row) ([]*frontier.Row, error) {
	return call(ctx, s.f, "rows.Put", func() ([]*frontier.Row, error) { return s.Store.Put(ctx, job, rows) })
}

func (s faultyRows) Settle(ctx context.Context, job crawl.JobUID, list []frontier.Settlement) ([]bool, error) {
	return call(ctx, s.f, "rows.Settle", func() ([]bool, error) { return s.Store.Settle(ctx, job, list) })
}

func (s faultyRows) Mark(ctx context.Context, job crawl.JobUID, unit crawl.UnitID) (int, error) {
	return call(ctx, s.f, "rows.Mark", func() (int, error) { return s.Store.Mark(ctx, job, unit) })
}

func (s faultyRows) Round(ctx context.Context, job crawl.JobUID, rounds map[crawl.UnitID]int) error {
	return call0(ctx, s.f, "rows.Round", func() error { return s.Store.Round(ctx, job, rounds) })
}

func (s faultyRows) Scan(ctx context.Context, job crawl.JobUID, shard int, after *crawl.UnitID, limit int) ([]frontier.Row, error) {
	return call(ctx, s.f, "rows.Scan", func() ([]frontier.Row, error) { return s.Store.Scan(ctx, job, shard, after, limit) })
}

type faultyItems struct {
	items.Store
	f *Faults
}

func (s faultyItems) Put(ctx context.Context, job crawl.JobUID, rows []items.Row) error {
	return call0(ctx, s.f, "items.Put", func() error { return s.Store.Put(ctx, job, rows) })
}

// Scan reads the shard in one call; worlds are small.
func (s faultyItems) Scan(ctx context.Context, job crawl.JobUID, shard int) iter.Seq2[items.Row, error] {
	return func(yield func(items.Row, error) bool) {
		rows, err := call(ctx, s.f, "items.Scan", func() (rows []items.Row, err error) {
			for row, err := range s.Store.Scan(ctx, job, shard) {
				if err != nil {
					return nil, err
				}
				rows = append(rows, row)
			}
			return rows, nil
		})
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(items.Row{}, err)
		}
	}
}

type faultyJobs struct {
	jobs.Store
	f *Faults
}

func (s faultyJobs) Create(ctx context.Context, job crawl.Job) (crawl.Job, bool, error) {
	type answer struct {
		job crawl.Job
		won bool
	}
	a, err := call(ctx, s.f, "jobs.Create", func() (answer, error) {
		j, won, err := s.Store.Create(ctx, job)
		return answer{j, won}, err
	})
	return a.job, a.won, err
}

func (s faultyJobs) Get(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	return call(ctx, s.f, "jobs.Get", func() (crawl.Job, error) { return s.Store.Get(ctx, uid) })
}

func (s faultyJobs) Peek(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	return call(ctx, s.f, "jobs.Peek", func() (crawl.Job, error) { return s.Store.Peek(ctx, uid) })
}

func (s faultyJobs) Note(ctx context.Context, uid crawl.JobUID, stage jobs.Stage, delta jobs.Counts) error {
	return call0(ctx, s.f, "jobs.Note", func() error { return s.Store.Note(ctx, uid, stage, delta) })
}

func (s faultyJobs) Update(ctx context.Context, job crawl.Job) (crawl.Job, bool, error) {
	type answer struct {
		job crawl.Job
		won bool
	}
	a, err := call(ctx, s.f, "jobs.Update", func() (answer, error) {
		j, won, err := s.Store.Update(ctx, job)
		return answer{j, won}, err
	})
	return a.job, a.won, err
}

func (s faultyJobs) Add(ctx context.Context, uid crawl.JobUID, stage jobs.Stage, delta jobs.Counts) (jobs.Counts, error) {
	return call(ctx, s.f, "jobs.Add", func() (jobs.Counts, error) { return s.Store.Add(ctx, uid, stage, delta) })
}

func (s faultyJobs) Totals(ctx context.Context, uid crawl.JobUID) (jobs.Counts, error) {
	return call(ctx, s.f, "jobs.Totals", func() (jobs.Counts, error) { return s.Store.Totals(ctx, uid) })
}

type faultyBlobs struct {
	blob.Store
	f *Faults
}

func (s faultyBlobs) Put(ctx context.Context, key string, data []byte) error {
	return call0(ctx, s.f, "blobs.Put", func() error { return s.Store.Put(ctx, key, data) })
}

func (s faultyBlobs) PutReader(ctx context.Context, key string, r io.Reader) error {
	return call0(ctx, s.f, "blobs.PutReader", func() error { return s.Store.PutReader(ctx, key, r) })
}

func (s faultyBlobs) Get(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	return call(ctx, s.f, "blobs.Get", func() ([]byte, error) { return s.Store.Get(ctx, key, offset, length) })
}

type faultyJars struct {
	jars.Store
	f *Faults
}

func (s faultyJars) Put(ctx context.Context, job crawl.JobUID, text string) error {
	return call0(ctx, s.f, "jars.Put", func() error { return s.Store.Put(ctx, job, text) })
}

func (s faultyJars) Get(ctx context.Context, job crawl.JobUID, hash jars.Hash) (string, error) {
	return call(ctx, s.f, "jars.Get", func() (string, error) { return s.Store.Get(ctx, job, hash) })
}

type faultyDead struct {
	dead.Store
	f *Faults
}

func (s faultyDead) Put(ctx context.Context, l dead.Letter) error {
	return call0(ctx, s.f, "dead.Put", func() error { return s.Store.Put(ctx, l) })
}
