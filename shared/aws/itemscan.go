package aws

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/topology"
)

const (
	// passBudget is how many bytes of entries a pass holds, 16 MB: a shard of
	// a job of half a million short items, in a function of 1 GB.
	passBudget = 16 << 20
	// entryMemory is about what an entry takes in memory besides its texts.
	entryMemory = 160
	// mostAhead is how many entries are made ready at a time at most.
	mostAhead = 500
)

// Scan implements [items.Store]. The packs of a shard overlap, so a pass reads
// them all and sorts what it finds; a shard that is too long for memory takes
// several passes, each of which keeps the least keys after those of the last.
func (t *Items) Scan(ctx context.Context, job crawl.JobUID, shard int) iter.Seq2[items.Row, error] {
	return func(yield func(items.Row, error) bool) {
		fail := func(err error) {
			yield(items.Row{}, fmt.Errorf("scan items of shard %d of job %s: %w", shard, job, err))
		}
		if shard < 0 || shard >= frontier.Shards {
			fail(fmt.Errorf("there are 0 to %d", frontier.Shards-1))
			return
		}
		p := pass{budget: t.budget}
		for {
			if err := t.read(ctx, partition(job, shard), &p); err != nil {
				fail(err)
				return
			}
			more, err := t.yieldAll(ctx, p.entries, yield)
			if err != nil {
				fail(err)
			}
			if !more || p.until == nil {
				return
			}
			p = pass{budget: t.budget, after: p.until}
		}
	}
}

// read makes a pass over a partition.
func (t *Items) read(ctx context.Context, partition string, p *pass) error {
	in := t.s.partOf(topology.TableItems, partition, "", nil)
	err := t.s.queryEach(ctx, in, 0, func(r record) (bool, error) {
		pack, err := readPack(r)
		if err != nil || p.isBefore(pack.first) {
			return false, err
		}
		return true, p.add(pack)
	})
	p.sort()
	return err
}

// yieldAll yields the rows of entries, and reports whether more are wanted.
func (t *Items) yieldAll(ctx context.Context, entries []itemEntry, yield func(items.Row, error) bool) (bool, error) {
	for len(entries) > 0 {
		n := ahead(entries)
		next := slices.Clone(entries[:n]) // whose blobs are let go of with them
		entries = entries[n:]
		if err := t.fetch(ctx, next); err != nil {
			return false, err
		}
		for _, e := range next {
			row, err := e.row()
			if err != nil {
				return false, err
			}
			if !yield(row, nil) {
				return false, nil
			}
		}
	}
	return true, nil
}

// ahead is how many entries are made ready at a time: up to [rowsAtOnce] of
// them with blobs.
func ahead(entries []itemEntry) int {
	blobs := 0
	for n, e := range entries[:min(len(entries), mostAhead)] {
		if e.form == blobItem {
			if blobs++; blobs == rowsAtOnce {
				return n + 1
			}
		}
	}
	return min(len(entries), mostAhead)
}

// A pass gathers the entries of packs that come in the order of their first
// units: those with the least keys after one, as many as the budget allows.
type pass struct {
	budget  int        // bytes of entries
	after   *items.Key // nil: from the first one on
	until   *items.Key // the greatest key that is kept; nil: nothing was dropped
	entries []itemEntry
	size    int
}

// isBefore reports whether the pass ends before a unit.
func (p *pass) isBefore(unit crawl.UnitID) bool {
	return p.until != nil && bytes.Compare(p.until.Unit[:], unit[:]) < 0
}

// add takes the entries of a pack that belong to the pass.
func (p *pass) add(pack itemPack) error {
	if p.after != nil && bytes.Compare(pack.last[:], p.after.Unit[:]) < 0 {
		return nil
	}
	return pack.each(func(e itemEntry) {
		if p.after != nil && e.Compare(*p.after) <= 0 || p.until != nil && e.Compare(*p.until) > 0 {
			return
		}
		p.entries = append(p.entries, e.keep())
		if p.size += e.size() + entryMemory; p.size > p.budget {
			p.shrink()
		}
	})
}

// shrink drops the greatest keys, so that half of the budget is free, save that
// one entry always stays.
func (p *pass) shrink() {
	p.sort()
	n, size := 0, 0
	for n < len(p.entries) && (n == 0 || size <= p.budget/2) {
		size += p.entries[n].size() + entryMemory
		n++
	}
	if n < len(p.entries) {
		clear(p.entries[n:])
		p.entries, p.size = p.entries[:n], size
		p.until = &items.Key{}
		*p.until = p.entries[n-1].Key
	}
}

// sort sorts the entries by their keys, and keeps of each key what was put
// last.
func (p *pass) sort() {
	slices.SortFunc(p.entries, func(a, b itemEntry) int {
		if c := a.Compare(b.Key); c != 0 {
			return c
		}
		return cmp.Compare(b.put, a.put)
	})
	p.entries = slices.CompactFunc(p.entries, func(a, b itemEntry) bool { return a.Key == b.Key })
	p.size = 0
	for _, e := range p.entries {
		p.size += e.size() + entryMemory
	}
}
