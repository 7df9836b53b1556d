package spidermw

import (
	"context"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// Start marks the requests of the start (Start, Scrapy's is_start_request), also
// those that legs and other middlewares add to it, since it stands nearest to the
// engine.
func Start() spider.Middleware {
	return spider.Middleware{
		Name: "Start",
		ProcessStart: func(_ context.Context, _ spider.Start, r spider.Results) spider.Results {
			return requests(r, func(req *crawl.Request) bool {
				req.Start = true
				return true
			})
		},
	}
}
