package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
	"github.com/skitterhq/skitter/shared/queue"
)

// A Queue is all queues of a data folder. It gives each message that is due
// once, in the order of due time and then of sending, and it keeps each until
// it is deleted, however often it was received.
type Queue struct {
	s    *Store
	sent int64 // by this process; the writer's alone
}

// Queue returns the queues: a [queue.Sender], [queue.Receiver], [queue.Census]
// and [queue.Bell].
func (s *Store) Queue() *Queue { return s.queue }

// messageIDs is how many IDs a process has. They begin with its number, so
// that no two messages ever have the same.
const messageIDs = 1 << 40

// largeBody is the size from which on a body lies apart from its row. With it
// a row still fits on its page.
const largeBody = 800

// Send implements [queue.Sender].
func (q *Queue) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	if len(msgs) == 0 {
		return ctx.Err()
	}
	now := q.s.clock()
	err := q.s.writer.do(ctx, func(c *sqlite.Conn) error {
		number, err := q.s.writer.numbers.give(c, string(to))
		if err != nil {
			return err
		}
		for i := range msgs {
			if err := q.put(c, number, &msgs[i], now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("send %d messages to %s: %w", len(msgs), to, err)
	}
	q.s.bell.ring(to)
	return nil
}

func (q *Queue) put(c *sqlite.Conn, to int64, msg *queue.Message, now time.Time) error {
	job, err := q.s.writer.numbers.give(c, string(msg.Job))
	if err != nil {
		return err
	}
	q.sent++
	id := q.s.self*messageIDs + q.sent
	due := now.Add(min(max(msg.Delay, 0), queue.MaxDelay)).UnixNano()
	row := c.Stmt(`INSERT INTO messages (queue, job, due, id, holder, receives, body) VALUES (?, ?, ?, ?, 0, 0, ?)`).
		Int(to).Int(job).Int(due).Int(id)
	if len(msg.Body) < largeBody {
		return row.Blob(msg.Body).Run()
	}
	if err := row.Null().Run(); err != nil {
		return err
	}
	return c.Stmt(`INSERT INTO bodies (id, body) VALUES (?, ?)`).Int(id).Blob(msg.Body).Run()
}

// Receive implements [queue.Receiver].
func (q *Queue) Receive(ctx context.Context, from queue.Name, job crawl.JobUID, max int) ([]queue.Delivery, error) {
	err := q.s.reapSometimes(ctx)
	now := q.s.clock()
	var ds []queue.Delivery
	if err == nil {
		err = q.s.writer.do(ctx, func(c *sqlite.Conn) (err error) {
			ds, err = q.take(c, from, job, now, max)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("receive from %s: %w", from, err)
	}
	return ds, nil
}

const (
	// What is due of a job, by due time and then by ID, which is the order
	// of sending.
	dueOfJob = `SELECT m.due, m.id, m.receives, m.body IS NULL, coalesce(m.body, b.body)
		FROM messages m LEFT JOIN bodies b ON m.body IS NULL AND b.id = m.id
		WHERE m.queue = ? AND m.job = ? AND m.due <= ? ORDER BY m.due, m.id LIMIT ?`
	// To take those up to one of them, which are the first.
	takeOfJob = `UPDATE messages SET due = ?, holder = ?, receives = receives + 1 WHERE queue = ? AND job = ? AND (due, id) <= (?, ?)`
	// The next job that has messages.
	nextJob = `SELECT m.job, n.name FROM messages m CROSS JOIN numbers n ON n.n = m.job
		WHERE m.queue = ? AND m.job > ? ORDER BY m.job LIMIT 1`
)

// A found message is one that is due.
type found struct {
	receipt
	job  crawl.JobUID
	body []byte
}

// take gives messages that are due to this process.
func (q *Queue) take(c *sqlite.Conn, from queue.Name, job crawl.JobUID, now time.Time, limit int) ([]queue.Delivery, error) {
	number, err := q.s.writer.numbers.find(c, string(from))
	if err != nil || number == 0 || limit <= 0 {
		return nil, err
	}
	var due []found
	err = q.jobs(c, number, job, func(job int64, uid crawl.JobUID) (err error) {
		due, err = readDue(c, due, number, job, uid, now, limit)
		return err
	})
	if err != nil || len(due) == 0 {
		return nil, err
	}
	if job == "" {
		slices.SortFunc(due, func(a, b found) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.id, b.id)) })
		due = due[:min(limit, len(due))]
	}
	hidden := now.Add(q.s.visibility).UnixNano()
	last := map[int64]receipt{} // of each job
	ds := make([]queue.Delivery, len(due))
	for i := range due {
		m := &due[i]
		last[m.receipt.job] = m.receipt
		m.due, m.receives = hidden, m.receives+1
		ds[i] = queue.Delivery{
			ID: strconv.FormatInt(m.id, 36), Job: m.job, Body: m.body, Receives: int(m.receives), Receipt: m.String(),
		}
	}
	for job, m := range last {
		err := c.Stmt(takeOfJob).Int(hidden).Int(q.s.self).Int(number).Int(job).Int(m.due).Int(m.id).Run()
		if err != nil {
			return nil, err
		}
	}
	return ds, nil
}

// jobs calls do for a job, or for each that has messages on a queue.
func (q *Queue) jobs(c *sqlite.Conn, queue int64, job crawl.JobUID, do func(job int64, uid crawl.JobUID) error) error {
	if job != "" {
		number, err := q.s.writer.numbers.find(c, string(job))
		if err != nil || number == 0 {
			return err
		}
		return do(number, job)
	}
	for number := int64(0); ; {
		row := c.Stmt(nextJob).Int(queue).Int(number)
		there, uid := row.Next(), crawl.JobUID("")
		if there {
			number, uid = row.ColInt(0), crawl.JobUID(row.ColText(1))
		}
		if err := row.End(); err != nil || !there {
			return err
		}
		if err := do(number, uid); err != nil {
			return err
		}
	}
}

// readDue appends what is due of a job.
func readDue(c *sqlite.Conn, due []found, queue, job int64, uid crawl.JobUID, now time.Time, limit int) ([]found, error) {
	row := c.Stmt(dueOfJob).Int(queue).Int(job).Int(now.UnixNano()).Int(int64(limit))
	for row.Next() {
		due = append(due, found{
			receipt: receipt{job: job, due: row.ColInt(0), id: row.ColInt(1), receives: row.ColInt(2), large: row.ColInt(3)},
			job:     uid, body: row.ColBlob(4),
		})
	}
	return due, row.End()
}

// Delete implements [queue.Receiver].
func (q *Queue) Delete(ctx context.Context, from queue.Name, receipts []string) error {
	rs, err := parseReceipts(receipts)
	if err != nil || len(rs) == 0 {
		return err
	}
	err = q.s.writer.do(ctx, func(c *sqlite.Conn) error {
		number, err := q.s.writer.numbers.find(c, string(from))
		if err != nil {
			return err
		}
		for _, r := range rs {
			err := c.Stmt(`DELETE FROM messages WHERE queue = ? AND job = ? AND due = ? AND id = ? AND receives = ?`).
				Int(number).Int(r.job).Int(r.due).Int(r.id).Int(r.receives).Run()
			if err != nil {
				return err
			}
			if r.large == 0 || c.Changes() == 0 {
				continue // the body was in the row; or it is gone, or delivered again since
			}
			if err := c.Stmt(deleteBody).Int(r.id).Run(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete %d messages from %s: %w", len(receipts), from, err)
	}
	return nil
}

const deleteBody = `DELETE FROM bodies WHERE id = ?`

// Return implements [queue.Receiver].
func (q *Queue) Return(ctx context.Context, from queue.Name, receipts []string, delay time.Duration) error {
	rs, err := parseReceipts(receipts)
	if err != nil || len(rs) == 0 {
		return err
	}
	due := q.s.clock().Add(max(delay, 0)).UnixNano()
	err = q.s.writer.do(ctx, func(c *sqlite.Conn) error {
		number, err := q.s.writer.numbers.find(c, string(from))
		if err != nil {
			return err
		}
		for _, r := range rs {
			err := c.Stmt(`UPDATE messages SET due = ?, holder = 0 WHERE queue = ? AND job = ? AND due = ? AND id = ? AND receives = ?`).
				Int(due).Int(number).Int(r.job).Int(r.due).Int(r.id).Int(r.receives).Run()
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("return %d messages to %s: %w", len(receipts), from, err)
	}
	q.s.bell.ring(from)
	return nil
}
