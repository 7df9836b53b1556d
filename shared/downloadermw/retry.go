package downloadermw

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
)

// Retry asks with a *crawl.Retry for another attempt where the response has one
// of RETRY_HTTP_CODES or the request failed for one of RETRY_EXCEPTIONS. It
// waits RETRY_DELAY before the first, twice as long before each further one,
// 10 % more or less, or as long as the server's Retry-After asks if that is
// more, but never longer than RETRY_MAX_DELAY. After RETRY_TIMES retries the
// last response or failure is passed on, a response with the flag "gave-up".
// RETRY_PRIORITY_ADJUST is added to the priority of each retry, and giving up is
// logged at RETRY_GIVE_UP_LOG_LEVEL.
//
// Request options: DontRetry, MaxRetryTimes, PriorityAdjust, GiveUpLogLevel.
// Stats: retry/count, retry/reason_count/<reason>, retry/max_reached.
func Retry(s settings.Settings, st *stats.Collector, log *slog.Logger, now func() time.Time) downloader.Middleware {
	if !s.RetryEnabled {
		return off
	}
	r := &retry{Attempts: NewAttempts(s, st, log), now: now}
	return downloader.Hooks{ProcessRequest: r.request, ProcessResponse: r.response, ProcessException: r.failure}.Middleware()
}

type retry struct {
	Attempts
	now func() time.Time
}

// request refuses what giving up could not be logged at, before anything is
// fetched.
func (r *retry) request(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
	if _, err := r.giveUpLevel(req); err != nil {
		return nil, &crawl.Failure{Reason: handlers.ReasonBadRequest, Message: err.Error(), Request: req}
	}
	return nil, nil
}

func (r *retry) response(_ context.Context, req *crawl.Request, resp *crawl.Response) (*crawl.Response, error) {
	if !slices.Contains(r.settings.RetryHTTPCodes, resp.Status) {
		return resp, nil
	}
	wait := retryAfter(resp.Headers, r.now())
	if again := r.again(req, statusReason(resp.Status), "", wait); again != nil {
		return nil, again
	}
	resp.Flags = append(resp.Flags, crawl.FlagGaveUp)
	return resp, nil
}

func (r *retry) failure(_ context.Context, req *crawl.Request, err error) (*crawl.Response, error) {
	var failure *crawl.Failure
	if !errors.As(err, &failure) || !slices.Contains(r.settings.RetryExceptions, failure.Reason) {
		return nil, err
	}
	if again := r.again(req, failure.Reason, failure.Message, 0); again != nil {
		return nil, again
	}
	return nil, err
}

// statusReason names a status in stats, as Scrapy does.
func statusReason(status int) string {
	text := http.StatusText(status)
	if text == "" {
		text = "Unknown Status"
	}
	return fmt.Sprintf("%d %s", status, text)
}

// retryAfter reads the Retry-After header: seconds, or a date. What is neither,
// or in the past, is 0. Source: RFC 9110, section 10.2.3.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second // out of range, it is the largest
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}
