package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
)

// A FrontierOption changes how a [Frontier] behaves.
type FrontierOption func(*Frontier)

// Stale makes every eventual read miss the last write of each row, the worst
// that eventual consistency allows.
func Stale() FrontierOption { return func(f *Frontier) { f.stale = true } }

// A Frontier keeps the rows of units.
type Frontier struct {
	stale bool

	mu   sync.Mutex
	jobs map[crawl.JobUID]*unitRows
}

type unitRows struct {
	rows   map[crawl.UnitID]*unitRow
	shards [frontier.Shards][]crawl.UnitID // sorted
}

type unitRow struct {
	now    frontier.Row
	before *frontier.Row // as it was before its last write; nil: not there
}

// change gives a row to be changed, after noting how it was.
func (r *unitRow) change() *frontier.Row {
	before := r.now
	r.before = &before
	return &r.now
}

func compareUnits(a, b crawl.UnitID) int { return bytes.Compare(a[:], b[:]) }

// NewFrontier returns an empty frontier.
func NewFrontier(opts ...FrontierOption) *Frontier {
	f := &Frontier{jobs: map[crawl.JobUID]*unitRows{}}
	for _, opt := range opts {
		opt(f)
	}
	return f
}

// of is the rows of a job, whose map and slices must not be changed where the
// job has none.
func (f *Frontier) of(job crawl.JobUID) *unitRows {
	if rows, ok := f.jobs[job]; ok {
		return rows
	}
	return &unitRows{}
}

// queued is the row of a unit that is queued; nil if there is none.
func (f *Frontier) queued(job crawl.JobUID, unit crawl.UnitID) *unitRow {
	if row, ok := f.of(job).rows[unit]; ok && row.now.State == frontier.Queued {
		return row
	}
	return nil
}

func copyRow(row frontier.Row) frontier.Row {
	row.Req = clone(row.Req)
	return row
}

// Get implements [frontier.Store].
func (f *Frontier) Get(ctx context.Context, job crawl.JobUID, units []crawl.UnitID, c frontier.Consistency) (map[crawl.UnitID]frontier.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	found := map[crawl.UnitID]frontier.Row{}
	for _, unit := range units {
		row, ok := f.of(job).rows[unit]
		switch {
		case !ok:
		case f.stale && c == frontier.Eventual:
			if row.before != nil {
				found[unit] = copyRow(*row.before)
			}
		default:
			found[unit] = copyRow(row.now)
		}
	}
	return found, nil
}

// Put implements [frontier.Store].
func (f *Frontier) Put(ctx context.Context, job crawl.JobUID, rows []frontier.Row) ([]*frontier.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	of, ok := f.jobs[job]
	if !ok {
		of = &unitRows{rows: map[crawl.UnitID]*unitRow{}}
		f.jobs[job] = of
	}
	stands := make([]*frontier.Row, len(rows))
	for i, row := range rows {
		if old, ok := of.rows[row.Unit]; ok {
			there := copyRow(old.now)
			stands[i] = &there
			continue
		}
		of.rows[row.Unit] = &unitRow{now: copyRow(row)}
		shard := row.Unit.Shard(frontier.Shards)
		of.shards[shard] = insert(of.shards[shard], row.Unit, compareUnits)
	}
	return stands, nil
}

// Settle implements [frontier.Store].
func (f *Frontier) Settle(ctx context.Context, job crawl.JobUID, s []frontier.Settlement) ([]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	closed := make([]bool, len(s))
	for i, s := range s {
		if row := f.queued(job, s.Unit); row != nil {
			now := row.change()
			now.State, now.Outcome = s.State, s.Outcome
			closed[i] = true
		}
	}
	return closed, nil
}

// Mark implements [frontier.Store].
func (f *Frontier) Mark(ctx context.Context, job crawl.JobUID, unit crawl.UnitID) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	row := f.queued(job, unit)
	if row == nil {
		return 0, nil
	}
	now := row.change()
	now.Marks++
	return now.Marks, nil
}

// Round implements [frontier.Store].
func (f *Frontier) Round(ctx context.Context, job crawl.JobUID, rounds map[crawl.UnitID]int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for unit, n := range rounds {
		if row := f.queued(job, unit); row != nil {
			row.change().Rounds = n
		}
	}
	return nil
}

// Scan implements [frontier.Store].
func (f *Frontier) Scan(ctx context.Context, job crawl.JobUID, shard int, after *crawl.UnitID, limit int) ([]frontier.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if shard < 0 || shard >= frontier.Shards {
		return nil, fmt.Errorf("scan shard %d of %d", shard, frontier.Shards)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.of(job)
	units := of.shards[shard]
	if after != nil {
		i, found := slices.BinarySearchFunc(units, *after, compareUnits)
		if found {
			i++
		}
		units = units[i:]
	}
	var rows []frontier.Row
	for _, unit := range units[:min(limit, len(units))] {
		rows = append(rows, copyRow(of.rows[unit].now))
	}
	return rows, nil
}
