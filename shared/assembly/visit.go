package assembly

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A Visit is a request, what came of it, and what the spider made of that.
type Visit struct {
	// Level is 1 for what was asked for, 2 for what that led to, and so on.
	Level int

	// Request is what was asked for, before redirects.
	Request *crawl.Request

	// Response is nil if nothing came, or if Err says that nothing was asked.
	Response *crawl.Response

	// Ignored is true if a middleware kept the response from the spider, as
	// HTTPError does with a status that nobody handles.
	Ignored bool

	// Items and Requests are what came from the spider through its
	// middlewares, each in its order.
	Items    []crawl.Item
	Requests []*crawl.Request

	// Err is what failed: the download if there is no errback, the callback,
	// a leg or a middleware. What was given before stands in Items and
	// Requests. A *crawl.Drop in it says that a middleware refuses the
	// request, a *crawl.CloseSpider that the spider ends the job, a
	// *crawl.Retry that it wants another attempt, about which the text says
	// what a job would do.
	Err error
}

// Spider is the spider that reads the pages.
func (s *Single) Spider() *spider.Spider { return s.rt.Spider }

// Route is the request by which the first of the spider's legs that would follow
// a link to a URL asks for it. The error says that no leg has rules for links,
// or that none takes the URL.
func (s *Single) Route(url string) (*crawl.Request, error) {
	rules := false
	for _, leg := range s.rt.Spider.Legs {
		if leg.Route == nil {
			continue
		}
		rules = true
		if req, ok := leg.Route(url); ok {
			return req, nil
		}
	}
	if !rules {
		return nil, fmt.Errorf("spider %s has no leg with rules for links, such as crawl_rules", s.rt.Spider.Name)
	}
	return nil, fmt.Errorf("no rule of spider %s takes %s", s.rt.Spider.Name, weburl.Shown(url))
}

// Start passes a request through the spider's legs and middlewares as a start
// request, which may change it, drop it or give others in its place.
func (s *Single) Start(ctx context.Context, req *crawl.Request) ([]*crawl.Request, error) {
	start := spider.Start{
		Job: s.job, Args: s.rt.Spec.Args, URLs: []string{req.URL},
		Requests: func(yield func(crawl.Result, error) bool) { yield(crawl.Result{Request: req.Clone()}, nil) },
	}
	var given []*crawl.Request
	for res, err := range s.rt.Chain.Start(ctx, start, &spider.Slice{}) {
		if err != nil {
			return nil, err
		}
		if res.Request != nil {
			given = append(given, res.Request)
		}
	}
	if given == nil {
		return nil, fmt.Errorf("%s: a leg or a middleware of spider %s drops the request", weburl.Shown(req.URL), s.rt.Spider.Name)
	}
	return given, nil
}

// Visit fetches a request and hands what comes to the spider.
func (s *Single) Visit(ctx context.Context, req *crawl.Request) Visit {
	v := Visit{Level: 1, Request: req}
	resp, last, err := s.fetch(ctx, req)
	var drop *crawl.Drop
	switch {
	case err == nil:
		v.Response = resp
		s.read(ctx, &v, s.Page(resp))
	case ctx.Err() != nil, errors.As(err, &drop), last.Errback == "":
		v.Err = err
	default:
		page := s.Page(&crawl.Response{URL: last.URL, Request: last})
		page.Failure = err
		var failure *crawl.Failure
		if errors.As(err, &failure) {
			failure.Request = last
			page.Failure = failure
		}
		s.read(ctx, &v, page)
	}
	return v
}

// Page makes a page of a response for the spider.
func (s *Single) Page(resp *crawl.Response) *spider.Page {
	return s.rt.Page(resp, s.job)
}

// Read hands a page to the spider.
func (s *Single) Read(ctx context.Context, page *spider.Page) Visit {
	v := Visit{Level: 1, Request: page.Request, Response: page.Response}
	s.read(ctx, &v, page)
	return v
}

// ignored is what HTTPError counts when it keeps a response to itself.
const ignored = "httperror/response_ignored_count"

