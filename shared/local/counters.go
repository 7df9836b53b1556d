package local

import (
	"context"
	"fmt"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// Add implements [jobs.Store]. The totals are exact.
func (s *Jobs) Add(ctx context.Context, uid crawl.JobUID, stage jobs.Stage, delta jobs.Counts) (jobs.Counts, error) {
	now := s.s.clock().UnixNano()
	var totals jobs.Counts
	err := s.s.writer.do(ctx, func(c *sqlite.Conn) error {
		all, own, err := readCounters(c, uid, stage)
		if err != nil {
			return err
		}
		totals = all
		if len(delta) == 0 {
			return nil
		}
		for key, n := range delta {
			all[key] += n
			own[key] += n
		}
		return c.Stmt(`INSERT OR REPLACE INTO counters (job, stage, moved, counts) VALUES (?, ?, ?, ?)`).
			Text(string(uid)).Text(string(stage)).Int(now).Blob(packCounts(own)).Run()
	})
	if err != nil {
		return nil, fmt.Errorf("add to the counters of job %s: %w", uid, err)
	}
	return totals, nil
}

// Note implements [jobs.Store].
func (s *Jobs) Note(ctx context.Context, uid crawl.JobUID, stage jobs.Stage, delta jobs.Counts) error {
	_, err := s.Add(ctx, uid, stage, delta)
	return err
}

// Totals implements [jobs.Store].
func (s *Jobs) Totals(ctx context.Context, uid crawl.JobUID) (jobs.Counts, error) {
	var totals jobs.Counts
	err := s.s.readers.do(ctx, func(c *sqlite.Conn) (err error) {
		totals, _, err = readCounters(c, uid, "")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the counters of job %s: %w", uid, err)
	}
	return totals, nil
}

// Moved implements [jobs.Store].
func (s *Jobs) Moved(ctx context.Context, uid crawl.JobUID) (time.Time, error) {
	moved := int64(0)
	err := s.s.readers.do(ctx, func(c *sqlite.Conn) error {
		moved = 0
		q := c.Stmt(`SELECT max(moved) FROM counters WHERE job = ?`).Text(string(uid))
		if q.Next() {
			moved = q.ColInt(0) // 0 for the NULL of no row
		}
		return q.End()
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("read when job %s moved: %w", uid, err)
	}
	return fromNano(moved), nil
}

// readCounters are the sums of a job over all stages, and those of one.
func readCounters(c *sqlite.Conn, uid crawl.JobUID, stage jobs.Stage) (all, own jobs.Counts, err error) {
	all, own = jobs.Counts{}, jobs.Counts{}
	q := c.Stmt(`SELECT stage, counts FROM counters WHERE job = ?`).Text(string(uid))
	for q.Next() {
		mine := jobs.Stage(q.ColText(0)) == stage
		u := unpacker{rest: q.ColBlob(1)}
		for u.more() {
			key, n := u.string(), u.int()
			all[key] += n
			if mine {
				own[key] = n
			}
		}
		if u.err != nil {
			_ = q.End() // the first error says more
			return nil, nil, u.err
		}
	}
	return all, own, q.End()
}

// packCounts writes counters as they are kept.
func packCounts(counts jobs.Counts) []byte {
	var b []byte
	for key, n := range counts {
		b = packInt(packString(b, key), n)
	}
	return b
}
