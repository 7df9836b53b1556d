package scheduler

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jars"
)

const (
	// maxInlineJars is the longest text of cookies in bytes that lies in its
	// request's row; a longer one lies in a row of its own. A login is
	// shorter, and with it a request's row still is one write unit.
	maxInlineJars = 300
	// minApartJars is the shortest text that is put into a row of its own
	// where a request is too long: it is longer than the hash that stands in
	// for it.
	minApartJars = 80
	// recentJars is how many texts a process remembers: 512 of at most 8 KB.
	recentJars = 512
)

// keepJars puts a text into its row, unless this process knows that it is there.
func (s *Scheduler) keepJars(ctx context.Context, job crawl.JobUID, text string) (jars.Hash, error) {
	hash := jars.HashOf(text)
	if s.jars.Contains(jarKey{job, hash}) {
		return hash, nil
	}
	if err := s.Jars.Put(ctx, job, text); err != nil {
		return "", fmt.Errorf("keep the cookies of a request: %w", err)
	}
	s.jars.Add(jarKey{job, hash}, text)
	return hash, nil
}

// readJars reads the text of a hash, unless this process remembers it.
func (s *Scheduler) readJars(ctx context.Context, job crawl.JobUID, hash jars.Hash) (string, error) {
	if text, ok := s.jars.Get(jarKey{job, hash}); ok {
		return text, nil
	}
	text, err := s.Jars.Get(ctx, job, hash)
	if err != nil {
		return "", fmt.Errorf("read the cookies of a request: %w", err)
	}
	s.jars.Add(jarKey{job, hash}, text)
	return text, nil
}

// knownJars remembers texts that are known to be kept: what was put, and what was
// read. The links of a page inherit its cookies, so a page costs one put at
// most, and a batch one read; to forget one costs a put or a read and no more.
type knownJars = lru.Cache[jarKey, string]

// A jarKey has the job: what one job has kept is not there for another.
type jarKey struct {
	job  crawl.JobUID
	hash jars.Hash
}

func newKnownJars() *knownJars {
	// New fails only on a size that is not positive.
	texts, _ := lru.New[jarKey, string](recentJars)
	return texts
}
