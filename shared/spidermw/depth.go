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
// priority once for each link. Start requests have depth 0 and are untouched. A
// request with DepthReset has depth 0 again.
//
// Stats: request_depth_count/N for each depth N, of which the engine makes
// request_depth_max, and with DEPTH_STATS_VERBOSE shows them; depth 0 is counted
// by the pages that come back. depth/request_ignored_count for what was dropped.
func Depth(s settings.Settings, st *stats.Collector, log *slog.Logger) spider.Middleware {
	var warned sync.Once
	return spider.Middleware{
		Name: "Depth",
		ProcessOutput: func(_ context.Context, page *spider.Page, r spider.Results) spider.Results {
			depth := page.Request.Depth + 1
			var kept, dropped int64
			counted := requests(r, func(req *crawl.Request) bool {
				if req.DepthReset {
					req.Depth, req.DepthReset = 0, false
					return true
				}
				req.Depth = depth
				req.Priority -= depth * s.DepthPriority
				if s.DepthLimit > 0 && depth > s.DepthLimit {
					warned.Do(func() {
						log.Debug("ignoring link: it is too deep; further ones are not logged", "limit", s.DepthLimit, "url", shown(req.URL))
					})
					dropped++
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
				defer func() {
					st.Add("request_depth_count/"+strconv.Itoa(depth), kept)
					st.Add("depth/request_ignored_count", dropped)
				}()
				counted(yield)
			}
		},
	}
}
