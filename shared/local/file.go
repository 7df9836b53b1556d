package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
)

// ErrGone is what every call wraps, beside [ErrUnusable], once the database was
// deleted or replaced while it was in use. The system keeps such a file for as
// long as it is open, so without a look at its name one would go on writing
// into what nobody will ever read.
var ErrGone = errors.New("it was deleted or replaced while this program was using it")

// A file is the database's, as this process opened it.
type file struct {
	path   string
	opened fs.FileInfo
	gone   atomic.Bool
}

// found notes which file the connections have open.
func (f *file) found() (err error) {
	f.opened, err = os.Stat(f.path)
	return err
}

// look looks whether the file is still there.
func (f *file) look() error {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, f.opened) {
		f.gone.Store(true)
	}
	return f.err()
}

// err is what calls return once the file is known to be gone, else nil.
func (f *file) err() error {
	if !f.gone.Load() {
		return nil
	}
	return fmt.Errorf("%w: the database %s is gone: %w; what was not yet exported is lost, start the crawl again", ErrUnusable, f.path, ErrGone)
}
