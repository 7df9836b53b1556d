package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
)

// Items keeps the rows of items.
type Items struct {
	mu   sync.Mutex
	rows map[itemShard][]items.Row // sorted by key
}

type itemShard struct {
	job   crawl.JobUID
	shard int
}

func compareItems(row items.Row, key items.Key) int { return row.Key.Compare(key) }

// NewItems returns an empty store.
func NewItems() *Items { return &Items{rows: map[itemShard][]items.Row{}} }

// Put implements [items.Store].
func (s *Items) Put(ctx context.Context, job crawl.JobUID, rows []items.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		at := itemShard{job, row.Unit.Shard(frontier.Shards)}
		i, found := slices.BinarySearchFunc(s.rows[at], row.Key, compareItems)
		if found {
			s.rows[at][i] = row
		} else {
			s.rows[at] = slices.Insert(s.rows[at], i, row)
		}
	}
	return nil
}

// scanPage is how many rows a scan copies at a time.
const scanPage = 500

// Scan implements [items.Store].
func (s *Items) Scan(ctx context.Context, job crawl.JobUID, shard int) iter.Seq2[items.Row, error] {
	return func(yield func(items.Row, error) bool) {
		if shard < 0 || shard >= frontier.Shards {
			yield(items.Row{}, fmt.Errorf("scan shard %d of %d", shard, frontier.Shards))
			return
		}
		var after *items.Key
		for {
			if err := ctx.Err(); err != nil {
				yield(items.Row{}, err)
				return
			}
			rows := s.page(itemShard{job, shard}, after)
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if len(rows) < scanPage {
				return
			}
			after = &rows[len(rows)-1].Key
		}
	}
}

// page copies the first rows after a key; nil is before the first.
func (s *Items) page(of itemShard, after *items.Key) []items.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.rows[of]
	if after != nil {
		i, found := slices.BinarySearchFunc(rows, *after, compareItems)
		if found {
			i++
		}
		rows = rows[i:]
	}
	return slices.Clone(rows[:min(scanPage, len(rows))])
}
