package downloadermw

import (
	"context"
	"errors"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/weburl"
)

// off is the middleware of a setting that switches it off.
func off(next downloader.Handler) downloader.Handler { return next }

// shown is a request's URL for logs: without password, and on one line.
func shown(req *crawl.Request) string { return weburl.Shown(req.URL) }

// reasonOf is a short, stable name for an error, for stats.
func reasonOf(err error) string {
	var failure *crawl.Failure
	var drop *crawl.Drop
	switch {
	case errors.As(err, &failure):
		return failure.Reason
	case errors.As(err, &drop):
		return drop.Reason
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	}
	return "error"
}
