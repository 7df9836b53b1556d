package scheduler

import (
	"context"
	"fmt"
	"iter"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Failed reads the failed units of a job, in the order of their IDs.
func (s *Scheduler) Failed(ctx context.Context, job crawl.JobUID) iter.Seq2[frontier.Row, error] {
	return func(yield func(frontier.Row, error) bool) {
		for shard := range frontier.Shards {
			for row, err := range s.scanRows(ctx, job, shard) {
				if err == nil && row.State != frontier.Failed {
					continue
				}
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// Redrive admits a failed unit of a running job once more, as a child of
// itself, and reports whether it was not redriven before. The caller has
// raised the job's Rev, so that a look which began before finds it changed.
func (s *Scheduler) Redrive(ctx context.Context, job crawl.JobUID, row frontier.Row) (bool, error) {
	req, err := s.Unpack(ctx, job, row.Req)
	if err != nil {
		return false, fmt.Errorf("redrive unit %s: %w", row.Unit, err)
	}
	req.DontFilter = true
	a, err := s.Admit(ctx, job, []Child{{
		Parent: row.Unit, Unit: crawl.RepeatUnit(row.Unit, weburl.Fingerprint{}, 0), Request: req,
	}})
	return a.New == 1, err
}
