package local

import (
	"context"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// Jars keeps the cookies that do not travel in their requests.
type Jars struct{ s *Store }

// Jars returns the store of cookies.
func (s *Store) Jars() *Jars { return &Jars{s} }

var _ jars.Store = (*Jars)(nil)

// Put implements [jars.Store].
func (s *Jars) Put(ctx context.Context, job crawl.JobUID, text string) error {
	const insert = `INSERT INTO jars (job, hash, jars) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	err := s.s.writer.do(ctx, func(c *sqlite.Conn) error {
		number, err := s.s.writer.numbers.give(c, string(job))
		if err != nil {
			return err
		}
		return c.Stmt(insert).Int(number).Text(string(jars.HashOf(text))).Blob([]byte(text)).Run()
	})
	if err != nil {
		return fmt.Errorf("keep cookies of job %s: %w", job, err)
	}
	return nil
}

// Get implements [jars.Store].
func (s *Jars) Get(ctx context.Context, job crawl.JobUID, hash jars.Hash) (string, error) {
	text, found := "", false
	err := s.s.writer.read(ctx, func(c *sqlite.Conn) error {
		text, found = "", false
		number, err := s.s.writer.numbers.find(c, string(job))
		if err != nil || number == 0 {
			return err
		}
		q := c.Stmt(`SELECT jars FROM jars WHERE job = ? AND hash = ?`).Int(number).Text(string(hash))
		if q.Next() {
			text, found = string(q.ColBlob(0)), true
		}
		return q.End()
	})
	if err == nil && !found {
		err = jars.ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("read cookies %.50s of job %s: %w", hash, job, err)
	}
	return text, nil
}
