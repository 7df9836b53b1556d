package spider

import (
	"context"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
)

// throughLegs passes each request and item through every leg's hook in turn.
func (c *Chain) throughLegs(ctx context.Context, page *Page, legs []Leg, r Results) Results {
	if len(legs) == 0 {
		return r
	}
	return func(yield func(crawl.Result, error) bool) {
		for res, err := range r {
			if err == nil {
				res, err = c.passLegs(ctx, page, legs, res)
			}
			if err == nil && res == (crawl.Result{}) {
				continue // a leg dropped it
			}
			if !yield(res, err) || err != nil {
				return
			}
		}
	}
}

// passLegs returns the zero result for what a leg drops.
func (c *Chain) passLegs(ctx context.Context, page *Page, legs []Leg, res crawl.Result) (crawl.Result, error) {
	for k := range legs {
		leg := &legs[k]
		if err := c.passLeg(ctx, page, leg, &res); err != nil {
			return crawl.Result{}, fmt.Errorf("leg %s: %w", leg.Name, err)
		}
		if res == (crawl.Result{}) {
			break
		}
	}
	return res, nil
}

func (c *Chain) passLeg(ctx context.Context, page *Page, leg *Leg, res *crawl.Result) error {
	return guard(nil, func() (err error) {
		switch {
		case res.Request != nil && leg.ProcessRequest != nil:
			if res.Request, err = leg.ProcessRequest(ctx, page, res.Request); err == nil && res.Request == nil {
				c.stats.Inc("leg/" + leg.Name + "/request_dropped_count")
			}
		case res.Item != nil && leg.ProcessItem != nil:
			if res.Item, err = leg.ProcessItem(ctx, page, res.Item); err == nil && res.Item == nil {
				c.stats.Inc("leg/" + leg.Name + "/item_dropped_count")
			}
		}
		return err
	})
}

// startURLs gives a request for each URL.
func startURLs(urls []string) Results {
	return func(yield func(crawl.Result, error) bool) {
		for _, u := range urls {
			if !yield(crawl.Result{Request: &crawl.Request{URL: u}}, nil) {
				return
			}
		}
	}
}

// A Slice is the part of a start that one invocation reads.
type Slice struct {
	// From is the first element, counted from 0 in what the spider gives.
	From int
	// More is asked before each element whether to go on; nil always does.
	More func() bool

	// Next is where the next slice begins, and Done whether there is none.
	// Both are set while the results are read.
	Next int
	Done bool
}

// cut gives the slice's elements. It stops between two elements of the source,
// so what legs and middlewares make of one is never torn.
func (s *Slice) cut(r Results) Results {
	return func(yield func(crawl.Result, error) bool) {
		n := 0
		s.Next = s.From
		for res, err := range r {
			if err == nil && n < s.From {
				n++
				continue
			}
			if s.More != nil && !s.More() {
				return
			}
			if err != nil {
				yield(res, err)
				return // neither done nor to be continued
			}
			n++
			s.Next = n
			if !yield(res, nil) {
				return
			}
		}
		s.Done = true
	}
}

// guarded makes results of a function whose code is not ours: a panic while
// they are made or read ends them with an error. Nil results are none.
func guarded(make func() Results) Results {
	return func(yield func(crawl.Result, error) bool) {
		var wanted, consuming bool
		err := guard(&consuming, func() error {
			wanted = true
			r := make()
			if r == nil {
				return nil
			}
			for res, err := range r {
				consuming = true
				wanted = yield(res, err) && err == nil
				consuming = false
				if !wanted {
					return nil
				}
			}
			return nil
		})
		if err != nil && wanted {
			yield(crawl.Result{}, err)
		}
	}
}
