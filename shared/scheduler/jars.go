package scheduler

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/message"
)

const (
	// maxInlineJars is the longest text of cookies in bytes that travels in
	// its request or message; a longer one lies in a row of its own. A login
	// is shorter, and with it a request's row still is one write unit.
	maxInlineJars = 300
	// minApartJars is the shortest text that is put into a row of its own
	// where a request is too long: it is longer than the hash that stands in
	// for it.
	minApartJars = 80
	// recentJars is how many texts a process remembers: 512 of at most 8 KB.
	recentJars = 512
	// jarTurns is how many different texts are put or read at the same time.
	jarTurns = 16
)

// PackJars writes the cookies that a message carries beside its request, as they
// are after an answer: a long text as its hash, once it is kept.
func (s *Scheduler) PackJars(ctx context.Context, job crawl.JobUID, text string) (*message.Jars, error) {
	if len(text) <= maxInlineJars {
		return &message.Jars{Text: text}, nil
	}
	hash, err := s.keepJars(ctx, job, text)
	if err != nil {
		return nil, err
	}
	return &message.Jars{Hash: string(hash)}, nil
}

// UnpackJars reads the cookies of a message. The error wraps [jars.ErrNotFound]
// if nothing is kept under their hash.
func (s *Scheduler) UnpackJars(ctx context.Context, job crawl.JobUID, packed message.Jars) (string, error) {
	if packed.Hash == "" {
		return packed.Text, nil
	}
	return s.readJars(ctx, job, jars.Hash(packed.Hash))
}

// keepJars puts a text into its row, unless this process knows that it is there.
func (s *Scheduler) keepJars(ctx context.Context, job crawl.JobUID, text string) (jars.Hash, error) {
	hash := jars.HashOf(text)
	_, err := s.jars.once(ctx, jarKey{job, hash}, func() (string, error) {
		return text, s.Jars.Put(ctx, job, text)
	})
	if err != nil {
		return "", fmt.Errorf("keep the cookies of a request: %w", err)
	}
	return hash, nil
}

// readJars reads the text of a hash, unless this process remembers it.
func (s *Scheduler) readJars(ctx context.Context, job crawl.JobUID, hash jars.Hash) (string, error) {
	text, err := s.jars.once(ctx, jarKey{job, hash}, func() (string, error) {
		return s.Jars.Get(ctx, job, hash)
	})
	if err != nil {
		return "", fmt.Errorf("read the cookies of a request: %w", err)
	}
	return text, nil
}

// knownJars remembers texts that are known to be kept: what was put, and what was
// read. The links of a page inherit its cookies, so a page costs one put at
// most, and a batch one read; to forget one costs a put or a read and no more.
type knownJars struct {
	texts *lru.Cache[jarKey, string]
	turns [jarTurns]chan struct{}
}

// A jarKey has the job: what one job has kept is not there for another.
type jarKey struct {
	job  crawl.JobUID
	hash jars.Hash
}

func newKnownJars() *knownJars {
	// New fails only on a size that is not positive.
	texts, _ := lru.New[jarKey, string](recentJars)
	k := &knownJars{texts: texts}
	for i := range k.turns {
		k.turns[i] = make(chan struct{}, 1)
	}
	return k
}

// once returns what is remembered of a key, else what do says, which is then
// remembered. Of several callers one does it, and the others wait.
func (k *knownJars) once(ctx context.Context, key jarKey, do func() (string, error)) (string, error) {
	if text, ok := k.texts.Get(key); ok {
		return text, nil
	}
	turn := k.turns[turnOf(key.hash)]
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-turn }()
	if text, ok := k.texts.Get(key); ok {
		return text, nil
	}
	text, err := do()
	if err == nil {
		k.texts.Add(key, text)
	}
	return text, err
}

func turnOf(hash jars.Hash) int {
	if hash == "" {
		return 0
	}
	return int(hash[0]) % jarTurns
}
