package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
	"github.com/skitterhq/skitter/shared/queue"
)

// A bell wakes those of this process that wait for messages.
type bell struct {
	mu    sync.Mutex
	chans map[queue.Name]chan struct{} // those that somebody waits for
}

func newBell() *bell { return &bell{chans: map[queue.Name]chan struct{}{}} }

func (b *bell) wait(name queue.Name) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.chans[name]
	if !ok {
		c = make(chan struct{})
		b.chans[name] = c
	}
	return c
}

func (b *bell) ring(name queue.Name) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, ok := b.chans[name]; ok {
		close(c)
		delete(b.chans, name)
	}
}

func (b *bell) ringAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.chans {
		close(c)
	}
	clear(b.chans)
}

// Wait implements [queue.Bell]. It rings too when the messages of a process
// that is gone become due.
func (q *Queue) Wait(from queue.Name) <-chan struct{} { return q.s.bell.wait(from) }

// When the first message that is not held is due: one job's, or of all. A
// message that was held for too long counts.
const (
	nextOfJob = `SELECT due FROM messages WHERE queue = ? AND (holder = 0 OR due <= ?) AND job = ? ORDER BY due LIMIT 1`
	nextOfAll = `SELECT due FROM messages WHERE queue = ? AND (holder = 0 OR due <= ?) ORDER BY due LIMIT 1`
)

// NextDue implements [queue.Bell].
func (q *Queue) NextDue(ctx context.Context, from queue.Name, job crawl.JobUID) (time.Time, error) {
	query := nextOfAll
	if job != "" {
		query = nextOfJob
	}
	now := q.s.clock().UnixNano()
	due := int64(0)
	err := q.s.writer.read(ctx, func(c *sqlite.Conn) error {
		due = 0
		row := c.Stmt(query).Text(string(from)).Int(now)
		if job != "" {
			row.Text(string(job))
		}
		if row.Next() {
			due = row.ColInt(0)
		}
		return row.End()
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("next due on %s: %w", from, err)
	}
	return fromNano(due), nil
}
