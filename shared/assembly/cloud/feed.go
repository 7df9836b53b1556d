package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/feeds"
)

const s3Scheme = "s3://"

// ownFeed is where a job's items go that names no feed itself.
func (c *Cloud) ownFeed(job crawl.Job) crawl.Feed {
	name := plain(job.Name)
	if name != job.Name {
		name += "-" + string(job.UID) // another name may look the same
	}
	return crawl.Feed{
		URI:    fmt.Sprintf("%s%s/feeds/%s/%s/%s.%s", s3Scheme, c.Stack.BucketName(), plain(job.Project), plain(job.Spider), name, feeds.JSONLines),
		Format: feeds.JSONLines, Overwrite: true,
	}
}

// plain is a name with nothing in it that a key may not have.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}

// bucketKey is the object that a feed is to be.
func bucketKey(feed crawl.Feed) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(feed.URI, s3Scheme)
	if !ok {
		return "", "", fmt.Errorf("feed %s: a function writes to S3 alone; give an address like s3://BUCKET/items.jsonl", feed.URI)
	}
	bucket, key, _ = strings.Cut(rest, "/")
	if bucket == "" || key == "" {
		return "", "", fmt.Errorf("feed %s: want s3://BUCKET/KEY", feed.URI)
	}
	if err := blob.CheckKey(key); err != nil {
		return "", "", fmt.Errorf("feed %s: %w", feed.URI, err)
	}
	if !feed.Overwrite {
		return "", "", fmt.Errorf("feed %s: an object cannot be appended to; ask to overwrite it", feed.URI)
	}
	return bucket, key, nil
}

// deliver is an [engine.Deliver] that writes one object, which is there whole or
// not at all.
func (c *Cloud) deliver(ctx context.Context, rt *engine.Runtime, _ crawl.Job, feed crawl.Feed, output iter.Seq2[crawl.Item, error]) (int, error) {
	bucket, key, err := bucketKey(feed)
	if err != nil {
		return 0, err
	}
	type written struct {
		items int
		err   error
	}
	done := make(chan written, 1)
	r, w := io.Pipe()
	go func() {
		n, err := feeds.Write(ctx, w, feed, feeds.Options{
			Fields: rt.Settings.FeedExportFields, Indent: rt.Settings.FeedExportIndent, Log: rt.Log, Stats: rt.Stats,
		}, output)
		w.CloseWithError(err) // nil ends the object
		done <- written{n, err}
	}()
	err = c.Store.Bucket(bucket).PutReader(ctx, key, r)
	r.CloseWithError(errUnread)
	wrote := <-done
	if wrote.err != nil && !errors.Is(wrote.err, errUnread) {
		return 0, wrote.err
	}
	return wrote.items, err
}

// errUnread is what a feed's writer gets once nobody reads it any more, because
// the object could not be written.
var errUnread = errors.New("the object is not written")
