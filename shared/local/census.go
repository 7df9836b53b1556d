package local

import (
	"context"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
	"github.com/skitterhq/skitter/shared/queue"
)

// Outstanding implements [queue.Census].
func (q *Queue) Outstanding(ctx context.Context, job crawl.JobUID, from ...queue.Name) (int, error) {
	if len(from) == 0 {
		from = append(queue.Requests(), queue.Page, queue.Item, queue.Control)
	}
	n := int64(0)
	err := q.s.readers.do(ctx, func(c *sqlite.Conn) error {
		return snapshot(c, func() error {
			n = 0
			number, err := findNumber(c, string(job))
			if err != nil {
				return err
			}
			for _, name := range from {
				queue, err := findNumber(c, string(name))
				if err != nil {
					return err
				}
				row := c.Stmt(`SELECT count(*) FROM messages WHERE queue = ? AND job = ?`).Int(queue).Int(number)
				if row.Next() {
					n += row.ColInt(0)
				}
				if err := row.End(); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return 0, fmt.Errorf("count the messages of job %s: %w", job, err)
	}
	return int(n), nil
}

// discardAtOnce is how many messages one transaction discards, so that a long
// queue holds up no other call for long.
const discardAtOnce = 1000

// Discard implements [queue.Census].
func (q *Queue) Discard(ctx context.Context, from queue.Name, job crawl.JobUID) (int, error) {
	total := 0
	for {
		n, err := q.discardSome(ctx, from, job)
		total += n
		if err != nil {
			return total, fmt.Errorf("discard the messages of job %s from %s: %w", job, from, err)
		}
		if n < discardAtOnce {
			return total, nil
		}
	}
}

const freeOfJob = `SELECT due, id, body IS NULL FROM messages WHERE queue = ? AND job = ? AND (holder = 0 OR due <= ?) LIMIT ?`

func (q *Queue) discardSome(ctx context.Context, from queue.Name, job crawl.JobUID) (int, error) {
	now := q.s.clock().UnixNano()
	n := 0
	err := q.s.writer.do(ctx, func(c *sqlite.Conn) error {
		queue, err := q.s.writer.numbers.find(c, string(from))
		if err != nil {
			return err
		}
		number, err := q.s.writer.numbers.find(c, string(job))
		if err != nil {
			return err
		}
		var free []receipt
		row := c.Stmt(freeOfJob).Int(queue).Int(number).Int(now).Int(discardAtOnce)
		for row.Next() {
			free = append(free, receipt{due: row.ColInt(0), id: row.ColInt(1), large: row.ColInt(2)})
		}
		if err := row.End(); err != nil {
			return err
		}
		n = len(free)
		for _, m := range free {
			err := c.Stmt(`DELETE FROM messages WHERE queue = ? AND job = ? AND due = ? AND id = ?`).
				Int(queue).Int(number).Int(m.due).Int(m.id).Run()
			if err == nil && m.large != 0 {
				err = c.Stmt(deleteBody).Int(m.id).Run()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
