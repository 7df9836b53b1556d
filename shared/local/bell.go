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

// When the first message of a job that is not held is due. One that was held
// for too long counts.
const nextOfJob = `SELECT due FROM messages WHERE queue = ? AND job = ? AND (holder = 0 OR due <= ?) ORDER BY due LIMIT 1`

// NextDue implements [queue.Bell].
func (q *Queue) NextDue(ctx context.Context, from queue.Name, job crawl.JobUID) (time.Time, error) {
	now := q.s.clock().UnixNano()
	first := int64(0)
	err := q.s.writer.read(ctx, func(c *sqlite.Conn) error {
		first = 0
		number, err := q.s.writer.numbers.find(c, string(from))
		if err != nil || number == 0 {
			return err
		}
		return q.jobs(c, number, job, func(job int64, _ crawl.JobUID) error {
			row := c.Stmt(nextOfJob).Int(number).Int(job).Int(now)
			if row.Next() {
				if due := row.ColInt(0); first == 0 || due < first {
					first = due
				}
			}
			return row.End()
		})
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("next due on %s: %w", from, err)
	}
	return fromNano(first), nil
}
