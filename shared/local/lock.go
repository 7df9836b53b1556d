package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// A lock is the locked file that says that a process lives.
type lock struct {
	mu   sync.Mutex
	path string
	held *flock.Flock // nil before it is taken, and after it is let go
}

// take takes the lock of a path; it reports false if another process has it.
func (l *lock) take(path string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := flock.New(path)
	locked, err := held.TryLock()
	if err != nil || !locked {
		return false, err
	}
	l.path, l.held = path, held
	return true, nil
}

// keep puts the file in its place again if somebody has removed it: without
// it, only the process ID says that this process lives.
func (l *lock) keep() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return nil
	}
	mine, err := l.held.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(l.path)
	if err == nil && os.SameFile(mine, there) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o755); err != nil {
		return err
	}
	// It comes to its place locked, so that nobody finds it free. Its name
	// until then is of this process alone.
	fresh := flock.New(l.path + ".new")
	locked, err := fresh.TryLock()
	if err == nil && !locked {
		err = fmt.Errorf("%s is locked", fresh.Path())
	}
	if err == nil {
		err = os.Rename(fresh.Path(), l.path)
	}
	if err != nil {
		return errors.Join(err, fresh.Close())
	}
	old := l.held
	l.held = fresh
	return old.Close()
}

// release lets the lock go and removes the file.
func (l *lock) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return nil
	}
	err := l.held.Close()
	l.held = nil
	_ = os.Remove(l.path) // an empty file that nobody asks for
	return err
}

// tryGone takes the lock of a process that is not this one. It returns nil if
// the process has it, or is there without it.
//
// It never makes the file: a file that is missing was removed by somebody (or
// by the one who freed the process before), and then the process ID decides.
func tryGone(path string, pid, started int64) (*flock.Flock, error) {
	other := flock.New(path, flock.SetFlag(os.O_RDWR))
	locked, err := other.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if lives(pid, started) {
			return nil, nil
		}
		return other, nil
	case err != nil || !locked:
		return nil, errors.Join(err, other.Close())
	default:
		return other, nil
	}
}
