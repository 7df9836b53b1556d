package engine

import (
	"context"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A Progress is how far a job has come, by its counters: it is for people, and
// decides nothing.
type Progress struct {
	Pages, Items, Queued, Errors int64
}

// Progress reads how far a job has come.
func (e *Engine) Progress(ctx context.Context, uid crawl.JobUID) (Progress, error) {
	t, err := e.Jobs.Totals(ctx, uid)
	if err != nil {
		return Progress{}, fmt.Errorf("progress of job %s: %w", uid, err)
	}
	return Progress{
		Pages:  t["response_received_count"],
		Items:  t["item_scraped_count"],
		Queued: max(t[countAdmitted]-t[countSettled], 0), // counters may drift
		Errors: t["frontier/failed"],
	}, nil
}
