package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/blob"
)

// folderOf is the deepest folder below which all keys with a prefix lie, and
// what the keys in it begin with. It reports false where no key can begin so.
func (s *Blobs) folderOf(prefix string) (folder, start string, ok bool) {
	slash := strings.LastIndexByte(prefix, '/')
	if slash < 0 {
		return s.s.blobFolder(), "", true
	}
	// What is no key has no folder, and could name one outside of ours.
	if blob.CheckKey(prefix[:slash]) != nil {
		return "", "", false
	}
	return filepath.Join(s.s.blobFolder(), folderPath(prefix[:slash])), prefix[:slash+1], true
}

// DeletePrefix implements [blob.Store]. A folder all of whose keys go is moved
// out of the way whole, and only then emptied; should this process end before
// it is, it is emptied with what else a process that is gone has left.
func (s *Blobs) DeletePrefix(ctx context.Context, prefix string) error {
	folder, start, ok := s.folderOf(prefix)
	if err := s.open(ctx); err != nil || !ok {
		return err
	}
	if err := s.sweep(ctx, folder, start, prefix); err != nil {
		return fmt.Errorf("delete blobs %s: %w", prefix, s.explain(err))
	}
	if start != "" {
		s.removeEmpty(folder)
		s.removeEmpty(filepath.Dir(folder)) // of one that was moved
	}
	return nil
}

// sweep forgets the keys with a prefix in a folder, all of which begin with
// start.
func (s *Blobs) sweep(ctx context.Context, folder, start, prefix string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if start != "" && strings.HasPrefix(start, prefix) {
		return s.moveAway(folder)
	}
	entries, err := readFolder(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		part, ok := decodeName(entry.Name(), entry.IsDir())
		key, path := start+part, filepath.Join(folder, entry.Name())
		switch {
		case !ok:
		case entry.IsDir():
			if strings.HasPrefix(key, prefix) || strings.HasPrefix(prefix, key) {
				err = s.sweep(ctx, path, key, prefix)
			}
		case strings.HasPrefix(key, prefix):
			err = ignoreMissing(os.Remove(path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// moveAway deletes a folder, which nobody finds any more from the start on.
func (s *Blobs) moveAway(folder string) error {
	if _, err := os.Lstat(folder); err != nil {
		return ignoreMissing(err)
	}
	away, err := os.MkdirTemp(s.s.temporaryFolder(), fmt.Sprintf("%d-*", s.s.self))
	if err != nil {
		return err
	}
	err = ignoreMissing(os.Rename(folder, filepath.Join(away, "deleted")))
	return errors.Join(err, os.RemoveAll(away))
}

// readFolder lists a folder; one that is not there, any more, is empty.
func readFolder(folder string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(folder)
	return entries, ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List implements [blob.Store]. It reads the names of all blobs in the folders
// where keys of the prefix may lie, also for a small limit.
func (s *Blobs) List(ctx context.Context, prefix, after string, limit int) ([]string, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	l := lister{ctx: ctx, prefix: prefix, after: after}
	if folder, start, ok := s.folderOf(prefix); ok {
		if err := l.walk(folder, start); err != nil {
			return nil, fmt.Errorf("list blobs %s: %w", prefix, s.explain(err))
		}
	}
	slices.Sort(l.keys)
	if limit > 0 && len(l.keys) > limit {
		l.keys = l.keys[:limit]
	}
	return l.keys, nil
}

// A lister collects the keys of one List.
type lister struct {
	ctx           context.Context
	prefix, after string
	keys          []string
}

// walk collects the keys in a folder, all of which begin with start.
func (l *lister) walk(folder, start string) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	entries, err := readFolder(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		part, ok := decodeName(entry.Name(), entry.IsDir())
		if !ok {
			continue
		}
		key := start + part
		switch {
		case !entry.IsDir():
			if key > l.after && strings.HasPrefix(key, l.prefix) {
				l.keys = append(l.keys, key)
			}
		case l.mayHold(key):
			if err := l.walk(filepath.Join(folder, entry.Name()), key); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayHold reports whether a key that begins with start may be asked for.
func (l *lister) mayHold(start string) bool {
	matches := strings.HasPrefix(start, l.prefix) || strings.HasPrefix(l.prefix, start)
	return matches && (start > l.after || strings.HasPrefix(l.after, start))
}
