// Package extension is the contract of what listens to a crawl without being on
// its way: Scrapy's signals, as a struct of optional functions.
//
// A hook runs in the function where its thing happens, at least once: after a
// crash, or for a message that is delivered twice, it may hear of the same thing
// again. What it says loses no work: an error or a panic is logged and counted,
// as extension/NAME/error_count, and the crawl goes on. A *crawl.CloseSpider
// closes the job with its reason.
//
// The extensions that are shipped are in package extensions; which run is one
// list, in the project's own project.go.
package extension

import (
	"context"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/spider"
)

// An Extension hears what happens in one job. Each hook may be nil, and one that
// is nil costs nothing. Hooks are safe for concurrent use, should be quick, and
// change nothing of what they are shown.
//
// An extension is made once for each job in each process; what its hooks keep
// between them is that process's alone.
type Extension struct {
	// Name is unique in a project; errors are counted with it. It is letters,
	// digits and . _ -
	Name string

	// SpiderOpened hears of a job that begins (spider_opened), in control,
	// before its start is read.
	SpiderOpened func(ctx context.Context, job crawl.Job) error

	// SpiderClosed hears of a job that ends (spider_closed), in control, after
	// its feeds are written and its pipelines closed. The job's Reason says
	// why, and stats are those that will be kept; counts that the hook adds
	// to the job's collector are kept too. A job that fails before it can
	// close has no stats, and of one whose control messages died nobody
	// hears. A CloseSpider has no effect any more.
	SpiderClosed func(ctx context.Context, job crawl.Job, stats map[string]any) error

	// RequestScheduled hears of a request before it is looked up in the
	// dupefilter (request_scheduled), in the function that found it: control
	// for the start, parse for pages, fetch for redirects. A *crawl.Drop
	// drops it, counted as extension/NAME/request_dropped_count.
	RequestScheduled func(ctx context.Context, req *crawl.Request) error

	// RequestDropped hears of a request that is not fetched (request_dropped),
	// and why: [Duplicate], [BadURL], the reason of the scope ("offsite"), or
	// that of a downloader middleware ("robots", …), then in fetch. What
	// RequestScheduled, a spider middleware or a leg drops never got so far.
	RequestDropped func(ctx context.Context, req *crawl.Request, reason string) error

	// ResponseReceived hears of each response (response_received), in fetch,
	// when it has passed the downloader middlewares.
	ResponseReceived func(ctx context.Context, resp *crawl.Response) error

	// ItemScraped hears of an item that passed the pipeline and is kept
	// (item_scraped), in pipeline. The key tells when it is the same again.
	ItemScraped func(ctx context.Context, key pipeline.Key, item crawl.Item) error

	// ItemDropped hears of an item that a step dropped (item_dropped), and the
	// reason of its *crawl.Drop, in pipeline.
	ItemDropped func(ctx context.Context, key pipeline.Key, item crawl.Item, reason string) error

	// ItemError hears of an item that a step could not process (item_error),
	// in pipeline.
	ItemError func(ctx context.Context, key pipeline.Key, item crawl.Item, err error) error

	// SpiderError hears of an error that no spider middleware handled
	// (spider_error), in parse, or in control for the start, where the page
	// is nil.
	SpiderError func(ctx context.Context, page *spider.Page, err error) error

	// Counted hears of the totals of the job's counters, by Scrapy's keys, in
	// any function, when an invocation has added to them and reads them
	// anyway. They are sums over all processes, for people and limits; after
	// a crash they may be off.
	Counted func(ctx context.Context, job crawl.Job, totals map[string]int64) error

	// EveryCount asks for the totals also where nobody else reads them: after
	// each batch of downloads, and in each sweep, which comes about once a
	// minute in the cloud, also when nothing moves. It costs a read of the
	// job's counters each time.
	//
	// Default: false.
	EveryCount bool
}

// Reasons of requests that are dropped before they get a row of work.
const (
	// Duplicate is the reason of a request whose like was admitted before.
	Duplicate = "duplicate"
	// BadURL is that of one whose URL cannot be fetched.
	BadURL = "bad-url"
)
