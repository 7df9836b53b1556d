package spider

import (
	"errors"
	"fmt"

	"github.com/skitterhq/skitter/shared/crawl"
)

// An InvalidOutput is what was given that is neither a request nor an item. It
// is a mistake in the code that gave it, so no exception hook is asked about it:
// one that handles everything would hide it.
type InvalidOutput struct {
	// Err says what was wrong.
	Err error
}

func (e *InvalidOutput) Error() string { return "invalid output: " + e.Err.Error() }

// Unwrap returns Err.
func (e *InvalidOutput) Unwrap() error { return e.Err }

// checked ends results at one that is not either a request or an item.
func checked(from string, r Results) Results {
	return func(yield func(crawl.Result, error) bool) {
		for res, err := range r {
			if err == nil && (res.Request == nil) == (res.Item == nil) {
				what := "neither a request nor an item"
				if res.Item != nil {
					what = "a request and an item in one"
				}
				err = &unhandled{fmt.Errorf("%s: %w", from, &InvalidOutput{errors.New("a result is " + what)})}
			}
			if !yield(res, err) || err != nil {
				return
			}
		}
	}
}
