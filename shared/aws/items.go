package aws

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/topology"
)

// Items keeps the rows of items in packs, since a write unit holds several: a
// row of the table items is what one Put has for one shard, or a part of it.
// Its sort key is the least unit of its rows and 8 random bytes, so that no
// Put overwrites another's pack. Attributes are u (the greatest unit), a (when
// it was put) and p (the rows) or z (the rows, compressed); a long item lies in
// a blob that its pack names.
type Items struct {
	s      *Store
	bodies blob.Store
	budget int // of a pass, see [pass]
}

// Items returns the rows of items.
func (s *Store) Items() *Items { return &Items{s, s.blobs, passBudget} }

var _ items.Store = (*Items)(nil)

// Put implements [items.Store].
func (t *Items) Put(ctx context.Context, job crawl.JobUID, rows []items.Row) error {
	if len(rows) == 0 {
		return nil
	}
	packs, err := t.packs(ctx, job, lastOfEach(rows))
	if err == nil {
		err = t.s.batchPut(ctx, topology.TableItems, packs)
	}
	if err != nil {
		return fmt.Errorf("write %d items of job %s: %w", len(rows), job, err)
	}
	return nil
}

// lastOfEach keeps the last row of each key: of two in one Put no reader could
// tell which it was.
func lastOfEach(rows []items.Row) []items.Row {
	place := make(map[items.Key]int, len(rows))
	kept := make([]items.Row, 0, len(rows))
	for _, row := range rows {
		if i, twice := place[row.Key]; twice {
			kept[i] = row
			continue
		}
		place[row.Key] = len(kept)
		kept = append(kept, row)
	}
	return kept
}

// packs puts the rows of each shard, which differ in their keys, into packs.
func (t *Items) packs(ctx context.Context, job crawl.JobUID, rows []items.Row) ([]record, error) {
	expires, err := t.s.jobs.expiry.of(ctx, job)
	if err != nil {
		return nil, err
	}
	entries := make([]itemEntry, len(rows))
	err = forEach(ctx, len(rows), func(ctx context.Context, i int) (err error) {
		entries[i], err = t.entry(ctx, job, rows[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b itemEntry) int { return a.Compare(b.Key) })
	put := t.s.puts.next(t.s.now())
	var packs []record
	for len(entries) > 0 {
		n := packLength(entries)
		pack := packItems(entries[:n])
		pack["job"] = asText(partitionOf(job, entries[0].Unit))
		pack["a"] = asNumber(put)
		pack[topology.TTL] = asNumber(expires)
		packs, entries = append(packs, pack), entries[n:]
	}
	return packs, nil
}

// packLength is how many of the entries, which are sorted, go into one pack:
// those of the first one's shard, up to [mostPacked] and at least one.
func packLength(entries []itemEntry) int {
	shard, size := entries[0].Unit.Shard(frontier.Shards), 0
	for n, e := range entries {
		size += e.size()
		if n > 0 && (size > mostPacked || e.Unit.Shard(frontier.Shards) != shard) {
			return n
		}
	}
	return len(entries)
}

// A putClock orders the Puts of a process: the clock's time, but always later
// than the last. Puts of several processes are ordered as well as their clocks
// agree.
type putClock struct{ last atomic.Int64 }

func (c *putClock) next(now time.Time) int64 {
	for {
		last := c.last.Load()
		put := max(now.UnixNano(), last+1)
		if c.last.CompareAndSwap(last, put) {
			return put
		}
	}
}
