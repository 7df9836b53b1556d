// Package local serves every port on one machine: queues, frontier, items,
// jobs, slots, origins and dead letters from one SQLite file, blobs from a
// folder. Nothing that was acknowledged is lost by Ctrl-C or kill -9.
//
// Several processes may use one data folder at once. What a process holds
// (received messages, leases, jobs) carries its number and is free as soon as
// the process is gone, however it went: see process.go.
//
// Every transaction that may write begins IMMEDIATE, and none lasts over a
// network call or code of the caller's. Who finds the database busy waits and
// tries again until its context is done; busy is never an error. All writes of
// a process that come together share one transaction: see writer.go.
//
// What is in a message, a request or an item is its writer's business; this
// package only keeps it.
package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// Options change how a Store behaves. The zero value is good.
type Options struct {
	// Clock tells the time by which messages are due and leases end.
	//
	// Default: [time.Now].
	Clock func() time.Time

	// Visibility is for how long a received message is hidden while the
	// process that received it lives. It is for messages that a live process
	// has lost; those of a dead one do not wait for it.
	//
	// Default: [DefaultVisibility].
	Visibility time.Duration
}

// DefaultVisibility is longer than any work on one message takes: 15 minutes,
// the longest run of a function on AWS. Source: AWS Lambda Developer Guide,
// "Lambda quotas", function timeout.
const DefaultVisibility = 15 * time.Minute

// ErrClosed is returned by every call on a Store that was closed.
var ErrClosed = errors.New("the data folder is closed")

// A Store is one data folder as one process sees it.
type Store struct {
	dir        string
	clock      func() time.Time
	visibility time.Duration

	file    *file
	writer  *writer
	readers *readers
	bell    *bell
	queue   *Queue

	// self is this process's number, which its locked file makes its own.
	self int64
	lock lock
	reap reaper

	closing sync.Once
	closed  error
}

// Open opens a data folder, making it if it is not there.
func Open(dir string, opts Options) (*Store, error) {
	s := &Store{dir: dir, clock: opts.Clock, visibility: opts.Visibility, bell: newBell()}
	s.file = &file{path: s.dbPath()}
	s.queue = &Queue{s: s}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.visibility == 0 {
		s.visibility = DefaultVisibility
	}
	for _, folder := range []string{s.lockFolder(), s.temporaryFolder()} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, fmt.Errorf("make the data folder %s: %w; choose another with --data", dir, explainFile(dir, err))
		}
	}
	if err := s.start(); err != nil {
		return nil, explainOpen(s.dbPath(), err)
	}
	return s, nil
}

// start opens the connections, enters this process among the others, and
// frees what those that are gone were holding.
func (s *Store) start() error {
	ctx, cancel := context.WithTimeout(context.Background(), openPatience)
	defer cancel()
	conn, err := openConn(ctx, s.dbPath(), writerCacheKiB)
	if err != nil {
		return err
	}
	if err := migrate(ctx, conn); err != nil {
		_ = conn.Close()
		return err
	}
	if err := s.file.found(); err != nil {
		_ = conn.Close()
		return err
	}
	if s.readers, err = openReaders(ctx, s.file); err != nil {
		_ = conn.Close()
		return err
	}
	s.writer = &writer{file: s.file, conn: conn, numbers: newNumbers()}
	err = s.enter(ctx)
	if err == nil {
		err = s.reapDead(ctx)
	}
	if err != nil {
		_ = s.Close() // the first error says more
	}
	return err
}

// Close gives back what this process holds and closes the folder. Calls that
// are under way end first; later ones return [ErrClosed].
func (s *Store) Close() error {
	s.closing.Do(func() {
		err := s.file.look()
		if err == nil {
			err = s.readers.stop()
			err = errors.Join(err, s.writer.stop(func(c *sqlite.Conn) error { return s.free(c, s.self) }))
		}
		// Of a database that is gone nothing is to be saved, and calls that
		// are under way may use its connections yet: they stay open.
		//
		// Should the writer fail, the lock that is let go frees all the same.
		s.closed = errors.Join(err, s.lock.release())
	})
	return s.closed
}

func (s *Store) dbPath() string     { return filepath.Join(s.dir, "skitter.db") }
func (s *Store) lockFolder() string { return filepath.Join(s.dir, "locks") }
func (s *Store) blobFolder() string { return filepath.Join(s.dir, "blobs") }

// nano is a time as it is kept: nanoseconds since 1970, 0 for the zero time.
func nano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
