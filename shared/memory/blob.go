package memory

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/skitterhq/skitter/shared/blob"
)

// Blobs keeps bytes.
type Blobs struct {
	mu   sync.Mutex
	data map[string][]byte
}

// NewBlobs returns an empty store.
func NewBlobs() *Blobs { return &Blobs{data: map[string][]byte{}} }

// Put implements [blob.Store].
func (s *Blobs) Put(ctx context.Context, key string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := blob.CheckKey(key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[key] = clone(data)
	return nil
}

// PutReader implements [blob.Store]. Here the bytes are held in memory.
func (s *Blobs) PutReader(ctx context.Context, key string, r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("put blob %s: %w", key, err)
	}
	return s.Put(ctx, key, data)
}

// Get implements [blob.Store].
func (s *Blobs) Get(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := blob.CheckKey(key); err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, fmt.Errorf("get blob %s: offset %d is less than zero", key, offset)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.data[key]
	if !ok {
		return nil, fmt.Errorf("%w: %s", blob.ErrNotFound, key)
	}
	data = data[min(offset, int64(len(data))):]
	if length >= 0 {
		data = data[:min(length, int64(len(data)))]
	}
	return clone(data), nil
}

// Delete implements [blob.Store].
func (s *Blobs) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := blob.CheckKey(key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.data, key)
	return nil
}

// DeletePrefix implements [blob.Store].
func (s *Blobs) DeletePrefix(ctx context.Context, prefix string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.data, func(key string, _ []byte) bool { return strings.HasPrefix(key, prefix) })
	return nil
}

// List implements [blob.Store].
func (s *Blobs) List(ctx context.Context, prefix, after string, limit int) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := slices.Collect(maps.Keys(s.data))
	keys = slices.DeleteFunc(keys, func(key string) bool { return !strings.HasPrefix(key, prefix) || key <= after })
	slices.Sort(keys)
	if limit > 0 && len(keys) > limit {
		keys = keys[:limit]
	}
	return keys, nil
}
