package downloadermw

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/stats"
)

// attempts are the limits of trying a request again, for one job.
type attempts struct {
	settings settings.Settings
	stats    *stats.Collector
	log      *slog.Logger
}

// again is the verdict of another attempt, which waits atLeast, or nil if there
// is none left or none is wanted.
func (a attempts) again(req *crawl.Request, reason string, atLeast time.Duration) *crawl.Retry {
	if req.DontRetry {
		return nil
	}
	most := a.settings.RetryTimes
	if req.MaxRetryTimes != nil {
		most = *req.MaxRetryTimes
	}
	if req.RetryTimes >= most {
		a.stats.Inc("retry/max_reached")
		level, _ := a.giveUpLevel(req)
		a.log.Log(context.Background(), level, "gave up retrying", "url", shown(req), "attempts", req.RetryTimes+1, "reason", reason)
		return nil
	}
	a.stats.Inc("retry/count")
	a.stats.Inc("retry/reason_count/" + reason)
	wait := min(max(a.backoff(req.RetryTimes), atLeast), a.settings.RetryMaxDelay)
	a.log.Debug("retrying", "url", shown(req), "attempts", req.RetryTimes+1, "reason", reason, "after", wait)
	priority := a.settings.RetryPriorityAdjust
	if req.PriorityAdjust != nil {
		priority = *req.PriorityAdjust
	}
	return &crawl.Retry{Reason: reason, After: wait, Priority: priority}
}

// giveUpLevel is the level at which giving up on a request is logged. Beside an
// error it is that of the setting.
func (a attempts) giveUpLevel(req *crawl.Request) (slog.Level, error) {
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
func (a attempts) backoff(retries int) time.Duration {
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
