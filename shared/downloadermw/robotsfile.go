package downloadermw

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/origins"
	"github.com/skitterhq/skitter/shared/robots"
)

const (
	// How long an answer holds: 24 h. Source: RFC 9309, section 2.4.
	robotsFresh = 24 * time.Hour
	// How long no answer holds, before the file is asked for again.
	robotsFailed = 5 * time.Minute
	// When a request comes back whose file is being fetched elsewhere, or
	// whose store gave no answer.
	robotsAgain = 5 * time.Second
	// How many redirects are followed. Source: RFC 9309, section 2.3.1.2.
	robotsRedirects = 5
)

// unanswered is the status of a row whose file gave no HTTP answer.
const unanswered = -1

// known is what is known of an origin's robots.txt. The zero value is nothing.
type known struct {
	rules        *robots.Rules
	availability robots.Availability
	expires      time.Time // of the answer
	since        time.Time // the first of the failures that still last
	size         int       // of the file

	// Somebody fetches the file, so that there is no use in asking before.
	pending time.Time
}

func knownOf(row origins.Row) known {
	rules, availability := robots.ForStatus(row.Status, row.Body)
	return known{rules: rules, availability: availability, expires: row.Expires, since: row.Since, size: len(row.Body)}
}

// lookUp returns what holds for an origin now, and has the file fetched if need
// be. The error is the verdict on the request.
func (j *robotsJob) lookUp(ctx context.Context, req *crawl.Request, origin string) (known, error) {
	for {
		k := j.cache.get(origin)
		if k.expires.After(j.now()) {
			return k, nil
		}
		if k.pending.After(j.now()) {
			return known{}, &crawl.Later{At: k.pending.Add(robotsAgain), Why: "robots"}
		}
		f, first := j.flights.join(origin)
		if first {
			return j.lead(ctx, req, origin, f)
		}
		select {
		case <-ctx.Done():
			return known{}, fmt.Errorf("waiting for the robots.txt of %s: %w", origin, ctx.Err())
		case <-f.done:
		}
		if !f.abandoned {
			return f.known, followed(f.err, req)
		}
	}
}

// lead finds the answer for all requests of this process that wait for it.
func (j *robotsJob) lead(ctx context.Context, req *crawl.Request, origin string, f *flight) (known, error) {
	f.abandoned = true // unless an answer is found, whatever happens below
	defer j.flights.land(origin, f)

	k, err := j.ask(ctx, req, origin)
	if err != nil && ctx.Err() != nil {
		return known{}, fmt.Errorf("fetching the robots.txt of %s: %w", origin, ctx.Err())
	}
	var later *crawl.Later
	if errors.As(err, &later) {
		// Who has a place in the slot's line may come a little early.
		j.cache.hold(origin, later.At.Add(-time.Second))
	} else if err == nil {
		j.cache.put(origin, k)
	}
	f.known, f.err, f.abandoned = k, err, false
	return k, err
}

// followed makes the leader's error one of another request.
func followed(err error, req *crawl.Request) error {
	var later *crawl.Later
	var failure *crawl.Failure
	switch {
	case errors.As(err, &later):
		// The place in the slot's line, if it is one, is the leader's.
		return &crawl.Later{At: later.At.Add(robotsAgain), Why: "robots"}
	case errors.As(err, &failure):
		return &crawl.Failure{Reason: failure.Reason, Message: failure.Message, Request: req}
	}
	return err
}

// ask reads the row of an origin, or else takes the lease and fetches the file.
func (j *robotsJob) ask(ctx context.Context, req *crawl.Request, origin string) (known, error) {
	row, found, err := j.store.Get(ctx, origin)
	if err != nil {
		return known{}, j.storeFault(origin, err)
	}
	if found && row.Expires.After(j.now()) {
		return knownOf(row), nil
	}
	free, err := j.store.Lease(ctx, origin, j.leaseEnd(ctx))
	if err != nil {
		return known{}, j.storeFault(origin, err)
	}
	if !free {
		return known{}, &crawl.Later{At: j.now().Add(robotsAgain), Why: "robots"}
	}
	// The last holder may have put its answer since the row was read.
	if row, found, err = j.store.Get(ctx, origin); err != nil {
		return known{}, j.storeFault(origin, err)
	}
	var verdict error
	if !found || !row.Expires.After(j.now()) {
		var status int
		var body []byte
		if status, body, verdict = j.download(ctx, req, origin); verdict == nil {
			row = j.row(row, found, status, body)
		}
	}
	// Putting gives the lease back, also without an answer and when ctx is done.
	if err := j.store.Put(context.WithoutCancel(ctx), origin, row); err != nil {
		j.log.Warn("robots.txt not kept", "origin", origin, "err", err)
	}
	return knownOf(row), verdict
}

