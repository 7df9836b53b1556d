// Package spider is the contract of what people write: a [Spider], made of a
// start, callbacks and legs (Scrapy's SEP-016), and of the middlewares that
// stand between it and the engine.
//
// The middlewares that are shipped are in package spidermw, the legs in package
// legs. Fetching, admitting and keeping are others' business: a callback gets a
// page and says what it found.
package spider

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
)

// DefaultCallback is the name of [Spider.Parse]: a request that names no
// callback comes back to it.
const DefaultCallback = "parse"

// A Callback reads one page and gives what it found to out. It is safe for
// concurrent use, fetches nothing, and may run more than once for a page. An
// error fails the page, what was given before it still counts; a
// *crawl.CloseSpider closes the job instead.
type Callback func(ctx context.Context, page *Page, out *Output) error

// An Errback hears of a request that failed: [Page.Failure] says how. If the
// failure was a response that a middleware refused, the page has it too.
type Errback = Callback

// Results are what came of a page or of a start, one after the other. An error
// is the last element. They are worked off as they come and never collected,
// so a page with 100,000 links needs no memory for them.
type Results = iter.Seq2[crawl.Result, error]

// A Spider is a value: a name, what it starts with and what it does with
// pages. It does not change after it is registered.
type Spider struct {
	// Name is unique in a project: 1 to 200 letters, digits and . _ -
	Name string

	// AllowedDomains keep the crawl to these domains and their subdomains.
	// Empty allows every domain.
	AllowedDomains []string

	// StartURLs are what the crawl begins with, unless the job brings its
	// own or Start is set.
	StartURLs []string

	// Start gives the start requests (and items) where StartURLs do not
	// suffice. It may be read in slices, each by another process, so it must
	// give the same elements in the same order each time.
	Start func(ctx context.Context, start Start) Results

	// Parse is the callback of requests that name none.
	Parse Callback

	// Callbacks and Errbacks are found by the names in requests.
	Callbacks map[string]Callback
	Errbacks  map[string]Errback

	// Legs run beside the callbacks, in order.
	Legs []Leg

	// CallbackLegs are the legs of one callback alone, by its name. They read
	// its pages after its function, or in its place if there is none, and
	// what it and they give passes their hooks before those of Legs.
	CallbackLegs map[string][]Leg

	// HandleStatusList names the statuses outside 200 to 299 that the
	// callbacks want to see.
	HandleStatusList []int

	// Settings are the spider's own (custom_settings), between those of the
	// project and those of the job.
	Settings map[string]any

	// Contracts say what the callbacks make of pages as they are on the web,
	// for `skitter check`.
	Contracts []Contract

	// CheckArgs says what is wrong with a job's arguments before the job
	// starts. Nil takes any.
	CheckArgs func(args map[string]string) error

	// promised are the callbacks that the legs say they bring, while they are
	// bound.
	promised map[string]bool
}

// HasCallback reports whether the spider has a callback of a name, "" being
// that of [DefaultCallback], so that a leg can check in SetSpider what it sends
// requests to. What its legs bring counts, also of those that are bound later.
func (s *Spider) HasCallback(name string) bool {
	if name == "" || name == DefaultCallback {
		name = DefaultCallback
		if s.Parse != nil || len(s.Legs) > 0 {
			return true
		}
	}
	return s.Callbacks[name] != nil || len(s.CallbackLegs[name]) > 0 || s.promised[name]
}

// CallbackNames are the names of the callbacks there are, sorted.
func (s *Spider) CallbackNames() []string {
	names := make(map[string]bool)
	for name := range s.Callbacks {
		names[name] = true
	}
	for name := range s.CallbackLegs {
		names[name] = true
	}
	if s.HasCallback(DefaultCallback) {
		names[DefaultCallback] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// A Start is what the start of a job knows.
type Start struct {
	Job crawl.Job
	// Args are the job's arguments (-a NAME=VALUE).
	Args map[string]string
	// URLs are the job's own start URLs; empty if it has none.
	URLs []string
	// Requests, if not nil, are what the job starts with, in place of URLs
	// and of what the spider says. They come in the same order each time.
	Requests Results
}

// A Leg is a small, tested, reusable part of a spider. Each hook may be nil. A
// response goes to the spider's callback and to every leg, and what they give
// is joined in that order; then each request and each item passes every leg's
// hook in turn. Start requests pass them too.
type Leg struct {
	// Name is unique in a spider, sub-legs included; errors and drops are
	// counted with it.
	Name string

	// SetSpider is called once, before anything else, with the spider at the
	// top, and returns the leg as it is to be used there; so one leg value
	// serves two spiders. Nil uses the leg as it stands.
	SetSpider func(top *Spider) (Leg, error)

	// Start gives requests (and items) to start with, after those of the
	// spider and like them: not if the job brings its own, and in the same
	// order each time. Legs of one callback alone start nothing.
	Start func(ctx context.Context, start Start) Results

	// ProcessResponse reads each page.
	ProcessResponse Callback

	// ProcessRequest changes a request on its way out; nil drops it. The
	// page is nil for start requests.
	ProcessRequest func(ctx context.Context, page *Page, req *crawl.Request) (*crawl.Request, error)

	// ProcessItem changes an item on its way out; nil drops it. The page is
	// nil for what the start gave.
	ProcessItem func(ctx context.Context, page *Page, item *crawl.Item) (*crawl.Item, error)

	// Callbacks, Errbacks and CallbackLegs join those of the spider, for
	// requests that the leg gives. A name that is there already is a mistake.
	Callbacks    map[string]Callback
	Errbacks     map[string]Errback
	CallbackLegs map[string][]Leg

	// Route is the request by which the leg asks for a URL where it finds a
	// link to it, and false if it would pass the link over, as far as the URL
	// alone tells. `skitter parse --rules` asks; nil has no rules for links.
	Route func(url string) (*crawl.Request, bool)

	// Legs are sub-legs; each runs right after this leg.
	Legs []Leg
}

// A Middleware stands between the engine and a spider, with Scrapy's four
// hooks; each may be nil. The first in a list is the nearest to the engine.
type Middleware struct {
	// Name names it in errors.
	Name string

	// ProcessStart may change what the start gives. It runs from the spider
	// to the engine.
	ProcessStart func(ctx context.Context, start Start, r Results) Results

	// ProcessInput sees each page before its callback, from the engine to
	// the spider. An error skips the rest and the callback: the request's
	// errback is called, or without one the exception hooks are.
	ProcessInput func(ctx context.Context, page *Page) error

	// ProcessOutput may change what a page gave, from the spider to the
	// engine. An error that it keeps to itself is given all the same; what it
	// gives that is not either a request or an item is an [InvalidOutput].
	ProcessOutput func(ctx context.Context, page *Page, r Results) Results

	// ProcessException is asked about an error of a callback, or of a
	// middleware nearer to the spider, from the spider to the engine. The
	// first that handles it ends the matter, and the results it returns (nil
	// for none) pass the output hooks of those nearer to the engine. It is
	// asked neither about an [InvalidOutput] nor about a failed download.
	ProcessException func(ctx context.Context, page *Page, err error) (r Results, handled bool)
}
