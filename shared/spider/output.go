package spider

import (
	"context"
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
)

// An Output takes what a callback found. Its methods may be called until the
// callback returns, from one goroutine. Once the engine wants no more of a
// page in this invocation they do nothing, and the page is continued in
// another.
type Output struct {
	chain   *Chain
	page    *Page
	yield   func(crawl.Result, error) bool
	stopped bool
	errs    []error // of what was given, maxErrors at most

	// consuming is true while the engine works off what was given.
	consuming bool
}

// maxErrors bounds the errors of what one page gives: the first ones tell.
const maxErrors = 20

func (o *Output) blame(err error) {
	if len(o.errs) < maxErrors {
		o.errs = append(o.errs, err)
	}
}

// Item gives an item: a struct, a map or a crawl.Item; see crawl.NewItem. A
// value that is none of these fails the page.
func (o *Output) Item(v any) {
	item, err := crawl.NewItem(v)
	if err != nil {
		o.blame(err)
		return
	}
	o.give(crawl.Result{Item: &item})
}

// Request gives a request as it is; its URL must be absolute. A nil request
// fails the page.
func (o *Output) Request(req *crawl.Request) {
	if req == nil {
		o.blame(errors.New("a request that is nil"))
		return
	}
	o.give(crawl.Result{Request: req})
}

// Follow gives a request for an address on the page, resolved against the
// page's base, for a callback ("" for the spider's Parse). What else the request
// is to have, change sets before it is given:
//
//	out.Follow(ref, "book", func(req *crawl.Request) {
//		req.Errback = "sorry"
//		req.CBKwargs = crawl.Values{"shelf": shelf}
//	})
//
// An address that cannot be parsed, or is none of http, https, file and ftp, is
// passed over and counted, as link/not_page_count.
func (o *Output) Follow(ref, callback string, change ...func(*crawl.Request)) {
	if req, ok := o.page.NewRequest(ref, callback); ok {
		o.changed(req, change)
	}
}

// FollowAll follows each of the addresses, such as
// page.CSS("li.next a::attr(href)").All().
func (o *Output) FollowAll(refs []string, callback string, change ...func(*crawl.Request)) {
	for _, ref := range refs {
		if o.stopped {
			return
		}
		o.Follow(ref, callback, change...)
	}
}

// FollowSelection follows what was selected: the href of the elements a, area
// and link, the value of texts and attributes. So page.CSS("li.next a") does as
// it stands. An element without href is passed over; one of another kind fails
// the page, when the others are followed.
func (o *Output) FollowSelection(sel extract.Selection, callback string, change ...func(*crawl.Request)) {
	refs, err := sel.Refs()
	if err != nil {
		o.blame(err)
	}
	o.FollowAll(refs, callback, change...)
}

// FollowLinks follows links that a link extractor found.
func (o *Output) FollowLinks(links []extract.Link, callback string, change ...func(*crawl.Request)) {
	for _, link := range links {
		if o.stopped {
			return
		}
		o.changed(&crawl.Request{URL: link.URL, Callback: callback}, change)
	}
}

// maxCalls ends callbacks that call each other round and round, before the
// stack does.
const maxCalls = 20

// Call has a callback of the spider read the page, by its name and with its own
// legs, as if the request had named it; what it gives counts as given here. It
// is for legs that choose a callback by the page.
func (o *Output) Call(ctx context.Context, name string) error {
	if o.page.calls >= maxCalls {
		return fmt.Errorf("callback %q: callbacks call one another more than %d deep", name, maxCalls)
	}
	o.page.calls++
	defer func() { o.page.calls-- }()
	parts, err := o.chain.own(ctx, o.page, name)
	if err != nil {
		return err
	}
	return o.GiveAll(joined(parts))
}

// Called reports whether a callback has read the page, or is about to: the one
// that the request names, and those that legs have called. "" is Parse.
func (o *Output) Called(name string) bool { return o.page.readers[callbackName(name)] }

// callbackName is a callback's name, spelt out.
func callbackName(name string) string {
	if name == "" {
		return DefaultCallback
	}
	return name
}

// Collect has a callback read the page, and returns what it gives as results,
// for whoever changes them before they are given; see [Output.GiveAll].
func (o *Output) Collect(callback func(out *Output) error) Results {
	return o.chain.collect(o.page, callback)
}

// GiveAll gives results, and returns the error that they end with.
func (o *Output) GiveAll(r Results) error {
	for res, err := range r {
		if err != nil {
			return err
		}
		if o.give(res); o.stopped {
			break
		}
	}
	return nil
}

// Count adds to one of the job's stats, such as books/without_price_count.
func (o *Output) Count(key string, n int) { o.chain.stats.Add(key, int64(n)) }

func (o *Output) changed(req *crawl.Request, change []func(*crawl.Request)) {
	if o.stopped {
		return
	}
	for _, f := range change {
		f(req)
	}
	o.Request(req)
}

// Stopped reports whether more output is of no use in this invocation, so that
// a long callback can return early.
func (o *Output) Stopped() bool { return o.stopped }

func (o *Output) give(r crawl.Result) {
	if o.stopped {
		return
	}
	o.consuming = true
	o.stopped = !o.yield(r, nil)
	o.consuming = false
}

// collect turns a callback into results: what it gives comes as it is given,
// its error last.
func (c *Chain) collect(page *Page, call func(out *Output) error) Results {
	return func(yield func(crawl.Result, error) bool) {
		out := &Output{chain: c, page: page, yield: yield}
		err := guard(&out.consuming, func() error { return call(out) })
		wanted := !out.stopped
		out.stopped = true // whoever kept it finds it closed
		found := page.takeFound()
		c.stats.Add("link/not_page_count", int64(found.notPages))
		if found.tokenized {
			c.stats.Inc("response/tokenized_count")
		}
		if found.truncated {
			c.stats.Inc("response/truncated_count")
		}
		err = errors.Join(err, found.selectors)
		if len(out.errs) > 0 {
			err = &unhandled{errors.Join(err, &InvalidOutput{errors.Join(out.errs...)})}
		}
		if err != nil && wanted {
			yield(crawl.Result{}, err)
		}
	}
}
