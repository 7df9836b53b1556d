package machine

import (
	"context"
	"iter"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/feeds"
)

// deliverFile is an [engine.Deliver] that writes files of this machine.
func deliverFile(ctx context.Context, rt *engine.Runtime, job crawl.Job, feed crawl.Feed, output iter.Seq2[crawl.Item, error]) (int, error) {
	return feeds.Deliver(ctx, feed, job.UID, feedOptions(rt), output)
}

// feedOptions are those of a job's settings.
func feedOptions(rt *engine.Runtime) feeds.Options {
	return feeds.Options{
		Fields: rt.Settings.FeedExportFields, Indent: rt.Settings.FeedExportIndent, Log: rt.Log, Stats: rt.Stats,
	}
}
