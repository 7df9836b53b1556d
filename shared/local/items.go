package local

import (
	"context"
	"fmt"
	"iter"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// Items keeps the rows of items.
type Items struct{ s *Store }

// Items returns the store of items.
func (s *Store) Items() *Items { return &Items{s} }

var _ items.Store = (*Items)(nil)

const (
	itemColumns    = `SELECT unit, run, ordinal, state, why, item FROM items `
	scanItems      = itemColumns + `WHERE job = ? AND unit >= ? AND unit < ? ORDER BY unit, run, ordinal LIMIT ?`
	scanItemsAfter = itemColumns + `WHERE job = ? AND (unit, run, ordinal) > (?, ?, ?) AND unit < ? ORDER BY unit, run, ordinal LIMIT ?`
)

// Put implements [items.Store].
func (s *Items) Put(ctx context.Context, job crawl.JobUID, rows []items.Row) error {
	const insert = `INSERT OR REPLACE INTO items (job, unit, run, ordinal, state, why, item) VALUES (?, ?, ?, ?, ?, ?, ?)`
	encoded := make([][]byte, len(rows))
	for i := range rows {
		var err error
		if encoded[i], err = rows[i].Item.MarshalJSON(); err != nil {
			return fmt.Errorf("put item %d of unit %s: %w", rows[i].Ordinal, rows[i].Unit, err)
		}
	}
	err := s.s.writer.do(ctx, func(c *sqlite.Conn) error {
		number, err := s.s.writer.numbers.give(c, string(job))
		if err != nil {
			return err
		}
		for i := range rows {
			row := &rows[i]
			err := c.Stmt(insert).Int(number).Blob(row.Unit[:]).Text(string(row.Run)).Int(int64(row.Ordinal)).
				Text(string(row.State)).Text(row.Why).Blob(encoded[i]).Run()
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("put %d items of job %s: %w", len(rows), job, err)
	}
	return nil
}

// scanPage is how many rows a scan reads at a time.
const scanPage = 500

// Scan implements [items.Store].
func (s *Items) Scan(ctx context.Context, job crawl.JobUID, shard int) iter.Seq2[items.Row, error] {
	return func(yield func(items.Row, error) bool) {
		var after *items.Key
		for {
			rows, err := s.page(ctx, job, shard, after)
			if err != nil {
				yield(items.Row{}, fmt.Errorf("scan the items of job %s: %w", job, err))
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
			after = &rows[len(rows)-1].Key
		}
	}
}

// page reads the first rows of a shard after a key; nil is before the first.
func (s *Items) page(ctx context.Context, job crawl.JobUID, shard int, after *items.Key) ([]items.Row, error) {
	low, high, err := shardRange(shard)
	if err != nil {
		return nil, err
	}
	return s.read(ctx, job, func(c *sqlite.Conn, number int64) *sqlite.Stmt {
		if after == nil {
			return c.Stmt(scanItems).
				Int(number).Blob(low).Blob(high).Int(scanPage)
		}
		return c.Stmt(scanItemsAfter).
			Int(number).Blob(after.Unit[:]).Text(string(after.Run)).Int(int64(after.Ordinal)).Blob(high).Int(scanPage)
	})
}

// read reads the rows of a query of itemColumns.
func (s *Items) read(ctx context.Context, job crawl.JobUID, query func(c *sqlite.Conn, number int64) *sqlite.Stmt) ([]items.Row, error) {
	var rows []items.Row
	err := s.s.readers.do(ctx, func(c *sqlite.Conn) error {
		rows = rows[:0]
		number, err := findNumber(c, string(job))
		if err != nil {
			return err
		}
		q := query(c, number)
		for q.Next() {
			row := items.Row{
				Key:   items.Key{Run: crawl.RunID(q.ColText(1)), Ordinal: int(q.ColInt(2))},
				State: items.State(q.ColText(3)), Why: q.ColText(4),
			}
			q.CopyCol(0, row.Unit[:])
			if err := row.Item.UnmarshalJSON(q.ColBlob(5)); err != nil {
				_ = q.End() // the first error says more
				return fmt.Errorf("item %d of unit %s: %w", row.Ordinal, row.Unit, err)
			}
			rows = append(rows, row)
		}
		return q.End()
	})
	return rows, err
}
