package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// A process enters itself in the table processes, gets a number that was never
// used before, and holds the lock of a file of that number for as long as it
// lives; the system lets the lock go when the process is gone, also by kill
// -9. So whoever can take the lock of a number knows that its process is gone.
// A process looks after its file, and while the file is missing its process ID
// speaks for it: see lock.go. Two Stores of one process are two processes in
// this sense.

// reapEvery is how often a process looks whether others are gone, by its own
// clock, when it asks for work.
const reapEvery = time.Second

// A reaper remembers when its process looked last.
type reaper struct {
	mu   sync.Mutex
	last time.Time
}

func (s *Store) lockPath(process int64) string {
	return filepath.Join(s.lockFolder(), fmt.Sprintf("process-%d.lock", process))
}

// enter gives this process its number. The row is committed when the lock is
// held, so nobody finds the one without the other.
func (s *Store) enter(ctx context.Context) error {
	pid := int64(os.Getpid())
	started, _ := startTime(pid) // 0 for "not known"
	return s.writer.do(ctx, func(c *sqlite.Conn) error {
		for {
			if err := c.Stmt(`INSERT INTO processes (pid, started) VALUES (?, ?)`).Int(pid).Int(started).Run(); err != nil {
				return err
			}
			s.self = c.LastID()
			locked, err := s.lock.take(s.lockPath(s.self))
			if err != nil {
				return fmt.Errorf("lock %s: %w", s.lockPath(s.self), err)
			}
			// Somebody has the lock of a new number only if the database was
			// taken away under a process that lives; its number stays its own.
			if locked {
				return nil
			}
		}
	})
}

// free makes due what a process holds, and forgets the process, with which its
// leases end.
func (s *Store) free(c *sqlite.Conn, process int64) error {
	now := s.clock().UnixNano()
	return errors.Join(
		c.Stmt(`UPDATE messages SET due = min(due, ?), holder = 0 WHERE holder = ?`).Int(now).Int(process).Run(),
		c.Stmt(`DELETE FROM driven WHERE process = ?`).Int(process).Run(),
		c.Stmt(`DELETE FROM processes WHERE n = ?`).Int(process).Run(),
	)
}

// reapSometimes looks after the files of this process and of others, but not
// more often than every reapEvery.
func (s *Store) reapSometimes(ctx context.Context) error {
	now := s.clock()
	s.reap.mu.Lock()
	since := now.Sub(s.reap.last)
	due := since >= reapEvery || since < 0
	if due {
		s.reap.last = now
	}
	s.reap.mu.Unlock()
	if !due {
		return nil
	}
	if err := s.file.look(); err != nil {
		return err
	}
	if err := s.lock.keep(); err != nil {
		return fmt.Errorf("keep the lock of this process: %w", explainFile(s.lockFolder(), err))
	}
	return s.reapDead(ctx)
}

// An other is another process.
type other struct{ n, pid, started int64 }

// reapDead frees what processes that are gone were holding.
func (s *Store) reapDead(ctx context.Context) error {
	var others []other
	err := s.readers.do(ctx, func(c *sqlite.Conn) error {
		others = others[:0]
		q := c.Stmt(`SELECT n, pid, started FROM processes WHERE n <> ?`).Int(s.self)
		for q.Next() {
			others = append(others, other{q.ColInt(0), q.ColInt(1), q.ColInt(2)})
		}
		return q.End()
	})
	if err != nil {
		return err
	}
	for _, o := range others {
		if err := s.reapIfDead(ctx, o); err != nil {
			return fmt.Errorf("free what process %d held: %w", o.n, err)
		}
	}
	return nil
}

func (s *Store) reapIfDead(ctx context.Context, o other) error {
	lock, err := tryGone(s.lockPath(o.n), o.pid, o.started)
	if err != nil || lock == nil {
		return err
	}
	err = s.writer.do(ctx, func(c *sqlite.Conn) error { return s.free(c, o.n) })
	_ = lock.Close()
	if err != nil {
		return err
	}
	// Nobody asks for this lock again. Another process that reaps the same one
	// does it all a second time, which changes nothing.
	_ = os.Remove(lock.Path())
	s.removeTemporary(o.n)
	s.bell.ringAll()
	return nil
}

// ErrJobLocked is returned where another process drives a job.
var ErrJobLocked = errors.New("the job is driven by another process")

// LockJob makes this process, and this caller in it, the only one that drives
// a job, until unlock is called or the process is gone. Where another one
// drives it, the error is an [ErrJobLocked] that names the other's process ID.
func (s *Store) LockJob(uid crawl.JobUID) (unlock func(), err error) {
	ctx := context.Background()
	if err := s.reapDead(ctx); err != nil {
		return nil, fmt.Errorf("lock job %s: %w", uid, err)
	}
	var pid int64
	err = s.writer.do(ctx, func(c *sqlite.Conn) error {
		pid = 0
		q := c.Stmt(`SELECT p.pid FROM driven d JOIN processes p ON p.n = d.process WHERE d.job = ?`).Text(string(uid))
		if q.Next() {
			pid = q.ColInt(0)
		}
		if err := q.End(); err != nil || pid != 0 {
			return err
		}
		return c.Stmt(`INSERT OR REPLACE INTO driven (job, process) VALUES (?, ?)`).Text(string(uid)).Int(s.self).Run()
	})
	if err != nil {
		return nil, fmt.Errorf("lock job %s: %w", uid, err)
	}
	if pid != 0 {
		return nil, fmt.Errorf("job %s: %w (process ID %d)", uid, ErrJobLocked, pid)
	}
	unlock = sync.OnceFunc(func() {
		// After Close, or where this fails, the end of the process unlocks.
		_ = s.writer.do(ctx, func(c *sqlite.Conn) error {
			return c.Stmt(`DELETE FROM driven WHERE job = ? AND process = ?`).Text(string(uid)).Int(s.self).Run()
		})
	})
	return unlock, nil
}
