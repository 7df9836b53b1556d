package extensions

import (
	"context"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/settings"
)

// CloseSpider closes the job at a limit, with Scrapy's finish_reason. Each limit
// of 0 is none:
//
//	CLOSESPIDER_ITEMCOUNT          items that passed the pipeline: closespider_itemcount
//	CLOSESPIDER_PAGECOUNT          responses: closespider_pagecount
//	CLOSESPIDER_ERRORCOUNT         errors of the spider: closespider_errorcount
//	CLOSESPIDER_TIMEOUT            time since the job was created: closespider_timeout
//	CLOSESPIDER_TIMEOUT_NO_ITEM    time without a new item: closespider_timeout_no_item
//	CLOSESPIDER_PAGECOUNT_NO_ITEM  responses without a new item: closespider_pagecount_no_item
//
// What is under way is still worked, so a limit is overshot by that. The two
// limits without item are measured by each process from when it saw the last
// item, or from the job's beginning, so that one which comes late closes late
// and never early. Items follow their pages at some distance: leave
// CLOSESPIDER_PAGECOUNT_NO_ITEM room for the pages between.
func CloseSpider(s settings.Settings, now func() time.Time) extension.Extension {
	x := extension.Extension{Name: "CloseSpider"}
	byTime := s.CloseSpiderTimeout > 0 || s.CloseSpiderTimeoutNoItem > 0
	byPages := s.CloseSpiderPageCount > 0 || s.CloseSpiderPageCountNoItem > 0
	if byTime || byPages || s.CloseSpiderItemCount > 0 || s.CloseSpiderErrorCount > 0 {
		c := &closeSpider{limits: s, now: now}
		x.Counted, x.EveryCount = c.counted, byTime || byPages
	}
	return x
}

type closeSpider struct {
	limits settings.Settings
	now    func() time.Time

	mu    sync.Mutex
	seen  bool
	items int64     // the most that were seen
	at    time.Time // when they were first seen
	pages int64     // that there were then
}

func (c *closeSpider) counted(_ context.Context, job crawl.Job, totals map[string]int64) error {
	items, pages := totals["item_scraped_count"], totals["response_received_count"]
	at := func(limit int, n int64) bool { return limit > 0 && n >= int64(limit) }
	past := func(limit, d time.Duration) bool { return limit > 0 && d >= limit }
	now := c.now()
	without, since := c.sinceItem(job, now, items, pages)
	reason := ""
	switch s := &c.limits; {
	case at(s.CloseSpiderItemCount, items):
		reason = "closespider_itemcount"
	case at(s.CloseSpiderPageCount, pages):
		reason = "closespider_pagecount"
	case at(s.CloseSpiderErrorCount, totals["spider_exceptions/count"]):
		reason = "closespider_errorcount"
	case past(s.CloseSpiderTimeout, now.Sub(job.Created)):
		reason = "closespider_timeout"
	case past(s.CloseSpiderTimeoutNoItem, since):
		reason = "closespider_timeout_no_item"
	case at(s.CloseSpiderPageCountNoItem, without):
		reason = "closespider_pagecount_no_item"
	default:
		return nil
	}
	return &crawl.CloseSpider{Reason: reason}
}

// sinceItem says how many pages came, and how long it is, since the last item.
func (c *closeSpider) sinceItem(job crawl.Job, now time.Time, items, pages int64) (int64, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.seen && items == 0:
		c.seen, c.at = true, job.Created
	case !c.seen || items > c.items:
		c.seen, c.items, c.at, c.pages = true, items, now, pages
	}
	return pages - c.pages, now.Sub(c.at)
}
