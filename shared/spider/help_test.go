package spider_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

const pageURL = "http://example.com/dir/page.html"

// A world is a spider with its middlewares, and a diary of what happened.
type world struct {
	mu    sync.Mutex
	diary []string
	stats stats.Collector
	mws   []spider.Middleware
}

func (w *world) note(entry string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.diary = append(w.diary, entry)
}

// chain registers the spider, which gets a name, and puts the middlewares
// before it.
func (w *world) chain(t *testing.T, s spider.Spider) *spider.Chain {
	t.Helper()
	s.Name = "test"
	registry, err := spider.NewRegistry(s)
	if err != nil {
		t.Fatal(err)
	}
	registered, err := registry.Get("test")
	if err != nil {
		t.Fatal(err)
	}
	return spider.NewChain(registered, &w.stats, w.mws...)
}

// process runs a page through the chain. Items are told by their "n", requests
// by their URL; an error comes last.
func process(t *testing.T, c *spider.Chain, page *spider.Page) ([]string, error) {
	t.Helper()
	return gather(t, c.Process(context.Background(), page))
}

func gather(t *testing.T, r spider.Results) (given []string, failed error) {
	t.Helper()
	for res, err := range r {
		if failed != nil {
			t.Errorf("something follows the error: %v, %v", res, err)
		}
		switch {
		case err != nil:
			failed = err
		case res.Item != nil:
			n, _ := res.Item.Get("n")
			s, _ := n.(string)
			given = append(given, s)
		default:
			given = append(given, res.Request.URL)
		}
	}
	return given, failed
}

// newPage makes a page of HTML that was asked for by a request.
func newPage(html string, change func(*crawl.Request)) *spider.Page {
	req := &crawl.Request{URL: pageURL}
	if change != nil {
		change(req)
	}
	resp := &crawl.Response{
		URL: pageURL, Status: 200, Body: []byte(html), Request: req,
		Headers: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
	}
	return spider.NewPage(resp, nil, crawl.Job{}, nil)
}

func named(callback, errback string) func(*crawl.Request) {
	return func(r *crawl.Request) { r.Callback, r.Errback = callback, errback }
}

// item is an item as a callback may give it.
func item(n string) map[string]string { return map[string]string{"n": n} }

// gives is a callback that gives items and then fails, unless err is nil.
func (w *world) gives(name string, err error, items ...string) spider.Callback {
	return func(_ context.Context, _ *spider.Page, out *spider.Output) error {
		w.note(name)
		for _, n := range items {
			out.Item(item(n))
		}
		return err
	}
}

// results are results of items.
func results(items ...string) spider.Results {
	return func(yield func(crawl.Result, error) bool) {
		for _, n := range items {
			it, err := crawl.NewItem(item(n))
			if err != nil {
				panic(err)
			}
			if !yield(crawl.Result{Item: &it}, nil) {
				return
			}
		}
	}
}

// marking is a middleware that notes each hook and appends its sign to items
// on their way out. What a test wants otherwise, it replaces.
func (w *world) marking(name, sign string) spider.Middleware {
	return spider.Middleware{
		Name:         name,
		ProcessInput: func(context.Context, *spider.Page) error { w.note("in " + name); return nil },
		ProcessOutput: func(_ context.Context, _ *spider.Page, r spider.Results) spider.Results {
			return signed(r, sign)
		},
		ProcessException: func(context.Context, *spider.Page, error) (spider.Results, bool) {
			w.note("exception " + name)
			return nil, false
		},
	}
}

// signed appends a sign to each item, and passes errors on.
func signed(r spider.Results, sign string) spider.Results {
	return func(yield func(crawl.Result, error) bool) {
		for res, err := range r {
			if err == nil && res.Item != nil {
				n, _ := res.Item.Get("n")
				if err := res.Item.Set("n", n.(string)+sign); err != nil {
					panic(err)
				}
			}
			if !yield(res, err) {
				return
			}
		}
	}
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" && !(len(want) == 0 && len(got) == 0) {
		t.Errorf("%s mismatch (-want +got):\n%s", what, diff)
	}
}

// exceptions are the diary's entries of exception hooks.
func (w *world) exceptions() []string {
	return slices.DeleteFunc(slices.Clone(w.diary), func(s string) bool { return len(s) < 9 || s[:9] != "exception" })
}

var errBroken = errors.New("broken")

// three are three middlewares, the one nearest to the engine first: e, m, s.
func three(w *world) {
	w.mws = []spider.Middleware{w.marking("e", "E"), w.marking("m", "M"), w.marking("s", "S")}
}
