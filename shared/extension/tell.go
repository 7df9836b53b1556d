package extension

import (
	"context"
	"maps"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/spider"
)

// SpiderOpened tells of a job that begins.
func (c *Chain) SpiderOpened(ctx context.Context, job crawl.Job) *crawl.CloseSpider {
	if c == nil || len(c.spiderOpened) == 0 {
		return nil
	}
	return tell(c, "SpiderOpened", c.spiderOpened, func(hook func(context.Context, crawl.Job) error) error {
		return hook(ctx, job)
	}, nil)
}

// HearsOfClose reports whether anyone listens to SpiderClosed, so that stats
// need not be made for nobody.
func (c *Chain) HearsOfClose() bool { return c != nil && len(c.spiderClosed) > 0 }

// SpiderClosed tells of a job that ends. Each hook gets stats of its own.
func (c *Chain) SpiderClosed(ctx context.Context, job crawl.Job, stats map[string]any) {
	if !c.HearsOfClose() {
		return
	}
	// The job ends already, so nothing closes it any more.
	_ = tell(c, "SpiderClosed", c.spiderClosed, func(hook func(context.Context, crawl.Job, map[string]any) error) error {
		return hook(ctx, job, maps.Clone(stats))
	}, nil)
}

// RequestScheduled tells of a request that is to be admitted, and reports
// whether an extension dropped it.
func (c *Chain) RequestScheduled(ctx context.Context, req *crawl.Request) (dropped bool, closes *crawl.CloseSpider) {
	if c == nil || len(c.requestScheduled) == 0 {
		return false, nil
	}
	closes = tell(c, "RequestScheduled", c.requestScheduled, func(hook func(context.Context, *crawl.Request) error) error {
		return hook(ctx, req)
	}, func(name string, d *crawl.Drop) {
		dropped = true
		c.stats.Inc("extension/" + name + "/request_dropped_count")
		c.log.Debug("request dropped", "extension", name, "reason", d.Reason)
	})
	return dropped, closes
}

// HearsOfDrops reports whether anyone listens to RequestDropped.
func (c *Chain) HearsOfDrops() bool { return c != nil && len(c.requestDropped) > 0 }

// RequestDropped tells of a request that is not fetched.
func (c *Chain) RequestDropped(ctx context.Context, req *crawl.Request, reason string) *crawl.CloseSpider {
	if !c.HearsOfDrops() {
		return nil
	}
	return tell(c, "RequestDropped", c.requestDropped, func(hook func(context.Context, *crawl.Request, string) error) error {
		return hook(ctx, req, reason)
	}, nil)
}

// ResponseReceived tells of a response.
func (c *Chain) ResponseReceived(ctx context.Context, resp *crawl.Response) *crawl.CloseSpider {
	if c == nil || len(c.responseReceived) == 0 {
		return nil
	}
	return tell(c, "ResponseReceived", c.responseReceived, func(hook func(context.Context, *crawl.Response) error) error {
		return hook(ctx, resp)
	}, nil)
}

// ItemScraped tells of an item that is kept.
func (c *Chain) ItemScraped(ctx context.Context, key pipeline.Key, item crawl.Item) *crawl.CloseSpider {
	if c == nil || len(c.itemScraped) == 0 {
		return nil
	}
	return tell(c, "ItemScraped", c.itemScraped, func(hook func(context.Context, pipeline.Key, crawl.Item) error) error {
		return hook(ctx, key, item)
	}, nil)
}

// ItemDropped tells of an item that a step dropped.
func (c *Chain) ItemDropped(ctx context.Context, key pipeline.Key, item crawl.Item, reason string) *crawl.CloseSpider {
	if c == nil || len(c.itemDropped) == 0 {
		return nil
	}
	return tell(c, "ItemDropped", c.itemDropped, func(hook func(context.Context, pipeline.Key, crawl.Item, string) error) error {
		return hook(ctx, key, item, reason)
	}, nil)
}

// ItemError tells of an item that a step could not process.
func (c *Chain) ItemError(ctx context.Context, key pipeline.Key, item crawl.Item, err error) *crawl.CloseSpider {
	if c == nil || len(c.itemError) == 0 {
		return nil
	}
	return tell(c, "ItemError", c.itemError, func(hook func(context.Context, pipeline.Key, crawl.Item, error) error) error {
		return hook(ctx, key, item, err)
	}, nil)
}

// SpiderError tells of an error that no spider middleware handled; the page is
// nil for the start.
func (c *Chain) SpiderError(ctx context.Context, page *spider.Page, err error) *crawl.CloseSpider {
	if c == nil || len(c.spiderError) == 0 {
		return nil
	}
	return tell(c, "SpiderError", c.spiderError, func(hook func(context.Context, *spider.Page, error) error) error {
		return hook(ctx, page, err)
	}, nil)
}

// EveryCount reports whether an extension asks for the totals also where nobody
// else reads them.
func (c *Chain) EveryCount() bool { return c != nil && c.everyCount }

// Counted tells of the job's totals.
func (c *Chain) Counted(ctx context.Context, job crawl.Job, totals map[string]int64) *crawl.CloseSpider {
	if c == nil || len(c.counted) == 0 {
		return nil
	}
	return tell(c, "Counted", c.counted, func(hook func(context.Context, crawl.Job, map[string]int64) error) error {
		return hook(ctx, job, totals)
	}, nil)
}
