package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// A damagedError says in one line which file cannot be read and what to do.
type damagedError struct {
	path string
	err  error
}

func (e *damagedError) Error() string {
	return fmt.Sprintf("%s is damaged or no database (%v); move it away to start anew, or choose another folder with --data", e.path, e.err)
}

func (e *damagedError) Unwrap() error { return e.err }

// explain makes an error that says that the database cannot be read a
// damagedError, and leaves others as they are.
func explain(path string, err error) error {
	var told *damagedError
	if !sqlite.Unreadable(err) || errors.As(err, &told) {
		return err
	}
	return &damagedError{path, err}
}

// explainOpen says in one line why a database cannot be opened.
func explainOpen(path string, err error) error {
	var told *damagedError
	err = explain(path, err)
	switch {
	case errors.As(err, &told):
		return told
	case errors.Is(err, errNewer):
		return fmt.Errorf("%s %w; use that version, or another folder with --data", path, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("open %s: another program has had it locked for %s: %w", path, openPatience, err)
	default:
		return fmt.Errorf("open %s: %w", path, err)
	}
}
