package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/queue"
)

// Pipeline takes a batch of item messages: each item takes the job's pipeline,
// and rests in its row. It returns the IDs of the messages that are to be
// delivered again.
func (e *Engine) Pipeline(ctx context.Context, from queue.Name, batch []queue.Delivery) []string {
	return e.perJob(ctx, from, batch, message.KindItem, e.keep)
}

func (e *Engine) keep(ctx context.Context, r *run, msgs []incoming) error {
	defer e.account(ctx, r, jobs.Pipeline)
	if err := r.openPipeline(ctx); err != nil {
		return err
	}
	rows := make([]items.Row, 0, len(msgs))
	seen := make(map[items.Key]bool, len(msgs))
	for k, m := range msgs {
		if e.outOfTime(ctx) {
			if err := e.sendBack(ctx, r, queue.Item, msgs[k:]); err != nil {
				return err
			}
			break
		}
		var msg message.Item
		if err := message.Decode(m.payload, &msg); err != nil {
			return err
		}
		key := items.Key{Unit: m.header.Unit, Run: m.header.Run, Ordinal: m.header.Ordinal}
		if seen[key] {
			continue
		}
		seen[key] = true
		row, err := e.process(ctx, r, key, msg.Item)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if err := e.Items.Put(ctx, r.job.UID, rows); err != nil {
		return fmt.Errorf("keep %d items: %w", len(rows), err)
	}
	for _, row := range rows {
		r.countItem(row)
		if e.Observer.Kept != nil {
			e.Observer.Kept(r.job.UID, row)
		}
	}
	return nil
}

// process takes one item through the pipeline. Only the end of the invocation
// is an error; whatever else a step says is the item's fate.
func (e *Engine) process(ctx context.Context, r *run, key items.Key, item crawl.Item) (items.Row, error) {
	row := items.Row{Key: key, State: items.Stored, Item: item}
	kept, err := guardItem(func() (crawl.Item, error) {
		return r.Pipeline.Process(ctx, pipeline.Key{
			Job: r.job.UID, Unit: key.Unit, Run: key.Run, Ordinal: key.Ordinal,
		}, item)
	})
	var drop *crawl.Drop
	switch {
	case err == nil:
		row.Item = kept
	case errors.As(err, &drop):
		row.State, row.Why = items.Dropped, drop.Reason
		r.Log.Warn("item dropped", "unit", key.Unit, "reason", drop.Reason)
	case ctx.Err() != nil:
		return row, err
	default:
		row.State, row.Why = items.Dead, err.Error()
		r.Log.Error("item not processed", "unit", key.Unit, "err", err)
	}
	return row, nil
}

func (r *run) countItem(row items.Row) {
	r.Stats.Inc(countKept)
	switch row.State {
	case items.Stored:
		r.Stats.Inc("item_scraped_count")
	case items.Dropped:
		r.Stats.Inc("item_dropped_count")
		r.Stats.Inc("item_dropped_reasons_count/" + row.Why)
	case items.Dead:
		r.Stats.Inc("item_error_count")
	}
}

// guardItem turns a panic of a step into an error of its item.
func guardItem(f func() (crawl.Item, error)) (item crawl.Item, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return f()
}
