package local

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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

// Send implements [queue.Sender].
func (q *Queue) Send(ctx context.Context, to queue.Name, msgs []queue.Message) error {
	if len(msgs) == 0 {
		return ctx.Err()
	}
	now := q.s.clock()
	err := q.s.writer.do(ctx, func(c *sqlite.Conn) error {
		for i := range msgs {
			q.sent++
			id := q.s.self*messageIDs + q.sent
			due := now.Add(min(max(msgs[i].Delay, 0), queue.MaxDelay)).UnixNano()
			err := c.Stmt(`INSERT INTO messages (queue, job, due, id, holder, receives) VALUES (?, ?, ?, ?, 0, 0)`).
				Text(string(to)).Text(string(msgs[i].Job)).Int(due).Int(id).Run()
			if err != nil {
				return err
			}
			if err := c.Stmt(`INSERT INTO bodies (id, body) VALUES (?, ?)`).Int(id).Blob(msgs[i].Body).Run(); err != nil {
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

// What is due, by due time and then by ID, which is the order of sending: one
// job's, or all.
const (
	dueColumns = `SELECT m.job, m.due, m.id, m.receives, b.body FROM messages m CROSS JOIN bodies b ON b.id = m.id `
	dueOfJob   = dueColumns + `WHERE m.queue = ? AND m.due <= ? AND m.job = ? ORDER BY m.due, m.id LIMIT ?`
	dueOfAll   = dueColumns + `WHERE m.queue = ? AND m.due <= ? ORDER BY m.due, m.id LIMIT ?`
)

// take gives messages that are due to this process.
func (q *Queue) take(c *sqlite.Conn, from queue.Name, job crawl.JobUID, now time.Time, limit int) ([]queue.Delivery, error) {
	var ds []queue.Delivery
	var rs []receipt
	query := dueOfAll
	if job != "" {
		query = dueOfJob
	}
	row := c.Stmt(query).Text(string(from)).Int(now.UnixNano())
	if job != "" {
		row.Text(string(job))
	}
	row.Int(int64(max(limit, 0)))
	for row.Next() {
		r := receipt{job: row.ColText(0), due: row.ColInt(1), id: row.ColInt(2), receives: row.ColInt(3)}
		rs = append(rs, r)
		ds = append(ds, queue.Delivery{
			ID: strconv.FormatInt(r.id, 36), Job: crawl.JobUID(r.job), Body: row.ColBlob(4), Receives: int(r.receives) + 1,
		})
	}
	if err := row.End(); err != nil {
		return nil, err
	}
	hidden := now.Add(q.s.visibility).UnixNano()
	for i, r := range rs {
		err := c.Stmt(`UPDATE messages SET due = ?, holder = ?, receives = receives + 1 WHERE queue = ? AND job = ? AND due = ? AND id = ?`).
			Int(hidden).Int(q.s.self).Text(string(from)).Text(r.job).Int(r.due).Int(r.id).Run()
		if err != nil {
			return nil, err
		}
		r.due, r.receives = hidden, r.receives+1
		ds[i].Receipt = r.String()
	}
	return ds, nil
}

// A receipt is the key of a message as one delivery left it, and the count of
// deliveries by then. Both change with the next one.
type receipt struct {
	job               string
	due, id, receives int64
}

func (r receipt) String() string {
	b := make([]byte, 0, 64)
	for _, n := range []int64{r.id, r.due, r.receives} {
		b = append(strconv.AppendInt(b, n, 36), '/')
	}
	return string(append(b, r.job...))
}

func parseReceipt(s string) (receipt, error) {
	parts := strings.SplitN(s, "/", 4)
	if len(parts) != 4 {
		return receipt{}, fmt.Errorf("receipt %q is not of this queue", s)
	}
	r := receipt{job: parts[3]}
	for i, n := range []*int64{&r.id, &r.due, &r.receives} {
		var err error
		if *n, err = strconv.ParseInt(parts[i], 36, 64); err != nil {
			return receipt{}, fmt.Errorf("receipt %q is not of this queue: %w", s, err)
		}
	}
	return r, nil
}

func parseReceipts(ss []string) ([]receipt, error) {
	rs := make([]receipt, len(ss))
	for i, s := range ss {
		var err error
		if rs[i], err = parseReceipt(s); err != nil {
			return nil, err
		}
	}
	return rs, nil
}

// Delete implements [queue.Receiver].
func (q *Queue) Delete(ctx context.Context, from queue.Name, receipts []string) error {
	rs, err := parseReceipts(receipts)
	if err != nil || len(rs) == 0 {
		return err
	}
	err = q.s.writer.do(ctx, func(c *sqlite.Conn) error {
		for _, r := range rs {
			err := c.Stmt(`DELETE FROM messages WHERE queue = ? AND job = ? AND due = ? AND id = ? AND receives = ?`).
				Text(string(from)).Text(r.job).Int(r.due).Int(r.id).Int(r.receives).Run()
			if err != nil {
				return err
			}
			if c.Changes() == 0 {
				continue // gone, or delivered again since
			}
			if err := c.Stmt(`DELETE FROM bodies WHERE id = ?`).Int(r.id).Run(); err != nil {
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

// Return implements [queue.Receiver].
func (q *Queue) Return(ctx context.Context, from queue.Name, receipts []string, delay time.Duration) error {
	rs, err := parseReceipts(receipts)
	if err != nil || len(rs) == 0 {
		return err
	}
	due := q.s.clock().Add(max(delay, 0)).UnixNano()
	err = q.s.writer.do(ctx, func(c *sqlite.Conn) error {
		for _, r := range rs {
			err := c.Stmt(`UPDATE messages SET due = ?, holder = 0 WHERE queue = ? AND job = ? AND due = ? AND id = ? AND receives = ?`).
				Int(due).Text(string(from)).Text(r.job).Int(r.due).Int(r.id).Int(r.receives).Run()
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
