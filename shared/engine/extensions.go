package engine

import (
	"context"
	"errors"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// heed stops the job for an extension, unless it is to stop already. Its error
// is a fault of the ports.
func (e *Engine) heed(ctx context.Context, v *view, closes *crawl.CloseSpider) error {
	if closes == nil || !v.job.Open() {
		return nil
	}
	if err := e.Stop(ctx, v.job.UID, stopReason(closes)); err != nil {
		return err
	}
	v.job.Stop = stopReason(closes)
	return nil
}

// tellItems tells of what became of items, and stops the job where a step of the
// pipeline says so: the item that it said it of is kept as a dead one.
func (e *Engine) tellItems(ctx context.Context, v *view, rows []items.Row, problems []error) error {
	for k, row := range rows {
		key := pipeline.Key{Job: v.job.UID, Unit: row.Key.Unit, Run: row.Key.Run, Ordinal: row.Key.Ordinal}
		var closes *crawl.CloseSpider
		switch row.State {
		case items.Stored:
			closes = v.Extensions.ItemScraped(ctx, key, row.Item)
		case items.Dropped:
			closes = v.Extensions.ItemDropped(ctx, key, row.Item, row.Why)
		case items.Dead:
			closes = v.Extensions.ItemError(ctx, key, row.Item, problems[k])
		}
		var ofStep *crawl.CloseSpider
		if errors.As(problems[k], &ofStep) {
			closes = ofStep
		}
		if err := e.heed(ctx, v, closes); err != nil {
			return err
		}
	}
	return nil
}

// spiderError counts, logs and tells an error of the spider's code; page is nil
// for the start. It returns the error's class.
func (e *Engine) spiderError(ctx context.Context, v *view, page *spider.Page, err error) (class string, fault error) {
	class = spider.ErrorClass(err)
	v.Stats.Inc("spider_exceptions/count")
	v.Stats.Inc("spider_exceptions/" + class)
	if page == nil {
		e.logError(v.Log, "the spider's start failed", err)
	} else {
		req := page.Request
		e.logError(v.Log, "spider error", err, "method", req.HTTPMethod(), "url", weburl.Shown(page.URL), "referer", referer(req), "callback", req.Callback)
	}
	return class, e.heed(ctx, v, v.Extensions.SpiderError(ctx, page, err))
}

// failTold ends a job whose runtime is there as [Engine.fail] does, and tells
// the extensions.
func (e *Engine) failTold(ctx context.Context, v *view, reason string) error {
	if v.Extensions.HearsOfClose() {
		job := v.job
		job.State, job.Ended, job.Problem = crawl.JobFailed, e.Now().UTC(), reason
		if job.Reason == "" {
			job.Reason = crawl.ReasonFailed
		}
		v.Extensions.SpiderClosed(ctx, job, nil)
	}
	return e.fail(ctx, v.job.UID, reason)
}

// referer is a request's Referer for logs, empty if it has none.
func referer(req *crawl.Request) string {
	if r := req.Headers.Get("Referer"); r != "" {
		return weburl.Shown(r)
	}
	return ""
}
