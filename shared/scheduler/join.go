package scheduler

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
)

// scanPage is how many rows of the frontier one read asks for. 500 rows of under 1 KB stay
// under DynamoDB's 1 MB a query. Source: Amazon DynamoDB Developer Guide,
// "Paginating table query results".
const scanPage = 500

// A settled is a row with the counts of the items of the run that it names.
type settled struct {
	row                   frontier.Row
	stored, dropped, dead int
}

// whole reports whether the unit is closed and all its items are there.
func (u settled) whole() bool {
	return u.row.State.Closed() && u.stored+u.dropped+u.dead == u.row.Items
}

func (u *settled) count(item items.Row) {
	switch item.State {
	case items.Stored:
		u.stored++
	case items.Dropped:
		u.dropped++
	case items.Dead:
		u.dead++
	}
}

// units reads all rows of a job, each with the items of its run: a join of two
// ordered reads, shard by shard, in constant memory. Where each is not nil it
// gets every item that counts, before its unit is yielded; false ends it all.
func (s *Scheduler) units(ctx context.Context, job crawl.JobUID, each func(items.Row) bool) iter.Seq2[settled, error] {
	return func(yield func(settled, error) bool) {
		for shard := range frontier.Shards {
			next, stop := iter.Pull2(s.scanItems(ctx, job, shard))
			ok := joinShard(s.scanRows(ctx, job, shard), next, each, yield)
			stop()
			if !ok {
				return
			}
		}
	}
}

// joinShard yields each row with its items counted, and reports whether to go
// on. The items of a unit that is open, and of runs that lost, do not count.
func joinShard(rows iter.Seq2[frontier.Row, error], next func() (items.Row, error, bool),
	each func(items.Row) bool, yield func(settled, error) bool,
) bool {
	// The items are begun before the rows, so an item that is put while its
	// row is closed is missed, and the unit looked at again; that it is read
	// later than its row, and found, does no harm, as no closed row changes.
	item, ierr, more := next()
	for row, err := range rows {
		if err != nil {
			yield(settled{}, err)
			return false
		}
		u := settled{row: row}
		for more && ierr == nil && bytes.Compare(item.Unit[:], row.Unit[:]) <= 0 {
			if item.Unit == row.Unit && item.Run == row.Run && row.State.Closed() {
				u.count(item)
				if each != nil && !each(item) {
					return false
				}
			}
			item, ierr, more = next()
		}
		if ierr != nil {
			yield(settled{}, ierr)
			return false
		}
		if !yield(u, nil) {
			return false
		}
	}
	return true
}

func (s *Scheduler) scanRows(ctx context.Context, job crawl.JobUID, shard int) iter.Seq2[frontier.Row, error] {
	return scan(fmt.Sprintf("read the rows of job %s", job),
		func(after *crawl.UnitID) ([]frontier.Row, error) {
			return s.Rows.Scan(ctx, job, shard, after, scanPage)
		},
		func(row frontier.Row) crawl.UnitID { return row.Unit })
}

func (s *Scheduler) scanItems(ctx context.Context, job crawl.JobUID, shard int) iter.Seq2[items.Row, error] {
	return func(yield func(items.Row, error) bool) {
		for row, err := range s.Items.Scan(ctx, job, shard) {
			if err != nil {
				yield(row, fmt.Errorf("read the items of job %s: %w", job, err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// scan reads page after page, each after the key of the last row.
func scan[Row, Key any](what string, read func(after *Key) ([]Row, error), key func(Row) Key) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var after *Key
		for {
			rows, err := read(after)
			if err != nil {
				var none Row
				yield(none, fmt.Errorf("%s: %w", what, err))
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if len(rows) < scanPage {
				return
			}
			last := key(rows[len(rows)-1])
			after = &last
		}
	}
}