// storeFault is the verdict when the rows cannot be had: it costs the request
// nothing.
func (j *robotsJob) storeFault(origin string, err error) error {
	j.log.Warn("robots.txt not looked up, to be tried again", "origin", origin, "err", err)
	return &crawl.Later{At: j.now().Add(robotsAgain), Why: "store"}
}

// leaseEnd is when a fetch that begins now is done or given up: two downloads,
// and never after the invocation's end.
func (j *robotsJob) leaseEnd(ctx context.Context) time.Time {
	end := j.now().Add(2 * j.settings.DownloadTimeout)
	if deadline, ok := ctx.Deadline(); ok {
		end = earlier(end, deadline)
	}
	return end
}

// row is what is kept of an answer. Status is unanswered if there was none.
func (j *robotsJob) row(old origins.Row, found bool, status int, body []byte) origins.Row {
	now := j.now()
	if _, a := robots.ForStatus(status, nil); a != robots.Unreachable {
		row := origins.Row{Status: status, Expires: now.Add(robotsFresh)}
		if a == robots.Available {
			row.Body = body[:min(len(body), robots.MaxBytes)]
		}
		return row
	}
	row := origins.Row{Status: status, Since: now}
	if found && !old.Since.IsZero() {
		row.Since = old.Since
	}
	if _, a := robots.ForStatus(old.Status, nil); found && a != robots.Unreachable {
		// RFC 9309, 2.4: a cached file may be used for longer while the
		// file is unreachable.
		row.Status, row.Body = old.Status, old.Body
	}
	// Requests wait until a time; the file is asked for once more then.
	row.Expires = now.Add(robotsFailed)
	if end := row.Since.Add(j.settings.RobotsTxtWait); end.After(now) {
		row.Expires = earlier(row.Expires, end)
	}
	return row
}

// download fetches the file through the rest of the chain. The error is the
// verdict on the request that waits for it.
func (j *robotsJob) download(ctx context.Context, req *crawl.Request, origin string) (status int, body []byte, err error) {
	j.stats.Inc("robotstxt/request_count")
	url, slot := origin+"/robots.txt", req.DownloadSlot
	for redirects := 0; ; redirects++ {
		// Neither headers nor credentials of the page go along, but it is
		// fetched by the page's way, and another proxy costs the page an attempt.
		// The rows are its cache, and know when it is to be asked for again.
		file := &crawl.Request{
			URL: url,
			Options: crawl.Options{
				DownloadSlot: slot, DontObeyRobotsTxt: true, DontCache: true, DontRedirect: true, AllowOffsite: true,
				Proxy: req.Proxy, BindAddress: req.BindAddress, DontRetry: req.DontRetry, MaxRetryTimes: req.MaxRetryTimes,
			},
			Progress: crawl.Progress{RetryTimes: req.RetryTimes},
		}
		resp, err := j.next.Fetch(ctx, file)
		var instead *crawl.Instead
		switch {
		case errors.As(err, &instead):
			status, url = http.StatusFound, instead.Request.URL
		case err != nil:
			return unanswered, nil, j.notFetched(req, err)
		default:
			status = resp.Status
			target, moved := redirectTarget(file, resp)
			if !moved {
				j.answered(status)
				return status, resp.Body, nil
			}
			url = target.String()
		}
		if redirects == robotsRedirects {
			j.answered(status)
			return status, nil, nil
		}
		slot = "" // that of the target's own host
	}
}

func (j *robotsJob) answered(status int) {
	j.stats.Inc("robotstxt/response_count")
	j.stats.Inc("robotstxt/response_status_count/" + strconv.Itoa(status))
}

// notFetched is the verdict of an error, nil if it means that the file cannot be
// had from a server that is there.
func (j *robotsJob) notFetched(req *crawl.Request, err error) error {
	var failure *crawl.Failure
	if !errors.As(err, &failure) {
		return err // a verdict on the file is one on what needs it
	}
	j.stats.Inc("robotstxt/exception_count/" + failure.Reason)
	if !slices.Contains([]string{
		handlers.ReasonBadRequest, handlers.ReasonDNS, handlers.ReasonConnect, handlers.ReasonProxy, handlers.ReasonTLS,
		handlers.ReasonCertificate, handlers.ReasonForbiddenAddress,
	}, failure.Reason) {
		return nil
	}
	return &crawl.Failure{Reason: failure.Reason, Message: "fetching robots.txt: " + failure.Message, Request: req}
}
