package downloadermw

import (
	"context"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/settings"
)

// DownloadTimeout gives each request that has no time limit of its own the
// job's, DOWNLOAD_TIMEOUT, so that the middlewares further in can read it.
func DownloadTimeout(s settings.Settings) downloader.Middleware {
	return downloader.Hooks{
		ProcessRequest: func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
			if req.DownloadTimeout == 0 {
				req.DownloadTimeout = s.DownloadTimeout
			}
			return nil, nil
		},
	}.Middleware()
}
