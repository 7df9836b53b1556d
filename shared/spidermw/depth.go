package spidermw

import (
	"context"
	"log/slog"
	"strconv"
	"sync"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// Depth counts how many links each request is away from the start, drops those
// beyond DEPTH_LIMIT (0 is no limit), and takes DEPTH_PRIORITY from a request's
// priority once for each link. Start requests have depth 0 and are untouched.
//
// Stats: request_depth_count/N for each depth N, of which the engine makes
// request_depth_max; depth 0 is counted by the pages that come back.
func Depth(s settings.Settings, st *stats.Collector, log *slog.Logger) spider.Middleware {
	var warned sync.Once
	return spider.Middleware{
		Name: "Depth",
		ProcessOutput: func(_ context.Context, page *spider.Page, r spider.Results) spider.Results {
			depth := page.Request.Depth + 1
			kept := int64(0)
			counted := requests(r, func(req *crawl.Request) bool {
				req.Depth = depth
				req.Priority -= depth * s.DepthPriority
				if s.DepthLimit > 0 && depth > s.DepthLimit {
					warned.Do(func() {
						log.Debug("ignoring link: it is too deep; further ones are not logged", "limit", s.DepthLimit, "url", shown(req.URL))
					})
					return false
				}
				kept++
				return true
			})
			return func(yield func(crawl.Result, error) bool) {
				if page.Request.Depth == 0 {
					st.Inc("request_depth_count/0")
				}
				// Once a page, as all its requests are of one depth.
				defer func() { st.Add("request_depth_count/"+strconv.Itoa(depth), kept) }()
				counted(yield)
			}
		},
	}
}
