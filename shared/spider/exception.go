package spider

import (
	"context"
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
)

// failed calls the errback, whose output passes the middlewares like any other.
// Without an errback, the exception hooks of the first n middlewares are asked.
// Where n is 0 the download has failed, and the hooks do not hear of an error of
// the errback either.
func (c *Chain) failed(ctx context.Context, page *Page, err error, n int) Results {
	errback, lookup := c.errback(page)
	if lookup != nil {
		// As text: a hook that handles err must not hide this mistake.
		return c.exceptionResults(ctx, page, n, fmt.Errorf("%w, which was to hear of: %s", lookup, err.Error()))
	}
	if errback == nil {
		return c.exceptionResults(ctx, page, n, err)
	}
	page.Failure = err
	r := c.throughLegs(ctx, page, c.spider.Legs, c.collect(page, func(out *Output) error {
		return errback(ctx, page, out)
	}))
	if n == 0 {
		r = unasked(r)
	}
	return c.output(ctx, page, len(c.mws), r)
}

// unasked marks an error as one that no exception hook is asked about.
func unasked(r Results) Results {
	return func(yield func(crawl.Result, error) bool) {
		for res, err := range r {
			if err != nil {
				err = &unhandled{err}
			}
			if !yield(res, err) || err != nil {
				return
			}
		}
	}
}

func (c *Chain) errback(page *Page) (Errback, error) {
	if page.Request.Errback == "" {
		return nil, nil
	}
	if eb := c.spider.Errbacks[page.Request.Errback]; eb != nil {
		return eb, nil
	}
	return nil, fmt.Errorf("unknown errback %q of spider %s", page.Request.Errback, c.spider.Name)
}

// met is what came of the errors in one stream of results.
type met struct {
	rescued   []Results // what exception hooks gave
	unhandled []error   // of which no hook wanted to know
}

// rescue hands an error that arose in r to the exception hooks of the first n
// middlewares. If one handles it, r ends there and what the hook gave is put
// aside. Otherwise the error is marked as seen, so that it passes the outer
// layers untouched.
func (c *Chain) rescue(ctx context.Context, page *Page, n int, r Results, met *met) Results {
	return func(yield func(crawl.Result, error) bool) {
		for res, err := range r {
			if err == nil {
				if !yield(res, nil) {
					return
				}
				continue
			}
			var seen *unhandled
			if !errors.As(err, &seen) {
				given, left := c.exception(ctx, page, n, err)
				if left == nil {
					met.rescued = append(met.rescued, given)
					return
				}
				err = left
			}
			met.unhandled = append(met.unhandled, err)
			yield(crawl.Result{}, err)
			return
		}
	}
}

// exception asks the exception hooks of the first n middlewares, the one
// nearest to the spider first. It returns what the first that handles the error
// gives, or else the error, marked as seen.
func (c *Chain) exception(ctx context.Context, page *Page, n int, err error) (Results, error) {
	for k := n - 1; k >= 0; k-- {
		mw := c.mws[k]
		if mw.ProcessException == nil {
			continue
		}
		var r Results
		var handled bool
		if perr := guard(nil, func() error { r, handled = mw.ProcessException(ctx, page, err); return nil }); perr != nil {
			err = errors.Join(named(mw, perr), err)
			continue
		}
		if !handled && r != nil {
			return nil, &unhandled{named(mw, &InvalidOutput{errors.New("it gave results for an error that it does not handle")})}
		}
		if handled {
			return c.output(ctx, page, k, namedResults(mw, guarded(func() Results { return r }))), nil
		}
	}
	return nil, &unhandled{err}
}

func (c *Chain) exceptionResults(ctx context.Context, page *Page, n int, err error) Results {
	r, left := c.exception(ctx, page, n, err)
	if left != nil {
		return func(yield func(crawl.Result, error) bool) { yield(crawl.Result{}, left) }
	}
	return r
}

// named adds the middleware's name to its error.
func named(mw Middleware, err error) error {
	return fmt.Errorf("%s: %w", given(mw), err)
}

// given is a middleware as who gave something.
func given(mw Middleware) string { return "spider middleware " + mw.Name }

// namedResults adds the middleware's name to an error of its own: one that has
// not been through the exception hooks yet.
func namedResults(mw Middleware, r Results) Results {
	r = checked(given(mw), r)
	return func(yield func(crawl.Result, error) bool) {
		for res, err := range r {
			var seen *unhandled
			if err != nil && !errors.As(err, &seen) {
				err = named(mw, err)
			}
			if !yield(res, err) || err != nil {
				return
			}
		}
	}
}

// joinErrors is errors.Join that leaves a single error as it is.
func joinErrors(a, b error) error {
	if a == nil {
		return b
	}
	return errors.Join(a, b)
}

// unhandled marks an error that the exception hooks have seen.
type unhandled struct{ err error }

func (e *unhandled) Error() string { return e.err.Error() }
func (e *unhandled) Unwrap() error { return e.err }
