package local

import (
	"context"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// A Frontier keeps the rows of units. All its reads are strong.
type Frontier struct{ s *Store }

// Frontier returns the frontier.
func (s *Store) Frontier() *Frontier { return &Frontier{s} }

var _ frontier.Store = (*Frontier)(nil)

const rowColumns = `SELECT unit, parent, state, priority, depth, req, marks, rounds, run, items, why FROM frontier `

// readRow reads a row of rowColumns.
func readRow(q *sqlite.Stmt) frontier.Row {
	row := frontier.Row{
		State: frontier.State(q.ColText(2)), Priority: int(q.ColInt(3)), Depth: int(q.ColInt(4)), Req: q.ColBlob(5),
		Marks: int(q.ColInt(6)), Rounds: int(q.ColInt(7)),
		Outcome: frontier.Outcome{Run: crawl.RunID(q.ColText(8)), Items: int(q.ColInt(9)), Why: q.ColText(10)},
	}
	q.CopyCol(0, row.Unit[:])
	q.CopyCol(1, row.By[:])
	return row
}

// unitRow is the row of a unit; nil if there is none.
func unitRow(c *sqlite.Conn, job int64, unit crawl.UnitID) (*frontier.Row, error) {
	q := c.Stmt(rowColumns + `WHERE job = ? AND unit = ?`).Int(job).Blob(unit[:])
	var found *frontier.Row
	if q.Next() {
		row := readRow(q)
		found = &row
	}
	return found, q.End()
}

// parentBytes is a row's By as it is kept: nothing for none.
func parentBytes(by *crawl.UnitID) []byte {
	if by.IsZero() {
		return nil
	}
	return by[:]
}

// Get implements [frontier.Store].
func (f *Frontier) Get(ctx context.Context, job crawl.JobUID, units []crawl.UnitID, _ frontier.Consistency) (map[crawl.UnitID]frontier.Row, error) {
	found := make(map[crawl.UnitID]frontier.Row, len(units))
	err := f.s.writer.read(ctx, func(c *sqlite.Conn) error {
		clear(found)
		number, err := f.s.writer.numbers.find(c, string(job))
		if err != nil || number == 0 {
			return err
		}
		for _, unit := range units { // one statement for many is not faster
			row, err := unitRow(c, number, unit)
			if err != nil {
				return err
			}
			if row != nil {
				found[unit] = *row
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %d units of job %s: %w", len(units), job, err)
	}
	return found, nil
}

// Put implements [frontier.Store].
func (f *Frontier) Put(ctx context.Context, job crawl.JobUID, rows []frontier.Row) ([]*frontier.Row, error) {
	stands := make([]*frontier.Row, len(rows))
	err := f.s.writer.do(ctx, func(c *sqlite.Conn) error {
		number, err := f.s.writer.numbers.give(c, string(job))
		if err != nil {
			return err
		}
		for i := range rows {
			if stands[i], err = putRow(c, number, &rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("put %d units of job %s: %w", len(rows), job, err)
	}
	return stands, nil
}

// putRow writes a row if there is none, else returns the one that is there.
func putRow(c *sqlite.Conn, job int64, row *frontier.Row) (*frontier.Row, error) {
	const insert = `INSERT INTO frontier (job, unit, parent, state, priority, depth, req, marks, rounds, run, items, why)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	err := c.Stmt(insert).Int(job).Blob(row.Unit[:]).
		Blob(parentBytes(&row.By)).Text(string(row.State)).Int(int64(row.Priority)).Int(int64(row.Depth)).
		Blob(row.Req).Int(int64(row.Marks)).Int(int64(row.Rounds)).
		Text(string(row.Run)).Int(int64(row.Items)).Text(row.Why).Run()
	if err != nil || c.Changes() > 0 {
		return nil, err
	}
	return unitRow(c, job, row.Unit)
}

// Settle implements [frontier.Store].
func (f *Frontier) Settle(ctx context.Context, job crawl.JobUID, settlements []frontier.Settlement) ([]bool, error) {
	const update = `UPDATE frontier SET state = ?, run = ?, items = ?, why = ? WHERE job = ? AND unit = ? AND state = 'queued'`
	closed := make([]bool, len(settlements))
	err := f.s.writer.do(ctx, func(c *sqlite.Conn) error {
		clear(closed)
		number, err := f.s.writer.numbers.find(c, string(job))
		if err != nil || number == 0 {
			return err
		}
		for i := range settlements {
			s := &settlements[i]
			err := c.Stmt(update).Text(string(s.State)).Text(string(s.Run)).Int(int64(s.Items)).Text(s.Why).
				Int(number).Blob(s.Unit[:]).Run()
			if err != nil {
				return err
			}
			closed[i] = c.Changes() > 0
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("settle %d units of job %s: %w", len(settlements), job, err)
	}
	return closed, nil
}

// Mark implements [frontier.Store].
func (f *Frontier) Mark(ctx context.Context, job crawl.JobUID, unit crawl.UnitID) (int, error) {
	const update = `UPDATE frontier SET marks = marks + 1 WHERE job = ? AND unit = ? AND state = 'queued' RETURNING marks`
	marks := 0
	err := f.s.writer.do(ctx, func(c *sqlite.Conn) error {
		marks = 0
		number, err := f.s.writer.numbers.find(c, string(job))
		if err != nil {
			return err
		}
		q := c.Stmt(update).Int(number).Blob(unit[:])
		for q.Next() {
			marks = int(q.ColInt(0))
		}
		return q.End()
	})
	if err != nil {
		return 0, fmt.Errorf("mark unit %s of job %s: %w", unit, job, err)
	}
	return marks, nil
}

// Round implements [frontier.Store].
func (f *Frontier) Round(ctx context.Context, job crawl.JobUID, rounds map[crawl.UnitID]int) error {
	const update = `UPDATE frontier SET rounds = ? WHERE job = ? AND unit = ? AND state = 'queued'`
	err := f.s.writer.do(ctx, func(c *sqlite.Conn) error {
		number, err := f.s.writer.numbers.find(c, string(job))
		if err != nil {
			return err
		}
		for unit, n := range rounds {
			if err := c.Stmt(update).Int(int64(n)).Int(number).Blob(unit[:]).Run(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("set the rounds of %d units of job %s: %w", len(rounds), job, err)
	}
	return nil
}

// shardRange is the keys of a shard: those from low on and less than high. A
// shard is a range of units, because it is the first bits of one.
func shardRange(shard int) (low, high []byte, err error) {
	if shard < 0 || shard >= frontier.Shards {
		return nil, nil, fmt.Errorf("there is no shard %d, only 0 to %d", shard, frontier.Shards-1)
	}
	const width = 256 / frontier.Shards
	low, high = []byte{byte(shard * width)}, []byte{byte((shard + 1) * width)}
	if shard == frontier.Shards-1 {
		// One byte longer than a unit, so greater than the last.
		high = make([]byte, len(crawl.UnitID{})+1)
		for i := range high {
			high[i] = 0xff
		}
	}
	return low, high, nil
}

const scanRows = rowColumns + `WHERE job = ? AND unit >= ? AND unit < ? ORDER BY unit LIMIT ?`

// Scan implements [frontier.Store].
func (f *Frontier) Scan(ctx context.Context, job crawl.JobUID, shard int, after *crawl.UnitID, limit int) ([]frontier.Row, error) {
	low, high, err := shardRange(shard)
	if err != nil {
		return nil, fmt.Errorf("scan job %s: %w", job, err)
	}
	if after != nil {
		low = append(after[:len(after):len(after)], 0) // the first key after it
	}
	var rows []frontier.Row
	err = f.s.readers.do(ctx, func(c *sqlite.Conn) error {
		rows = rows[:0]
		number, err := findNumber(c, string(job))
		if err != nil {
			return err
		}
		q := c.Stmt(scanRows).
			Int(number).Blob(low).Blob(high).Int(int64(limit))
		for q.Next() {
			rows = append(rows, readRow(q))
		}
		return q.End()
	})
	if err != nil {
		return nil, fmt.Errorf("scan job %s: %w", job, err)
	}
	return rows, nil
}
