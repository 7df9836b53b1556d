package extension

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// A Chain tells a job's extensions what happens, in their order. A nil Chain has
// none. Each method returns how an extension closes the job, the first one
// first; nil if none does.
type Chain struct {
	stats *stats.Collector
	log   *slog.Logger

	spiderOpened     []listener[func(context.Context, crawl.Job) error]
	spiderClosed     []listener[func(context.Context, crawl.Job, map[string]any) error]
	requestScheduled []listener[func(context.Context, *crawl.Request) error]
	requestDropped   []listener[func(context.Context, *crawl.Request, string) error]
	responseReceived []listener[func(context.Context, *crawl.Response) error]
	itemScraped      []listener[func(context.Context, pipeline.Key, crawl.Item) error]
	itemDropped      []listener[func(context.Context, pipeline.Key, crawl.Item, string) error]
	itemError        []listener[func(context.Context, pipeline.Key, crawl.Item, error) error]
	spiderError      []listener[func(context.Context, *spider.Page, error) error]
	counted          []listener[func(context.Context, crawl.Job, map[string]int64) error]
	everyCount       bool
}

// A listener is one hook of an extension.
type listener[F any] struct {
	name string
	hook F
}

// NewChain returns a chain of extensions that counts errors in st and logs them.
// It fails if two of them share a name, or one has none that is valid. It is nil
// if there are none.
func NewChain(st *stats.Collector, log *slog.Logger, extensions ...Extension) (*Chain, error) {
	if len(extensions) == 0 {
		return nil, nil
	}
	c := &Chain{stats: st, log: log}
	names := make(map[string]bool, len(extensions))
	for _, x := range extensions {
		if err := spider.CheckName(x.Name); err != nil {
			return nil, fmt.Errorf("extension %q: %w", x.Name, err)
		}
		if names[x.Name] {
			return nil, fmt.Errorf("two extensions are named %q", x.Name)
		}
		names[x.Name] = true
		c.add(x)
	}
	return c, nil
}

// add takes the hooks of an extension that are set.
func (c *Chain) add(x Extension) {
	listen(&c.spiderOpened, x.Name, x.SpiderOpened, x.SpiderOpened != nil)
	listen(&c.spiderClosed, x.Name, x.SpiderClosed, x.SpiderClosed != nil)
	listen(&c.requestScheduled, x.Name, x.RequestScheduled, x.RequestScheduled != nil)
	listen(&c.requestDropped, x.Name, x.RequestDropped, x.RequestDropped != nil)
	listen(&c.responseReceived, x.Name, x.ResponseReceived, x.ResponseReceived != nil)
	listen(&c.itemScraped, x.Name, x.ItemScraped, x.ItemScraped != nil)
	listen(&c.itemDropped, x.Name, x.ItemDropped, x.ItemDropped != nil)
	listen(&c.itemError, x.Name, x.ItemError, x.ItemError != nil)
	listen(&c.spiderError, x.Name, x.SpiderError, x.SpiderError != nil)
	listen(&c.counted, x.Name, x.Counted, x.Counted != nil)
	c.everyCount = c.everyCount || x.EveryCount && x.Counted != nil
}

func listen[F any](list *[]listener[F], name string, hook F, set bool) {
	if set {
		*list = append(*list, listener[F]{name, hook})
	}
}

// tell calls each hook, whatever the others say. A *crawl.Drop is taken by
// dropped, if that is not nil.
func tell[F any](c *Chain, what string, list []listener[F], call func(F) error, dropped func(name string, d *crawl.Drop)) *crawl.CloseSpider {
	var closes *crawl.CloseSpider
	for _, l := range list {
		err := crawl.Guard(func() error { return call(l.hook) })
		if err == nil {
			continue
		}
		var stop *crawl.CloseSpider
		var drop *crawl.Drop
		switch {
		case errors.As(err, &stop):
			if closes == nil {
				closes = stop
			}
		case dropped != nil && errors.As(err, &drop):
			dropped(l.name, drop)
		default:
			c.failed(l.name, what, err)
		}
	}
	return closes
}

func (c *Chain) failed(name, what string, err error) {
	c.stats.Inc("extension/" + name + "/error_count")
	args := append([]any{"extension", name, "hook", what}, crawl.LogArgs(err)...)
	c.log.Error("extension failed", args...)
}
