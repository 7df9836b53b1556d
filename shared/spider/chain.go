package spider

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/stats"
)

// A Chain is a spider behind its middlewares.
type Chain struct {
	spider *Spider
	mws    []Middleware // from the engine to the spider
	stats  *stats.Collector
}

// NewChain puts middlewares before a spider that came from a [Registry]. The
// first of them is the nearest to the engine. The collector counts what legs
// drop.
func NewChain(s *Spider, st *stats.Collector, mws ...Middleware) *Chain {
	return &Chain{spider: s, mws: mws, stats: st}
}

// Start gives a slice of what the job starts with, through the legs and the
// middlewares.
func (c *Chain) Start(ctx context.Context, start Start, slice *Slice) Results {
	r := checked("the spider's start", slice.cut(c.source(ctx, start)))
	r = c.throughLegs(ctx, nil, c.spider.Legs, r)
	for _, mw := range slices.Backward(c.mws) {
		if mw.ProcessStart != nil {
			inner := r
			r = checked(given(mw), guarded(func() Results { return mw.ProcessStart(ctx, start, inner) }))
		}
	}
	return r
}

func (c *Chain) source(ctx context.Context, start Start) Results {
	if start.Requests != nil {
		return start.Requests
	}
	if len(start.URLs) > 0 {
		return startURLs(start.URLs)
	}
	parts := []Results{startURLs(c.spider.StartURLs)}
	if c.spider.Start != nil {
		parts[0] = guarded(func() Results { return c.spider.Start(ctx, start) })
	}
	for _, leg := range c.spider.Legs {
		if leg.Start != nil {
			parts = append(parts, legStart(ctx, leg, start))
		}
	}
	return joined(parts)
}

// legStart is what a leg starts with; an error has the leg's name.
func legStart(ctx context.Context, leg Leg, start Start) Results {
	return func(yield func(crawl.Result, error) bool) {
		for res, err := range guarded(func() Results { return leg.Start(ctx, start) }) {
			if err != nil {
				err = fmt.Errorf("leg %s: %w", leg.Name, err)
			}
			if !yield(res, err) {
				return
			}
		}
	}
}

// Process gives what comes of a page, with Scrapy's exception flow. An error
// that nobody handled is the last element.
func (c *Chain) Process(ctx context.Context, page *Page) Results {
	if page.Failure != nil {
		// Nothing was received, so there is nothing for the middlewares.
		return c.failed(ctx, page, page.Failure, 0)
	}
	for _, mw := range c.mws {
		if mw.ProcessInput == nil {
			continue
		}
		if err := guard(nil, func() error { return mw.ProcessInput(ctx, page) }); err != nil {
			return c.failed(ctx, page, named(mw, err), len(c.mws))
		}
	}
	return c.output(ctx, page, len(c.mws), c.read(ctx, page))
}

// output passes results through the output hooks of the middlewares before
// index n, the one nearest to the spider first. An error in the stream goes to
// the exception hooks of those that are nearer to the engine than where it
// arose. What a hook gives for an error has passed its own way to the engine,
// so it comes after the rest.
func (c *Chain) output(ctx context.Context, page *Page, n int, r Results) Results {
	return func(yield func(crawl.Result, error) bool) {
		var met met
		out := c.rescue(ctx, page, n, r, &met)
		for k := n - 1; k >= 0; k-- {
			mw := c.mws[k]
			if mw.ProcessOutput == nil {
				continue
			}
			before := out
			after := guarded(func() Results { return mw.ProcessOutput(ctx, page, before) })
			out = c.rescue(ctx, page, k, namedResults(mw, after), &met)
		}
		var failed error
		give := func(r Results) bool {
			for res, err := range r {
				if err != nil {
					failed = joinErrors(failed, err)
					return true
				}
				if !yield(res, nil) {
					return false
				}
			}
			return true
		}
		if !give(out) {
			return
		}
		for _, err := range met.unhandled {
			if !errors.Is(failed, err) { // an output hook kept it to itself
				failed = joinErrors(failed, err)
			}
		}
		for _, r := range met.rescued {
			if !give(r) {
				return
			}
		}
		if failed != nil {
			yield(crawl.Result{}, failed)
		}
	}
}

// read joins what the callback and the legs make of a page, and passes it
// through the legs: those of the callback first.
func (c *Chain) read(ctx context.Context, page *Page) Results {
	page.readers = nil
	parts, err := c.own(ctx, page, page.Request.Callback)
	if err != nil {
		return func(yield func(crawl.Result, error) bool) { yield(crawl.Result{}, err) }
	}
	return c.throughLegs(ctx, page, c.spider.Legs, joined(c.appendReaders(ctx, page, c.spider.Legs, parts)))
}

// own has a callback read a page, and gives what it and its own legs make of it.
func (c *Chain) own(ctx context.Context, page *Page, name string) ([]Results, error) {
	callback, own, err := c.callback(name)
	if err != nil {
		return nil, err
	}
	if page.readers == nil {
		page.readers = make(map[string]bool)
	}
	page.readers[callbackName(name)] = true
	var parts []Results
	if callback != nil {
		parts = append(parts, c.collect(page, func(out *Output) error { return callback(ctx, page, out) }))
	}
	parts = c.appendReaders(ctx, page, own, parts)
	if len(own) > 0 {
		parts = []Results{c.throughLegs(ctx, page, own, joined(parts))}
	}
	return parts, nil
}

// appendReaders appends the results of each leg that reads pages.
func (c *Chain) appendReaders(ctx context.Context, page *Page, legs []Leg, parts []Results) []Results {
	for _, leg := range legs {
		if leg.ProcessResponse == nil {
			continue
		}
		parts = append(parts, c.collect(page, func(out *Output) error {
			err := guard(&out.consuming, func() error { return leg.ProcessResponse(ctx, page, out) })
			if err != nil {
				return fmt.Errorf("leg %s: %w", leg.Name, err)
			}
			return nil
		}))
	}
	return parts
}

// joined gives the parts one after the other, to the first error.
func joined(parts []Results) Results {
	return func(yield func(crawl.Result, error) bool) {
		for _, part := range parts {
			for res, err := range part {
				if !yield(res, err) || err != nil {
					return
				}
			}
		}
	}
}

// callback finds what reads a page besides the spider's own legs: a function
// that may be nil, and the callback's legs.
func (c *Chain) callback(name string) (Callback, []Leg, error) {
	name = callbackName(name)
	callback, own := c.spider.Callbacks[name], c.spider.CallbackLegs[name]
	if name == DefaultCallback && c.spider.Parse != nil {
		callback = c.spider.Parse
	}
	legsAlone := name == DefaultCallback && slices.ContainsFunc(c.spider.Legs, reads)
	if callback == nil && own == nil && !legsAlone {
		return nil, nil, fmt.Errorf("%w %q of spider %s", ErrUnknownCallback, name, c.spider.Name)
	}
	return callback, own, nil
}
