package local

import (
	"context"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
	"github.com/skitterhq/skitter/shared/queue"
)

// Dead keeps the dead letters.
type Dead struct{ s *Store }

// Dead returns the store of dead letters.
func (s *Store) Dead() *Dead { return &Dead{s} }

var _ dead.Store = (*Dead)(nil)

// Put implements [dead.Store].
func (s *Dead) Put(ctx context.Context, l dead.Letter) error {
	const put = `INSERT OR REPLACE INTO dead (job, id, unit, queue, reason, time, body) VALUES (?, ?, ?, ?, ?, ?, ?)`
	err := s.s.writer.do(ctx, func(c *sqlite.Conn) error {
		return c.Stmt(put).Text(string(l.Job)).Text(l.ID).Blob(l.Unit[:]).
			Text(string(l.From)).Text(l.Reason).Int(nano(l.Time)).Blob(l.Body).Run()
	})
	if err != nil {
		return fmt.Errorf("keep dead letter %s of job %s: %w", l.ID, l.Job, err)
	}
	return nil
}

// readLetter reads all of a letter but its body.
func readLetter(q *sqlite.Stmt, job crawl.JobUID) dead.Letter {
	l := dead.Letter{
		ID: q.ColText(0), Job: job, From: queue.Name(q.ColText(2)), Reason: q.ColText(3), Time: fromNano(q.ColInt(4)),
	}
	q.CopyCol(1, l.Unit[:])
	return l
}

// List implements [dead.Store].
func (s *Dead) List(ctx context.Context, job crawl.JobUID, limit int) ([]dead.Letter, error) {
	if limit <= 0 {
		limit = -1 // SQLite's "all"
	}
	var list []dead.Letter
	err := s.s.readers.do(ctx, func(c *sqlite.Conn) error {
		list = list[:0]
		q := c.Stmt(`SELECT id, unit, queue, reason, time FROM dead WHERE job = ? ORDER BY id LIMIT ?`).
			Text(string(job)).Int(int64(limit))
		for q.Next() {
			list = append(list, readLetter(q, job))
		}
		return q.End()
	})
	if err != nil {
		return nil, fmt.Errorf("list the dead letters of job %s: %w", job, err)
	}
	return list, nil
}

// Get implements [dead.Store].
func (s *Dead) Get(ctx context.Context, job crawl.JobUID, id string) (dead.Letter, bool, error) {
	var l dead.Letter
	found := false
	err := s.s.readers.do(ctx, func(c *sqlite.Conn) error {
		q := c.Stmt(`SELECT id, unit, queue, reason, time, body FROM dead WHERE job = ? AND id = ?`).Text(string(job)).Text(id)
		if found = q.Next(); found {
			l = readLetter(q, job)
			l.Body = q.ColBlob(5)
		}
		return q.End()
	})
	if err != nil {
		return dead.Letter{}, false, fmt.Errorf("read dead letter %s of job %s: %w", id, job, err)
	}
	return l, found, nil
}

// Delete implements [dead.Store].
func (s *Dead) Delete(ctx context.Context, job crawl.JobUID, id string) error {
	err := s.s.writer.do(ctx, func(c *sqlite.Conn) error {
		return c.Stmt(`DELETE FROM dead WHERE job = ? AND id = ?`).Text(string(job)).Text(id).Run()
	})
	if err != nil {
		return fmt.Errorf("delete dead letter %s of job %s: %w", id, job, err)
	}
	return nil
}
