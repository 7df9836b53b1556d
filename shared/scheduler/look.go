package scheduler

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
)

// A Tally is the sum over a job's rows: the counts that matter.
type Tally struct {
	// Rows counts all units, the start included; Queued those still open.
	Rows, Queued int
	// Done, Failed and Dropped count closed units, the start excluded.
	Done, Failed, Dropped int
	// Started is true if the start has a row. It was written before the job's
	// own and is kept for as long as that.
	Started bool
	// StartFailed is true if the spider's start ended with an error.
	StartFailed bool
	// Stored, ItemsDropped and Dead count the items of the runs that count.
	Stored, ItemsDropped, Dead int
}

// Look reports whether a job has nothing left to do: every row closed, and for
// each the items of its run all there. It reads all rows twice, strongly, the
// second time with their items, and both must find the same number of them: rows
// are never deleted and closed is final, so nothing was open in between.
func (s *Scheduler) Look(ctx context.Context, job crawl.JobUID) (Tally, bool, error) {
	if open, err := s.witnessOpen(ctx, job); open || err != nil {
		return Tally{}, false, err
	}
	rows, done, err := s.closedRows(ctx, job)
	if !done || err != nil {
		return Tally{Rows: rows, Queued: 1}, false, err // as far as was looked
	}
	second, done, err := s.pass(ctx, job)
	if !done || err != nil {
		return second, false, err
	}
	return second, rows == second.Rows, nil
}

// closedRows counts the rows until the first that is open, which becomes the
// witness. Their items are not looked at: what the second pass finds of them is
// there for good.
func (s *Scheduler) closedRows(ctx context.Context, job crawl.JobUID) (int, bool, error) {
	n := 0
	for shard := range frontier.Shards {
		for row, err := range s.scanRows(ctx, job, shard) {
			if err != nil {
				return n, false, err
			}
			if n++; !row.State.Closed() {
				s.witnesses.set(job, row.Unit)
				return n, false, nil
			}
		}
	}
	return n, true, nil
}

// Tally sums over all rows of a job as they are.
func (s *Scheduler) Tally(ctx context.Context, job crawl.JobUID) (Tally, error) {
	var t Tally
	for u, err := range s.units(ctx, job, nil) {
		if err != nil {
			return t, err
		}
		t.add(u)
	}
	return t, nil
}

// pass reads the rows until the first that is open, which becomes the witness.
func (s *Scheduler) pass(ctx context.Context, job crawl.JobUID) (Tally, bool, error) {
	var t Tally
	for u, err := range s.units(ctx, job, nil) {
		if err != nil {
			return t, false, err
		}
		t.add(u)
		if !u.whole() {
			s.witnesses.set(job, u.row.Unit)
			return t, false, nil
		}
	}
	return t, true, nil
}

// witnessOpen reports whether the row that was found open last is so still: as
// long as it is, looking again is one read.
func (s *Scheduler) witnessOpen(ctx context.Context, job crawl.JobUID) (bool, error) {
	unit, ok := s.witnesses.get(job)
	if !ok {
		return false, nil
	}
	rows, err := s.Rows.Get(ctx, job, []crawl.UnitID{unit}, frontier.Strong)
	if err != nil {
		return false, fmt.Errorf("look at job %s: %w", job, err)
	}
	if row, ok := rows[unit]; ok && !row.State.Closed() {
		return true, nil
	}
	s.witnesses.drop(job)
	return false, nil
}

// Output gives the items that are the job's output: those stored by the run
// that each closed row names, in the order of the units.
func (s *Scheduler) Output(ctx context.Context, job crawl.JobUID) iter.Seq2[items.Row, error] {
	return s.OutputTally(ctx, job, new(Tally), new(bool))
}

// OutputTally is Output that sums over all rows of the job on its way: tally is
// theirs once whole is true, when all items were taken.
func (s *Scheduler) OutputTally(ctx context.Context, job crawl.JobUID, tally *Tally, whole *bool) iter.Seq2[items.Row, error] {
	return func(yield func(items.Row, error) bool) {
		*tally, *whole = Tally{}, false
		stopped := false
		each := func(item items.Row) bool {
			stopped = item.State == items.Stored && !yield(item, nil)
			return !stopped
		}
		for u, err := range s.units(ctx, job, each) {
			if err != nil {
				yield(items.Row{}, err)
				return
			}
			tally.add(u)
		}
		*whole = !stopped
	}
}

func (t *Tally) add(u settled) {
	t.Rows++
	t.Stored += u.stored
	t.ItemsDropped += u.dropped
	t.Dead += u.dead
	t.Started = t.Started || u.row.Unit == crawl.StartUnit
	switch {
	case u.row.State == frontier.Queued:
		t.Queued++
	case u.row.Unit == crawl.StartUnit:
		t.StartFailed = u.row.State == frontier.Failed
	case u.row.State == frontier.Done:
		t.Done++
	case u.row.State == frontier.Failed:
		t.Failed++
	case u.row.State == frontier.Dropped:
		t.Dropped++
	}
}

// witnesses remembers one open row a job.
type witnesses struct {
	mu    sync.Mutex
	units map[crawl.JobUID]crawl.UnitID
}

func newWitnesses() *witnesses { return &witnesses{units: make(map[crawl.JobUID]crawl.UnitID)} }

func (w *witnesses) get(job crawl.JobUID) (crawl.UnitID, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	u, ok := w.units[job]
	return u, ok
}

func (w *witnesses) set(job crawl.JobUID, unit crawl.UnitID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.units[job] = unit
}

func (w *witnesses) drop(job crawl.JobUID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.units, job)
}
