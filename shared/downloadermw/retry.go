package downloadermw

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
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
// of RETRY_HTTP_CODES or the request failed of the network. It waits RETRY_DELAY
// before the first, twice as long before each further one, 10 % more or less,
// or as long as the server's Retry-After asks if that is more, but never longer
// than RETRY_MAX_DELAY. After RETRY_TIMES retries the last response or failure
// is passed on, a response with the flag "gave-up".
//
// Request options: DontRetry, MaxRetryTimes. Stats: retry/count,
// retry/reason_count/<reason>, retry/max_reached.
func Retry(s settings.Settings, st *stats.Collector, log *slog.Logger, now func() time.Time) downloader.Middleware {
	if !s.RetryEnabled {
		return off
	}
	r := &retry{settings: s, stats: st, log: log, now: now}
	return downloader.Hooks{ProcessResponse: r.response, ProcessException: r.failure}.Middleware()
}

// retriedReasons are those failures that may pass. It is Scrapy's
// RETRY_EXCEPTIONS; a body that cannot be unpacked is added, which Scrapy meant
// to retry. A bad certificate, a forbidden address or a body that is too large
// stays so.
func retriedReasons() []string {
	return []string{
		handlers.ReasonBadResponse, handlers.ReasonConnect, handlers.ReasonDataloss, handlers.ReasonDNS,
		handlers.ReasonReset, handlers.ReasonTimeout, handlers.ReasonTLS, ReasonBadEncoding,
	}
}

type retry struct {
	settings settings.Settings
	stats    *stats.Collector
	log      *slog.Logger
	now      func() time.Time
}

func (r *retry) response(_ context.Context, req *crawl.Request, resp *crawl.Response) (*crawl.Response, error) {
	if !slices.Contains(r.settings.RetryHTTPCodes, resp.Status) {
		return resp, nil
	}
	wait := retryAfter(resp.Headers, r.now())
	if again := r.again(req, statusReason(resp.Status), wait); again != nil {
		return nil, again
	}
	resp.Flags = append(resp.Flags, crawl.FlagGaveUp)
	return resp, nil
}

func (r *retry) failure(_ context.Context, req *crawl.Request, err error) (*crawl.Response, error) {
	var failure *crawl.Failure
	if !errors.As(err, &failure) || !slices.Contains(retriedReasons(), failure.Reason) {
		return nil, err
	}
	if again := r.again(req, failure.Reason, 0); again != nil {
		return nil, again
	}
	return nil, err
}

// again is the verdict of another attempt, or nil if there is none left.
func (r *retry) again(req *crawl.Request, reason string, atLeast time.Duration) error {
	if req.DontRetry {
		return nil
	}
	most := r.settings.RetryTimes
	if req.MaxRetryTimes != nil {
		most = *req.MaxRetryTimes
	}
	if req.RetryTimes >= most {
		r.stats.Inc("retry/max_reached")
		r.log.Error("gave up retrying", "url", shown(req), "attempts", req.RetryTimes+1, "reason", reason)
		return nil
	}
	r.stats.Inc("retry/count")
	r.stats.Inc("retry/reason_count/" + reason)
	wait := min(max(r.backoff(req.RetryTimes), atLeast), r.settings.RetryMaxDelay)
	r.log.Debug("retrying", "url", shown(req), "attempts", req.RetryTimes+1, "reason", reason, "after", wait)
	return &crawl.Retry{Reason: reason, After: wait, Priority: r.settings.RetryPriorityAdjust}
}

// backoff is the wait after a number of retries: doubled with each, so that a
// host that is down is not asked in vain, and varied by 10 %, so that requests
// that failed together do not come back together.
func (r *retry) backoff(retries int) time.Duration {
	wait := r.settings.RetryDelay
	for range retries {
		if wait >= r.settings.RetryMaxDelay {
			break // no overflow
		}
		wait *= 2
	}
	wait = min(wait, r.settings.RetryMaxDelay)
	return time.Duration(float64(wait) * (0.9 + 0.2*rand.Float64()))
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
