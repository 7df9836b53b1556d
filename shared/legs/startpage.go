package legs

import (
	"context"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// isStart reports whether a page was asked for by the start, and nobody has said
// who reads it.
func isStart(req *crawl.Request) bool {
	_, ruled := req.Meta[metaRuleLeg]
	return req.Start && req.Callback == "" && !ruled
}

// A processor changes a request, or drops it with nil; it may be nil itself.
type processor func(*spider.Page, *crawl.Request) *crawl.Request

// readAs has the callback of a request read a page that the request would ask
// for once more, with the request's arguments and meta. Nothing is done for a
// request that the leg's processor drops or sends elsewhere, for one that is not
// filtered, since it does fetch the page again, and for a callback that has read
// the page.
func readAs(ctx context.Context, page *spider.Page, out *spider.Output, req *crawl.Request, process processor) error {
	url := req.URL
	if process != nil {
		req = process(page, req)
	}
	if req == nil || req.URL != url || req.DontFilter || out.Called(req.Callback) {
		return nil
	}
	own := page.Request
	as := *own
	as.CBKwargs, as.Meta = req.CBKwargs, own.Meta.Clone()
	for name, value := range req.Meta {
		if as.Meta == nil {
			as.Meta = make(crawl.Values)
		}
		as.Meta[name] = value
	}
	page.Request = &as
	defer func() { page.Request = own }()
	return out.Call(ctx, req.Callback)
}
