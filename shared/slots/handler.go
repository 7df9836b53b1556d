package slots

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
)

// maxLease is the longest lease where the context has no deadline: longer than
// any download may take (DOWNLOAD_TIMEOUT is at most an hour), so that none
// outlives its lease.
const maxLease = time.Hour

// storeDelay is how long a request waits when its slot's row cannot be had.
const storeDelay = 5 * time.Second

// maxLate is how often a turn that came too late is asked for again before the
// request is sent back to the queue.
const maxLate = 3

type toldKey struct{}

// WithTold notes in a context the place in the line that a request was told
// before; see crawl.Later.
func WithTold(ctx context.Context, told time.Time) context.Context {
	if told.IsZero() {
		return ctx
	}
	return context.WithValue(ctx, toldKey{}, told)
}

// Handler puts turns before a handler that dials. For which slot and by which
// policy, slotOf says for each request. A request without a turn comes back as
// a *crawl.Later.
func (s *Slots) Handler(next downloader.Handler, slotOf func(context.Context, *crawl.Request) (string, Policy), log *slog.Logger) downloader.Handler {
	return downloader.HandlerFunc(func(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
		slot, policy := slotOf(ctx, req)
		turn, err := s.await(ctx, slot, policy)
		if err != nil {
			var refused *Refusal
			if errors.As(err, &refused) {
				return nil, &crawl.Later{At: refused.At, Queued: refused.Queued, Why: "slot"}
			}
			if ctx.Err() == nil {
				log.Warn("no turn, to be asked for again", "slot", slot, "err", err)
				return nil, &crawl.Later{At: s.Now().Add(storeDelay), Why: "store"}
			}
			return nil, err
		}
		defer func() {
			// The turn is given back even when ctx is done; a lease that
			// could not be given back ends by itself.
			if err := s.Release(context.WithoutCancel(ctx), turn); err != nil {
				log.Warn("turn not given back", "slot", slot, "err", err)
			}
		}()
		if end, ok := ctx.Deadline(); !ok || end.After(turn.Until) {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, turn.Until)
			defer cancel()
		}
		return next.Fetch(ctx, req)
	})
}

// await takes a turn and waits for its start. A turn whose start has passed by
// more than the slack is given up, because the gate counts from it.
func (s *Slots) await(ctx context.Context, slot string, p Policy) (*Turn, error) {
	told, _ := ctx.Value(toldKey{}).(time.Time)
	for try := 0; ; try++ {
		turn, err := s.Acquire(ctx, slot, Ask{Policy: p, Told: told, Until: s.leaseEnd(ctx)})
		if err != nil {
			return nil, err
		}
		if d := turn.Start.Sub(s.Now()); d > 0 {
			err = s.Sleep(ctx, d)
		}
		if err == nil {
			err = ctx.Err() // a worker that stood still may wake with both due
		}
		if err == nil && s.inTime(turn, p) {
			return turn, nil
		}
		if rerr := s.Release(context.WithoutCancel(ctx), turn); rerr != nil {
			return nil, rerr
		}
		if err != nil {
			return nil, err
		}
		told = turn.Start // it keeps its place
		if try == maxLate {
			return nil, &Refusal{At: s.Now(), Queued: true}
		}
	}
}

// inTime reads the clock again: this process may have stood still since the
// grant. Without a delay no start counts from the gate, so any before the
// lease's end is in time.
func (s *Slots) inTime(t *Turn, p Policy) bool {
	now := s.Now()
	if p.Delay == 0 {
		return now.Before(t.Until)
	}
	return now.Sub(t.Start) <= s.Slack
}

func (s *Slots) leaseEnd(ctx context.Context) time.Time {
	end := s.Now().Add(maxLease)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
		return deadline
	}
	return end
}
