package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/feeds"
)

// A Redelivered is a feed that was written again.
type Redelivered struct {
	Feed  crawl.Feed
	Items int
}

// Redeliver writes the feeds of a job that has ended, out of the items that are
// kept: those whose file is not there, and all if the job says that something
// went wrong at its end. A file that is there and was written then is left
// alone, whatever has become of it since.
func (m *Machine) Redeliver(ctx context.Context, job crawl.Job) ([]Redelivered, error) {
	if !job.State.Ended() {
		return nil, fmt.Errorf("job %s has not ended; it writes its feeds itself", job.Name)
	}
	unlock, err := m.Store.LockJob(job.UID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	rt, err := m.Runtime(ctx, job)
	if err != nil {
		return nil, err
	}
	var done []Redelivered
	for _, feed := range rt.Spec.Feeds {
		if _, err := os.Stat(feed.URI); job.Problem == "" && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		n, err := feeds.Restore(ctx, feed, job.UID, feeds.Options{
			Fields: rt.Settings.FeedExportFields, Indent: rt.Settings.FeedExportIndent, Log: rt.Log,
		}, m.Output(ctx, job.UID))
		if err != nil {
			return done, fmt.Errorf("feed %s not written: %w", feed.URI, err)
		}
		done = append(done, Redelivered{feed, n})
	}
	return done, nil
}
