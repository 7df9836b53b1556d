package spider

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A Contract says what a callback makes of a page as it is on the web today.
// `skitter check` fetches the page and tells what does not hold any more; a
// registry refuses a spider whose contract could never be checked.
//
// They are Scrapy's contracts, as values in place of docstrings.
type Contract struct {
	// URL is the page (@url).
	URL string

	// Callback reads it; empty for Parse.
	Callback string

	// CBKwargs and Meta are those of the request (@cb_kwargs, @meta).
	CBKwargs, Meta crawl.Values

	// Args are the arguments of the job (-a NAME=VALUE).
	Args map[string]string

	// Items and Requests say how many of each the page gives (@returns): by
	// the callback, by legs and through the middlewares.
	//
	// Default: any number.
	Items, Requests Count

	// Scrapes are fields that every item has a value in (@scrapes), which a
	// field of a struct that was not found is not; see crawl.Item.Has.
	Scrapes []string

	// Check says what else is wrong with what the page gave; nil for nothing.
	Check func(page *Page, items []crawl.Item, requests []*crawl.Request) error
}

// A Count bounds a number of items or requests. The zero Count takes any.
type Count struct {
	min, max int // max is below zero where there is none
	set      bool
}

// Exactly wants n, 0 or more.
func Exactly(n int) Count { return Between(n, n) }

// AtLeast wants n or more.
func AtLeast(n int) Count { return Count{min: n, max: -1, set: true} }

// Between wants from least to most, both included. A registry refuses what no
// number can be.
func Between(least, most int) Count { return Count{min: least, max: max(most, 0), set: true} }

// String says what is wanted, such as "1 or more".
func (c Count) String() string {
	switch {
	case !c.set:
		return "any number"
	case c.max < 0:
		return fmt.Sprintf("%d or more", c.min)
	case c.min == c.max:
		return fmt.Sprint(c.min)
	}
	return fmt.Sprintf("%d to %d", c.min, c.max)
}

func (c Count) takes(n int) bool { return !c.set || n >= c.min && (c.max < 0 || n <= c.max) }

func (c Count) wrong() bool { return c.set && (c.min < 0 || c.max >= 0 && c.max < c.min) }

// CallbackName is the name of the callback that reads the page.
func (c *Contract) CallbackName() string {
	if c.Callback == "" {
		return DefaultCallback
	}
	return c.Callback
}

// Request is the request for the page, of a kind that is made even where the
// same was made before.
func (c *Contract) Request() *crawl.Request {
	return &crawl.Request{
		URL: c.URL, Callback: c.Callback, CBKwargs: c.CBKwargs.Clone(), Meta: c.Meta.Clone(), DontFilter: true,
	}
}

// Verify says what does not hold of what a page gave: all of it, one error
// each. Requests whose callback or errback the spider does not have are among
// that.
func (c *Contract) Verify(page *Page, items []crawl.Item, requests []*crawl.Request) []error {
	var errs []error
	if !c.Items.takes(len(items)) {
		errs = append(errs, fmt.Errorf("gave %d items, expected %v", len(items), c.Items))
	}
	if !c.Requests.takes(len(requests)) {
		errs = append(errs, fmt.Errorf("gave %d requests, expected %v", len(requests), c.Requests))
	}
	errs = append(errs, c.missing(items)...)
	errs = append(errs, strangers(page.Spider, requests)...)
	if c.Check != nil {
		if err := guard(nil, func() error { return c.Check(page, items, requests) }); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// missing names the fields that items lack, each kind of lack once.
func (c *Contract) missing(items []crawl.Item) []error {
	type lack struct{ first, n int }
	lacks := make(map[string]*lack)
	for k := range items {
		for _, name := range c.Scrapes {
			if items[k].Has(name) {
				continue
			}
			if lacks[name] == nil {
				lacks[name] = &lack{first: k}
			}
			lacks[name].n++
		}
	}
	var errs []error
	for _, name := range c.Scrapes {
		if l := lacks[name]; l != nil {
			errs = append(errs, fmt.Errorf("field %q is missing in %d of %d items, first in number %d", name, l.n, len(items), l.first+1))
		}
	}
	return errs
}

// strangers names the callbacks and errbacks of requests that are not there.
func strangers(s *Spider, requests []*crawl.Request) []error {
	seen := make(map[string]bool)
	var errs []error
	once := func(text string, req *crawl.Request) {
		if !seen[text] {
			seen[text] = true
			errs = append(errs, fmt.Errorf("request for %s names the %s, which the spider does not have", weburl.Shown(req.URL), text))
		}
	}
	for _, req := range requests {
		if !s.HasCallback(req.Callback) {
			once(fmt.Sprintf("callback %q", req.Callback), req)
		}
		if req.Errback != "" && s.Errbacks[req.Errback] == nil {
			once(fmt.Sprintf("errback %q", req.Errback), req)
		}
	}
	return errs
}

// checkContracts says what is wrong with a spider's contracts.
func checkContracts(s *Spider) error {
	var errs []error
	for k := range s.Contracts {
		c := &s.Contracts[k]
		if err := c.check(s); err != nil {
			errs = append(errs, fmt.Errorf("contract %d, for %s: %w", k+1, weburl.Shown(c.URL), err))
		}
	}
	return errors.Join(errs...)
}

func (c *Contract) check(s *Spider) error {
	u, err := weburl.Parse(c.URL)
	switch {
	case c.URL == "":
		return errors.New("it has no URL")
	case err != nil:
		return err
	case !extract.Fetchable(u):
		return fmt.Errorf("nothing fetches %s URLs", u.Scheme())
	case !s.HasCallback(c.Callback):
		return fmt.Errorf("there is no callback %q; there are %s", c.CallbackName(), strings.Join(s.CallbackNames(), ", "))
	case c.Items.wrong() || c.Requests.wrong():
		return fmt.Errorf("no number is %v", firstWrong(c.Items, c.Requests))
	case slices.Contains(c.Scrapes, ""):
		return errors.New("a field that it scrapes has no name")
	}
	return nil
}

// firstWrong is the first of the counts that is wrong.
func firstWrong(counts ...Count) Count {
	return counts[slices.IndexFunc(counts, Count.wrong)]
}
