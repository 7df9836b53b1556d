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
	return e.runBatch(ctx, from, batch, message.KindItem, e.keep)
}

func (e *Engine) keep(ctx context.Context, v *view, msgs []incoming) error {
	defer e.account(ctx, v, jobs.Pipeline)
	if err := v.openPipeline(ctx); err != nil {
		if ctx.Err() != nil {
			return err
		}
		e.logError(v.Log, "pipeline not opened", err)
		return e.failTold(ctx, v, err.Error())
	}
	rows := make([]items.Row, 0, len(msgs))
	problems := make([]error, 0, len(msgs)) // why each row is dropped or dead
	seen := make(map[items.Key]bool, len(msgs))
	for k, m := range msgs {
		if e.outOfTime(ctx) {
			if err := e.sendBack(ctx, v, queue.Item, msgs[k:]); err != nil {
				return err
			}
			break
		}
		var msg message.Item
		if err := message.Decode(m.payload, &msg); err != nil {
			v.refuse(m, err)
			continue
		}
		key := items.Key{Unit: m.header.Unit, Run: m.header.Run, Ordinal: m.header.Ordinal}
		if seen[key] {
			continue
		}
		seen[key] = true
		row, problem, err := e.process(ctx, v, key, msg.Item)
		if err != nil {
			return err
		}
		rows, problems = append(rows, row), append(problems, problem)
	}
	if err := e.Items.Put(ctx, v.job.UID, rows); err != nil {
		return fmt.Errorf("keep %d items: %w", len(rows), err)
	}
	for _, row := range rows {
		v.countItem(row)
		if e.Observer.Kept != nil {
			e.Observer.Kept(v.job.UID, row)
		}
	}
	return e.tellItems(ctx, v, rows, problems)
}

// process takes one item through the pipeline. Only the end of the invocation
// is an error; whatever else a step says is the item's fate, and its problem.
func (e *Engine) process(ctx context.Context, v *view, key items.Key, item crawl.Item) (row items.Row, problem, fault error) {
	row = items.Row{Key: key, State: items.Stored, Item: item}
	var kept crawl.Item
	err := crawl.Guard(func() (err error) {
		kept, err = v.Pipeline.Process(ctx, pipeline.Key{
			Job: v.job.UID, Unit: key.Unit, Run: key.Run, Ordinal: key.Ordinal,
		}, item)
		if err == nil {
			_, err = kept.MarshalJSON() // what cannot be written is the item's fault, not the store's
		}
		return err
	})
	var drop *crawl.Drop
	switch {
	case err == nil:
		row.Item = kept
	case errors.As(err, &drop):
		row.State, row.Why = items.Dropped, drop.Reason
		v.Log.Warn("item dropped", "err", err, "item", cut(item))
	case ctx.Err() != nil:
		return row, nil, err
	default:
		row.State, row.Why = items.Dead, err.Error()
		e.logError(v.Log, "item not processed", err, "item", cut(item))
	}
	return row, err, nil
}

// cut is the beginning of an item, for the log.
func cut(item crawl.Item) string {
	const most = 200
	text, err := item.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

func (v *view) countItem(row items.Row) {
	v.Stats.Inc(countKept)
	switch row.State {
	case items.Stored:
		v.Stats.Inc("item_scraped_count")
	case items.Dropped:
		v.Stats.Inc("item_dropped_count")
		v.Stats.Inc("item_dropped_reasons_count/" + row.Why)
	case items.Dead:
		v.Stats.Inc("item_error_count")
	}
}
