package memory

import (
	"cmp"
	"context"
	"fmt"
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

func compareKeys(a, b items.Key) int {
	return cmp.Or(compareUnits(a.Unit, b.Unit), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Ordinal, b.Ordinal))
}

func compareItems(row items.Row, key items.Key) int { return compareKeys(row.Key, key) }

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

// Scan implements [items.Store].
func (s *Items) Scan(ctx context.Context, job crawl.JobUID, shard int, after *items.Key, limit int) ([]items.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if shard < 0 || shard >= frontier.Shards {
		return nil, fmt.Errorf("scan shard %d of %d", shard, frontier.Shards)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.rows[itemShard{job, shard}]
	if after != nil {
		i, found := slices.BinarySearchFunc(rows, *after, compareItems)
		if found {
			i++
		}
		rows = rows[i:]
	}
	return slices.Clone(rows[:min(limit, len(rows))]), nil
}

// Of implements [items.Store].
func (s *Items) Of(ctx context.Context, job crawl.JobUID, unit crawl.UnitID, run crawl.RunID) ([]items.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.rows[itemShard{job, unit.Shard(frontier.Shards)}]
	i, _ := slices.BinarySearchFunc(rows, items.Key{Unit: unit, Run: run}, compareItems)
	var of []items.Row
	for ; i < len(rows) && rows[i].Unit == unit && rows[i].Run == run; i++ {
		of = append(of, rows[i])
	}
	return of, nil
}
