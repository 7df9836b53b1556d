package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/scheduler"
)

// close works off the steps of closing: feeds, the pipelines' close, stats, and
// the final state. Each can be repeated, so a close that was cut short anywhere
// is done again from the top.
func (e *Engine) close(ctx context.Context, v *view) error {
	job, err := e.Jobs.Get(ctx, v.job.UID)
	if err != nil || job.State != crawl.JobClosing {
		return err
	}
	v.job = job
	tally, problem, err := e.deliver(ctx, v)
	if err != nil {
		return err
	}
	if err := crawl.Guard(func() error { return v.Pipeline.Close(ctx, job) }); err != nil {
		e.logError(v.Log, "pipeline not closed", err)
	}
	job.Ended = e.Now().UTC()
	job.State, job.Problem = finalState(job.Reason), problem
	if problem != "" {
		job.State = crawl.JobFailed
	}
	if err := e.tellClosed(ctx, v, job, tally); err != nil {
		return err
	}
	if _, _, err := e.Jobs.Update(ctx, job); err != nil {
		return fmt.Errorf("end job %s: %w", job.Name, err)
	}
	// Bodies that were too long for their messages are read by nobody any
	// more. What stays after a crash here takes room and does no harm.
	if err := e.Blobs.DeletePrefix(ctx, pagesPrefix(job.UID)); err != nil {
		v.Log.Warn("pages not deleted", "err", err)
	}
	return nil
}

func pagesPrefix(uid crawl.JobUID) string { return fmt.Sprintf("pages/%s/", uid) }

// deliver writes the feeds. What cannot be written is the job's problem, not a
// fault of the message: trying it for ever would keep the job open. What cannot
// be read is a fault, and is tried again. The rows are summed up while a feed is
// written, since reading them all is dear.
func (e *Engine) deliver(ctx context.Context, v *view) (tally scheduler.Tally, problem string, fault error) {
	whole := false
	for _, feed := range v.Spec.Feeds {
		var unread error
		n, err := e.Deliver(ctx, v.Runtime, v.job, feed, itemsOf(e.Scheduler.OutputTally(ctx, v.job.UID, &tally, &whole), &unread))
		if unread != nil {
			return tally, "", fmt.Errorf("feed %s: %w", feed.URI, unread)
		}
		if err != nil {
			v.Stats.Inc("feedexport/failed_count")
			v.Log.Error("feed not written", "feed", feed.URI, "err", err)
			problem = fmt.Sprintf("feed %s not written: %v", feed.URI, err)
			continue
		}
		v.Stats.Inc("feedexport/success_count")
		v.Log.Info("feed written", "feed", feed.URI, "items", n)
	}
	if !whole {
		tally, fault = e.Scheduler.Tally(ctx, v.job.UID)
	}
	return tally, problem, fault
}

// Output gives the items that a job has delivered: of one that has not ended,
// those of the units that are settled.
func (e *Engine) Output(ctx context.Context, uid crawl.JobUID) iter.Seq2[crawl.Item, error] {
	var unread error
	return itemsOf(e.Scheduler.Output(ctx, uid), &unread)
}

// itemsOf gives the items of rows; an error of reading them is noted in unread.
func itemsOf(rows iter.Seq2[items.Row, error], unread *error) iter.Seq2[crawl.Item, error] {
	return func(yield func(crawl.Item, error) bool) {
		for row, err := range rows {
			*unread = err
			if !yield(row.Item, err) || err != nil {
				return
			}
		}
	}
}

func finalState(reason string) crawl.JobState {
	switch reason {
	case crawl.ReasonCancelled:
		return crawl.JobCancelled
	case crawl.ReasonStartError, crawl.ReasonDeadline, crawl.ReasonFailed:
		return crawl.JobFailed
	}
	return crawl.JobFinished
}

// Stats are a job's final stats, by Scrapy's keys; values are whole numbers,
// fractions or strings.
type Stats map[string]any

func statsKey(uid crawl.JobUID) string { return fmt.Sprintf("jobs/%s/stats.json", uid) }

// tellClosed tells the extensions that the job ends, and keeps its final stats.
func (e *Engine) tellClosed(ctx context.Context, v *view, job crawl.Job, t scheduler.Tally) error {
	totals, err := e.Jobs.Totals(ctx, job.UID)
	if err != nil {
		return fmt.Errorf("stats of job %s: %w", job.Name, err)
	}
	stats := finalStats(v, job, t, totals)
	if v.Extensions.HearsOfClose() {
		v.Extensions.SpiderClosed(ctx, job, stats)
		stats = finalStats(v, job, t, totals) // with what they counted
	}
	data, err := json.Marshal(stats)
	if err == nil {
		err = e.Blobs.Put(ctx, statsKey(job.UID), data)
	}
	if err != nil {
		return fmt.Errorf("stats of job %s: %w", job.Name, err)
	}
	return nil
}

// finalStats are a job's stats at its end. The counts that matter are the sum
// over the rows; the others are the counters, which may have drifted after a
// crash.
func finalStats(v *view, job crawl.Job, t scheduler.Tally, totals jobs.Counts) Stats {
	counts := maps.Clone(totals)
	if counts == nil {
		counts = make(jobs.Counts)
	}
	for key, n := range v.Stats.Snapshot() {
		counts[key] += n
	}
	stats := shown(counts, v.Settings.DepthStatsVerbose)
	stats["item_scraped_count"] = t.Stored
	if t.ItemsDropped > 0 {
		stats["item_dropped_count"] = t.ItemsDropped
	}
	stats["units/done"], stats["units/failed"], stats["units/dropped"] = t.Done, t.Failed, t.Dropped
	if t.Queued > 0 {
		stats["units/unfinished"] = t.Queued
	}
	stats["finish_reason"] = job.Reason
	stats["start_time"] = job.Created.Format(time.RFC3339Nano)
	stats["finish_time"] = job.Ended.Format(time.RFC3339Nano)
	elapsed := job.Ended.Sub(job.Created)
	stats["elapsed_time_seconds"] = elapsed.Seconds()
	if m := elapsed.Minutes(); m > 0 {
		stats["items_per_minute"] = float64(t.Stored) / m
		stats["responses_per_minute"] = float64(counts["response_received_count"]) / m
	}
	return stats
}

const depthKey = "request_depth_count/"

// shown turns counters into what people see: the inner ones go, and the
// greatest depth is what the counts by depth say.
func shown(counts map[string]int64, verbose bool) Stats {
	stats := make(Stats, len(counts))
	for key, n := range counts {
		if strings.HasPrefix(key, "frontier/") {
			continue
		}
		if depth, ok := strings.CutPrefix(key, depthKey); ok {
			d, err := strconv.Atoi(depth)
			if old, _ := stats["request_depth_max"].(int); err == nil && d >= old {
				stats["request_depth_max"] = d
			}
			if !verbose {
				continue
			}
		}
		stats[key] = n
	}
	return stats
}

// ReadStats returns the final stats of a job that has ended.
func (e *Engine) ReadStats(ctx context.Context, uid crawl.JobUID) (Stats, error) {
	data, err := e.Blobs.Get(ctx, statsKey(uid), 0, -1)
	if err != nil {
		return nil, fmt.Errorf("stats of job %s: %w", uid, err)
	}
	var stats Stats
	if err := json.Unmarshal(data, &stats); err != nil {
		return nil, fmt.Errorf("stats of job %s: %w", uid, err)
	}
	return stats, nil
}
