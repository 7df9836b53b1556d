package aws

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

const (
	// How often one call of DynamoDB is tried: a table that is throttled
	// takes seconds to split, and a stage that fails costs more than one that
	// waits. With the delays below that is about 8 s.
	rowAttempts = 8
	// The first and the longest delay between two tries.
	firstDelay   = 50 * time.Millisecond
	longestDelay = 5 * time.Second
	// For how long a batch is asked for again of which nothing gets done.
	stuckAfter = time.Minute
)

// patient makes a client of DynamoDB wait where it is throttled, without the
// SDK's quota of retries, which a few calls at once use up between them. A
// retryer that the configuration brings along is left alone.
func patient(cfg awssdk.Config) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		if cfg.Retryer == nil {
			o.Retryer = rowRetryer()
		}
	}
}

func rowRetryer() awssdk.Retryer {
	return retry.NewStandard(func(r *retry.StandardOptions) {
		r.MaxAttempts = rowAttempts
		r.RateLimiter = ratelimit.None
		r.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
			return delay(attempt), nil
		})
	})
}

// delay is how long to wait before the n-th (from 0) repetition: doubled each
// time, and spread over its second half.
func delay(n int) time.Duration {
	d := longestDelay
	if n < 16 {
		d = min(d, firstDelay<<n)
	}
	return d/2 + rand.N(d/2)
}

// A stall counts how long a batch has been waited for since something of it
// was last done.
type stall struct {
	s      *Store
	tries  int
	waited time.Duration
}

// wait waits before what is left of a batch is sent again. It fails when
// nothing has been done for [stuckAfter].
func (w *stall) wait(ctx context.Context, left int, progress bool) error {
	if progress {
		w.tries, w.waited = 0, 0
	}
	if w.waited >= stuckAfter {
		return fmt.Errorf("%d entries are left unprocessed for %s", left, w.waited.Round(time.Second))
	}
	d := delay(w.tries)
	w.tries, w.waited = w.tries+1, w.waited+d
	if err := w.s.sleep(ctx, d); err != nil {
		return fmt.Errorf("%d entries are left unprocessed: %w", left, err)
	}
	return nil
}
