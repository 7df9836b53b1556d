package spidermw

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// HTTPError keeps responses from callbacks that are no success. The statuses
// 200 to 299 pass, and besides them what the first of these says that says
// something:
//
//   - the request's HandleStatusAll, or its HandleStatusList,
//   - HTTPERROR_ALLOW_ALL,
//   - the spider's HandleStatusList,
//   - HTTPERROR_ALLOWED_CODES.
//
// All others go to the request's errback as a [StatusError]. Without one they
// are ignored, logged and counted.
//
// Stats: httperror/response_ignored_count, and
// httperror/response_ignored_status_count/404 for each status.
func HTTPError(s settings.Settings, st *stats.Collector, log *slog.Logger) spider.Middleware {
	return spider.Middleware{
		Name: "HTTPError",
		ProcessInput: func(_ context.Context, page *spider.Page) error {
			if handles(s, page) {
				return nil
			}
			return &StatusError{Status: page.Status}
		},
		ProcessException: func(_ context.Context, page *spider.Page, err error) (spider.Results, bool) {
			var refused *StatusError
			if !errors.As(err, &refused) {
				return nil, false
			}
			st.Inc("httperror/response_ignored_count")
			st.Inc("httperror/response_ignored_status_count/" + strconv.Itoa(refused.Status))
			log.Info("ignoring response", "status", refused.Status, "url", shown(page.Response.URL))
			return nil, true
		},
	}
}

func handles(s settings.Settings, page *spider.Page) bool {
	status, req := page.Status, page.Request
	switch {
	case status >= 200 && status <= 299, req.HandleStatusAll:
		return true
	case req.HandleStatusList != nil:
		return slices.Contains(req.HandleStatusList, status)
	case s.HTTPErrorAllowAll:
		return true
	case page.Spider != nil && page.Spider.HandleStatusList != nil:
		return slices.Contains(page.Spider.HandleStatusList, status)
	}
	return slices.Contains(s.HTTPErrorAllowedCodes, status)
}

// A StatusError is the failure of a request that was answered with a status
// which nobody asked to see. The page has the response.
type StatusError struct {
	// Status is the HTTP status.
	Status int
}

func (e *StatusError) Error() string { return fmt.Sprintf("http status %d is not handled", e.Status) }