func (s *Single) read(ctx context.Context, v *Visit, page *spider.Page) {
	s.rt.Stats.Take()
	for res, err := range s.rt.Chain.Process(ctx, page) {
		switch {
		case err != nil:
			v.Err = err
		case res.Item != nil:
			if _, err = res.Item.MarshalJSON(); err == nil {
				v.Items = append(v.Items, *res.Item)
			}
		case res.Request != nil:
			if _, err = json.Marshal(res.Request); err == nil {
				v.Requests = append(v.Requests, res.Request)
			}
		}
		if err != nil {
			v.Err = err
			break
		}
	}
	var retry *crawl.Retry
	var closes *crawl.CloseSpider
	if errors.As(v.Err, &retry) && !errors.As(v.Err, &closes) {
		v.Err = s.wish(page.Request, retry)
	}
	var drop *crawl.Drop
	if errors.As(v.Err, &drop) {
		s.rt.Log.Info("page dropped", "url", weburl.Shown(page.URL), "reason", drop.Reason)
		v.Err = nil // what the spider wanted
	}
	v.Ignored = s.rt.Stats.Take()[ignored] > 0
}

// A wish is a spider's for another attempt, with what a job would do about it.
type wish struct {
	*crawl.Retry
	left int
}

// wish asks the limits of attempts.
func (s *Single) wish(req *crawl.Request, want *crawl.Retry) error {
	left := s.rt.Attempts.Left(req)
	if verdict := s.rt.Attempts.Again(req, want); verdict != nil {
		return &wish{verdict, left}
	}
	return &wish{want, left}
}

func (e *wish) Unwrap() error { return e.Retry }

func (e *wish) Error() string {
	reason := cmp.Or(e.Reason, crawl.Unspecified)
	if e.left == 0 {
		return fmt.Sprintf("the spider wants another attempt: %s; none is left, so a job would fail the page as \"gave-up: %s\"", reason, reason)
	}
	return fmt.Sprintf("the spider wants another attempt: %s; a job would fetch the page again in about %s, %d more times at most",
		reason, e.After.Round(time.Second/10), e.left)
}

// Walk visits a request, and what it leads to down to a level: 1 is the page
// alone. Each request is made once. As in a job, a followed request that a
// middleware refuses is no error; it is left out.
func (s *Single) Walk(ctx context.Context, req *crawl.Request, levels int) iter.Seq[Visit] {
	return func(yield func(Visit) bool) {
		due, err := s.Start(ctx, req)
		if err != nil {
			yield(Visit{Level: 1, Request: req, Err: err})
			return
		}
		seen := make(map[crawl.UnitID]bool)
		for level := 1; level <= levels && len(due) > 0; level++ {
			var next []*crawl.Request
			for _, req := range due {
				v := s.Visit(ctx, req)
				v.Level = level
				var drop *crawl.Drop
				if level > 1 && errors.As(v.Err, &drop) {
					continue
				}
				if !yield(v) || ctx.Err() != nil {
					return
				}
				next = s.appendNew(next, v, seen)
			}
			due = next
		}
	}
}

// appendNew appends those of a visit's requests that were not seen yet.
func (s *Single) appendNew(due []*crawl.Request, v Visit, seen map[crawl.UnitID]bool) []*crawl.Request {
	parent, err := scheduler.NewIdentifier(crawl.StartUnit).Unit(v.Request)
	if err == nil {
		seen[parent] = true
	}
	ident := scheduler.NewIdentifier(parent)
	for _, req := range v.Requests {
		unit, err := ident.Unit(req)
		if err != nil {
			s.rt.Log.Warn("request dropped", "err", err)
			continue
		}
		if !seen[unit] {
			seen[unit] = true
			due = append(due, req)
		}
	}
	return due
}

// OpenPipeline opens the pipeline for Keep; the function that it returns closes
// it.
func (s *Single) OpenPipeline(ctx context.Context) (closing func() error, err error) {
	if err := crawl.Guard(func() error { return s.rt.Pipeline.Open(ctx, s.job) }); err != nil {
		return nil, err
	}
	return func() error { return s.rt.Pipeline.Close(context.WithoutCancel(ctx), s.job) }, nil
}

// Keep passes an item through the pipeline. A *crawl.Drop in the error says that
// a step drops it.
func (s *Single) Keep(ctx context.Context, ordinal int, item crawl.Item) (kept crawl.Item, err error) {
	key := pipeline.Key{Job: s.job.UID, Unit: crawl.StartUnit, Run: crawl.NewRunID(), Ordinal: ordinal}
	err = crawl.Guard(func() (err error) {
		if kept, err = s.rt.Pipeline.Process(ctx, key, item); err == nil {
			_, err = kept.MarshalJSON()
		}
		return err
	})
	return kept, err
}
