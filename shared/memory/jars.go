package memory

import (
	"context"
	"fmt"
	"sync"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jars"
)

// Jars keeps the cookies that do not travel in their requests.
type Jars struct {
	mu    sync.Mutex
	texts map[crawl.JobUID]map[jars.Hash]string
}

// NewJars returns a store without cookies.
func NewJars() *Jars { return &Jars{texts: map[crawl.JobUID]map[jars.Hash]string{}} }

var _ jars.Store = (*Jars)(nil)

// Put implements [jars.Store].
func (s *Jars) Put(ctx context.Context, job crawl.JobUID, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts[job] == nil {
		s.texts[job] = map[jars.Hash]string{}
	}
	s.texts[job][jars.HashOf(text)] = text
	return nil
}

// Get implements [jars.Store].
func (s *Jars) Get(ctx context.Context, job crawl.JobUID, hash jars.Hash) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.texts[job][hash]
	if !ok {
		return "", fmt.Errorf("read cookies %.50s of job %s: %w", hash, job, jars.ErrNotFound)
	}
	return text, nil
}
