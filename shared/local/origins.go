package local

import (
	"context"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
	"github.com/skitterhq/skitter/shared/origins"
)

// Origins keeps the rows of origins. A lease ends at once with the process
// that has it.
type Origins struct{ s *Store }

// Origins returns the store of origins.
func (s *Store) Origins() *Origins { return &Origins{s} }

var _ origins.Store = (*Origins)(nil)

// Get implements [origins.Store].
func (s *Origins) Get(ctx context.Context, origin string) (origins.Row, bool, error) {
	var row origins.Row
	err := s.s.writer.read(ctx, func(c *sqlite.Conn) error {
		row = origins.Row{}
		q := c.Stmt(`SELECT status, body, expires, since FROM origins WHERE origin = ?`).Text(origin)
		if q.Next() {
			row = origins.Row{
				Status: int(q.ColInt(0)), Body: q.ColBlob(1), Expires: fromNano(q.ColInt(2)), Since: fromNano(q.ColInt(3)),
			}
		}
		return q.End()
	})
	if err != nil {
		return origins.Row{}, false, fmt.Errorf("read origin %s: %w", origin, err)
	}
	return row, row.Status != 0, nil
}

// Lease implements [origins.Store].
func (s *Origins) Lease(ctx context.Context, origin string, until time.Time) (bool, error) {
	if err := s.s.reapSometimes(ctx); err != nil {
		return false, fmt.Errorf("lease origin %s: %w", origin, err)
	}
	const take = `INSERT INTO origins (origin, leased_until, leased_to) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET leased_until = excluded.leased_until, leased_to = excluded.leased_to
		WHERE leased_until <= ? OR leased_to NOT IN (SELECT n FROM processes)`
	now := s.s.clock().UnixNano()
	took := false
	err := s.s.writer.do(ctx, func(c *sqlite.Conn) error {
		err := c.Stmt(take).Text(origin).Int(nano(until)).Int(s.s.self).Int(now).Run()
		took = c.Changes() > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("lease origin %s: %w", origin, err)
	}
	return took, nil
}

// Put implements [origins.Store].
func (s *Origins) Put(ctx context.Context, origin string, row origins.Row) error {
	const put = `INSERT OR REPLACE INTO origins (origin, status, body, expires, since) VALUES (?, ?, ?, ?, ?)`
	err := s.s.writer.do(ctx, func(c *sqlite.Conn) error {
		return c.Stmt(put).Text(origin).Int(int64(row.Status)).Blob(row.Body).Int(nano(row.Expires)).Int(nano(row.Since)).Run()
	})
	if err != nil {
		return fmt.Errorf("write origin %s: %w", origin, err)
	}
	return nil
}
