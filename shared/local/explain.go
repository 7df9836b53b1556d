package local

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// ErrUnusable is what every error wraps that says that the data folder cannot
// be used as it is: its disk is full, read-only or broken, or its files are
// damaged or gone. No further try will do better, so who gets it should stop
// and tell the user; the error's text is one line that says what to do.
//
// What was acknowledged before is kept, unless the files themselves are
// damaged or gone.
var ErrUnusable = errors.New("the data folder cannot be used")

// An unusableError is one line: which file, what is wrong with it, what to do.
type unusableError struct {
	path, what, todo string
	err              error
}

func (e *unusableError) Error() string {
	return fmt.Sprintf("%s %s (%v); %s", e.path, e.what, e.err, e.todo)
}

func (e *unusableError) Unwrap() []error { return []error{ErrUnusable, e.err} }

const (
	makeRoom   = "make room on its disk and start again: nothing that was done before is lost"
	makeWrite  = "make it and its folder writable, or choose another folder with --data"
	checkDisk  = "check its disk, or choose another folder with --data"
	startAnew  = "move it away to start anew, or choose another folder with --data"
	isFull     = "cannot grow, its disk is full"
	isReadOnly = "cannot be written"
	isBroken   = "cannot be opened, read or written"
	isDamaged  = "is damaged or no database"
)

// explain makes an error of SQLite's that no further try can mend an
// unusableError, and leaves others as they are.
func explain(path string, err error) error {
	switch {
	case err == nil || errors.Is(err, ErrUnusable):
		return err
	case sqlite.Full(err):
		return &unusableError{path, isFull, makeRoom, err}
	case sqlite.ReadOnly(err):
		return &unusableError{path, isReadOnly, makeWrite, err}
	case sqlite.Unreachable(err):
		return &unusableError{path, isBroken, checkDisk, err}
	case sqlite.Unreadable(err):
		return &unusableError{path, isDamaged, startAnew, err}
	default:
		return err
	}
}

// explainFile does the same for errors of the system.
func explainFile(path string, err error) error {
	switch {
	case err == nil || errors.Is(err, ErrUnusable):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &unusableError{path, isFull, makeRoom, err}
	case errors.Is(err, syscall.EROFS):
		return &unusableError{path, isReadOnly, makeWrite, err}
	case errors.Is(err, syscall.EIO):
		return &unusableError{path, isBroken, checkDisk, err}
	default:
		return err
	}
}

// explainOpen says in one line why a database cannot be opened.
func explainOpen(path string, err error) error {
	err = explain(path, err)
	switch {
	case errors.Is(err, ErrUnusable):
		return err
	case errors.Is(err, errNewer), errors.Is(err, errOlder):
		return fmt.Errorf("%s %w; use that version, or another folder with --data", path, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("open %s: another program has had it locked for %s: %w", path, openPatience, err)
	default:
		return fmt.Errorf("open %s: %w", path, err)
	}
}
