package crawl

import (
	"fmt"
	"slices"
	"time"

	"github.com/skitterhq/skitter/shared/weburl"
)

// The verdicts. An error that a middleware, a callback, a leg or a pipeline
// step returns answers one question: what becomes of the message?
//
//	nil           done
//	*Drop         done without a result; counted by its reason
//	*Retry        tried again later; costs an attempt
//	*Later        not now: sent again with a delay; costs nothing
//	*Instead      done; another request takes its place
//	*CloseSpider  done, and the job is closed
//	any other     a failure: of the request, the page or the item
//
// They are found with [errors.As], so they may be wrapped.

// A Drop ends a message without a result. It is not a failure.
type Drop struct {
	// Reason is a short, stable name, such as "robots" or "offsite".
	Reason string
}

func (e *Drop) Error() string { return "dropped: " + e.Reason }

// Unspecified is the reason of a [Retry] that gives none, as in Scrapy.
const Unspecified = "unspecified"

// A Retry asks for another attempt. From a spider it is a wish, which the limits
// of retries grant or not; see spider.Page.Retry.
type Retry struct {
	// Reason is a short, stable name for stats.
	Reason string
	// After is the least time to wait; it may be zero.
	After time.Duration
	// Priority is added to the request's priority.
	Priority int
}

func (e *Retry) Error() string {
	return fmt.Sprintf("to be tried again after %s: %s", e.After, e.Reason)
}

// A Later says that the request could not have its turn. It passes up through
// the middlewares untouched: no hook, retry or counter sees it.
type Later struct {
	// At is when the turn is expected.
	At time.Time
	// Queued is true when At is a place in the slot's line, which the request
	// keeps when it comes back.
	Queued bool
	// Why is a short, stable name: "slot", "robots".
	Why string
}

func (e *Later) Error() string { return "not before " + e.At.Format(time.RFC3339Nano) + ": " + e.Why }

// An Instead puts another request in the place of the one that was asked for,
// as a redirect does.
type Instead struct {
	Request *Request
	// Reason says why, such as "302" or "meta refresh".
	Reason string
}

func (e *Instead) Error() string { return "instead " + weburl.Shown(e.Request.URL) + ": " + e.Reason }

// Target returns the request to make in the place of the one that was asked
// for, at its first attempt. Headers that the one asked for did not have are
// left out: middlewares put them on, and the target passes the same ones. So
// they choose its proxy anew, unless the request itself named one. To another
// origin (scheme, host or port) go neither Authorization nor Cookie as they
// were, nor Cookies without a Domain, nor HTTPUser and HTTPPass without an
// HTTPAuthDomain, whoever made the target.
func (e *Instead) Target(asked *Request) *Request {
	target := e.Request.Clone()
	target.CanonicalizeHeaders()
	had := canonical(asked.Headers)
	for name := range target.Headers {
		if _, own := had[name]; !own {
			target.Headers.Del(name)
		}
	}
	if !sameOrigin(asked.URL, target.URL) {
		for _, name := range []string{"Authorization", "Cookie"} {
			if slices.Equal(target.Headers[name], had[name]) {
				target.Headers.Del(name)
			}
		}
		target.Cookies = slices.DeleteFunc(target.Cookies, func(c Cookie) bool {
			return c.Domain == "" && slices.ContainsFunc(asked.Cookies, func(o Cookie) bool { return o.Name == c.Name && o.Value == c.Value })
		})
		if target.HTTPAuthDomain == "" && target.HTTPUser == asked.HTTPUser && target.HTTPPass == asked.HTTPPass {
			target.HTTPUser, target.HTTPPass = "", ""
		}
	}
	target.Proxy = asked.Proxy
	target.RetryTimes = 0
	return target
}

func sameOrigin(a, b string) bool {
	first, err := weburl.Parse(a)
	if err != nil {
		return false
	}
	second, err := weburl.Parse(b)
	return err == nil && first.Origin() == second.Origin()
}

// A CloseSpider ends the job.
type CloseSpider struct {
	// Reason becomes the job's finish_reason; empty means "cancelled".
	Reason string
}

func (e *CloseSpider) Error() string { return "close spider: " + e.Reason }
