package feeds

import (
	"context"
	"io"
	"iter"

	"github.com/skitterhq/skitter/shared/crawl"
)

// DeliverWith is Deliver with the hooks of a delivery.
func DeliverWith(ctx context.Context, feed crawl.Feed, uid crawl.JobUID, o Options, items iter.Seq2[crawl.Item, error],
	step func(string), through func(io.Writer) io.Writer,
) (int, error) {
	d := delivery{ctx: ctx, feed: feed, uid: uid, options: o, items: items, step: step, through: through}
	return d.deliver()
}
