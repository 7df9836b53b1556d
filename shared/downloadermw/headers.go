package downloadermw

import (
	"context"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/settings"
)

// DefaultHeaders gives each request the headers of DEFAULT_REQUEST_HEADERS that
// it does not have. A header that is there without a value stays so.
func DefaultHeaders(s settings.Settings) downloader.Middleware {
	return downloader.Hooks{
		ProcessRequest: func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
			for name, values := range s.DefaultRequestHeaders {
				setDefault(req, name, values...)
			}
			return nil, nil
		},
	}.Middleware()
}

// setDefault sets a header that is not there. The name is canonical.
func setDefault(req *crawl.Request, name string, values ...string) {
	if _, given := req.Headers[name]; given {
		return
	}
	if req.Headers == nil {
		req.Headers = make(map[string][]string, 8)
	}
	req.Headers[name] = slices.Clip(values)
}
