package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skitterhq/skitter/shared/blob"
)

// Blobs keeps bytes in files. A file is written beside the others, synced and
// then renamed, so that a blob is whole or not there, also after a power cut.
// (A power cut may forget the newest blobs, as it may the newest commits: the
// folder is not synced.)
type Blobs struct{ s *Store }

// Blobs returns the store of blobs.
func (s *Store) Blobs() *Blobs { return &Blobs{s} }

var _ blob.Store = (*Blobs)(nil)

// temporaryFolder holds files that are being written, and folders that are
// being deleted. Their names begin with the number of the process that does it.
func (s *Store) temporaryFolder() string { return filepath.Join(s.blobFolder(), "~tmp") }

// removeTemporary removes what a process that is gone was writing or deleting.
func (s *Store) removeTemporary(process int64) {
	// What cannot be removed only takes room.
	files, _ := filepath.Glob(filepath.Join(s.temporaryFolder(), fmt.Sprintf("%d-*", process)))
	for _, file := range files {
		_ = os.RemoveAll(file)
	}
}

func (s *Blobs) path(key string) string { return filepath.Join(s.s.blobFolder(), blobPath(key)) }

// check says why a call for a key is not to be done, if it is not.
func (s *Blobs) check(ctx context.Context, key string) error {
	if err := blob.CheckKey(key); err != nil {
		return err
	}
	return s.open(ctx)
}

// open says why no call is to be done, if none is.
func (s *Blobs) open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.s.file.err()
}

// explain makes an error that no further try can mend an [ErrUnusable].
func (s *Blobs) explain(err error) error { return explainFile(s.s.blobFolder(), err) }

// Put implements [blob.Store].
func (s *Blobs) Put(ctx context.Context, key string, data []byte) error {
	return s.write(ctx, key, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// PutReader implements [blob.Store].
func (s *Blobs) PutReader(ctx context.Context, key string, r io.Reader) error {
	return s.write(ctx, key, func(f *os.File) error {
		_, err := io.Copy(f, r)
		return err
	})
}

func (s *Blobs) write(ctx context.Context, key string, fill func(f *os.File) error) error {
	if err := s.check(ctx, key); err != nil {
		return err
	}
	temporary, err := s.writeTemporary(fill)
	if err != nil {
		return fmt.Errorf("put blob %s: %w", key, s.explain(err))
	}
	if err := moveTo(temporary, s.path(key)); err != nil {
		_ = os.Remove(temporary) // the first error says more
		return fmt.Errorf("put blob %s: %w", key, s.explain(err))
	}
	return nil
}

// writeTemporary writes a file whole and returns its path.
func (s *Blobs) writeTemporary(fill func(f *os.File) error) (string, error) {
	f, err := os.CreateTemp(s.s.temporaryFolder(), fmt.Sprintf("%d-*", s.s.self))
	if err != nil {
		return "", err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error says more
		return "", err
	}
	return f.Name(), nil
}

// moveTo gives a file its place, making the folder if there is none. A Delete
// may take the folder away again before the file is in it.
func moveTo(temporary, path string) error {
	const tries = 100
	for try := 1; ; try++ {
		err := os.Rename(temporary, path)
		if try == tries || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// Get implements [blob.Store].
func (s *Blobs) Get(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if err := s.check(ctx, key); err != nil {
		return nil, err
	}
	data, err := s.read(key, offset, length)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", blob.ErrNotFound, key)
	}
	if err != nil {
		return nil, fmt.Errorf("get blob %s: %w", key, s.explain(err))
	}
	return data, nil
}

func (s *Blobs) read(key string, offset, length int64) ([]byte, error) {
	f, err := os.Open(s.path(key))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, fmt.Errorf("offset %d is less than zero", offset)
	}
	there := max(info.Size()-offset, 0)
	if length < 0 || length > there {
		length = there
	}
	data := make([]byte, length)
	if _, err := f.ReadAt(data, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data, nil
}

// Delete implements [blob.Store].
func (s *Blobs) Delete(ctx context.Context, key string) error {
	if err := s.check(ctx, key); err != nil {
		return err
	}
	path := s.path(key)
	if err := os.Remove(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("delete blob %s: %w", key, s.explain(err))
	}
	s.removeEmpty(filepath.Dir(path))
	return nil
}

// removeEmpty removes a folder and those above it that are empty; the first
// that is not stays.
func (s *Blobs) removeEmpty(folder string) {
	for folder != s.s.blobFolder() && os.Remove(folder) == nil {
		folder = filepath.Dir(folder)
	}
}
