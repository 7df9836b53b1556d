package downloadermw

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
)

// Attempts are the limits of trying a request again, for one job: those of the
// middleware [Retry], and of the spider that asks for another attempt at a page.
// They hold where RETRY_ENABLED is false, too, which switches off the middleware
// alone.
type Attempts struct {
	settings settings.Settings
	stats    *stats.Collector
	log      *slog.Logger
}

// NewAttempts returns the limits that the settings set.
func NewAttempts(s settings.Settings, st *stats.Collector, log *slog.Logger) Attempts {
	return Attempts{settings: s, stats: st, log: log}
}

// Left is how many more times a request may be tried: RETRY_TIMES, or its own
// MaxRetryTimes, less those that it was; none with DontRetry.
func (a Attempts) Left(req *crawl.Request) int {
	if req.DontRetry {
		return 0
	}
	most := a.settings.RetryTimes
	if req.MaxRetryTimes != nil {
		most = *req.MaxRetryTimes
	}
	return max(most-req.RetryTimes, 0)
}

// Again is the verdict on a spider's wish for another attempt, with the wait and
// the priority that a retry of the middleware would have: the wait is longer if
// the spider wants it so, and a priority of its own counts instead. It is nil if
// no attempt is left.
func (a Attempts) Again(req *crawl.Request, want *crawl.Retry) *crawl.Retry {
	verdict := a.again(req, cmp.Or(want.Reason, crawl.Unspecified), "", want.After)
	if verdict != nil && want.Priority != 0 {
		verdict.Priority = want.Priority
	}
	return verdict
}

// again is the verdict of another attempt, which waits atLeast, or nil if there
// is none left or none is wanted. The message of a failure is for the log.
func (a Attempts) again(req *crawl.Request, reason, message string, atLeast time.Duration) *crawl.Retry {
	if req.DontRetry {
		return nil
	}
	if a.Left(req) == 0 {
		a.stats.Inc("retry/max_reached")
		level, _ := a.giveUpLevel(req)
		a.log.Log(context.Background(), level, "gave up retrying", "url", shown(req), "attempts", req.RetryTimes+1, "reason", reason, "message", message)
		return nil
	}
	a.stats.Inc("retry/count")
	a.stats.Inc("retry/reason_count/" + reason)
	wait := min(max(a.backoff(req.RetryTimes), atLeast), a.settings.RetryMaxDelay)
	a.log.Debug("retrying", "url", shown(req), "attempts", req.RetryTimes+1, "reason", reason, "message", message, "after", wait)
	priority := a.settings.RetryPriorityAdjust
	if req.PriorityAdjust != nil {
		priority = *req.PriorityAdjust
	}
	return &crawl.Retry{Reason: reason, After: wait, Priority: priority}
}

// giveUpLevel is the level at which giving up on a request is logged. Beside an
// error it is that of the setting.
func (a Attempts) giveUpLevel(req *crawl.Request) (slog.Level, error) {
	if req.GiveUpLogLevel == "" {
		return a.settings.RetryGiveUpLogLevel, nil
	}
	level, err := settings.ParseLevel(req.GiveUpLogLevel)
	if err != nil {
		return a.settings.RetryGiveUpLogLevel, fmt.Errorf("give_up_log_level: %w", err)
	}
	return level, nil
}

// backoff is the wait after a number of retries: doubled with each, so that a
// host that is down is not asked in vain, and varied by 10 %, so that requests
// that failed together do not come back together.
func (a Attempts) backoff(retries int) time.Duration {
	wait := a.settings.RetryDelay
	for range retries {
		if wait >= a.settings.RetryMaxDelay {
			break // no overflow
		}
		wait *= 2
	}
	wait = min(wait, a.settings.RetryMaxDelay)
	return time.Duration(float64(wait) * (0.9 + 0.2*rand.Float64()))
}
