package handlers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
)

// ByScheme hands each request to the handler of its URL's scheme. Schemes are
// in small letters. A URL with another scheme is a failure with the reason
// "unsupported-scheme".
func ByScheme(handlers map[string]downloader.Handler) downloader.Handler {
	return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		scheme, _, _ := strings.Cut(req.URL, ":")
		if h := handlers[strings.ToLower(scheme)]; h != nil {
			return h.Fetch(ctx, req)
		}
		there := strings.Join(slices.Sorted(maps.Keys(handlers)), ", ")
		return nil, &crawl.Failure{
			Reason:  ReasonUnsupportedScheme,
			Message: fmt.Sprintf("no handler for %q; there are: %s", cut(scheme, 40), there),
			Request: req,
		}
	})
}
