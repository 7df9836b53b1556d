package downloadermw

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/weburl"
)

// ReasonRedirectMaxTimes is the reason of a failure that was redirected more
// than REDIRECT_MAX_TIMES.
const ReasonRedirectMaxTimes = "redirect-max-times"

// hops make the requests that Redirect and MetaRefresh put in the place of
// others.
type hops struct {
	settings settings.Settings
	referer  func(from *crawl.Response, target *crawl.Request) string // nil for none
	log      *slog.Logger
}

// A hop is where a response sends its request.
type hop struct {
	target weburl.URL
	reason string
	asGET  bool // whatever the method was
}

// to is the verdict that sends a request on its hop, or that its chain is too
// long.
func (h hops) to(req *crawl.Request, resp *crawl.Response, hop hop) error {
	if len(req.RedirectURLs) >= h.settings.RedirectMaxTimes {
		h.log.Debug("max redirections reached", "url", shown(req), "redirects", len(req.RedirectURLs))
		return &crawl.Failure{
			Reason: ReasonRedirectMaxTimes, Message: fmt.Sprintf("max redirections reached: %d", len(req.RedirectURLs)), Request: req,
		}
	}
	next := h.request(req, resp, hop)
	h.log.Debug("redirecting", "reason", hop.reason, "from", shown(req), "to", shown(next))
	return &crawl.Instead{Request: next, Reason: hop.reason}
}

// request makes the request for the target.
func (h hops) request(req *crawl.Request, resp *crawl.Response, hop hop) *crawl.Request {
	next := req.Clone()
	next.URL = hop.target.String()
	next.Priority += h.settings.RedirectPriorityAdjust
	next.RetryTimes = 0
	next.RedirectURLs = append(next.RedirectURLs, req.URL)
	next.RedirectReasons = append(next.RedirectReasons, hop.reason)
	next.DontFilter = next.DontFilter || visited(next.RedirectURLs, hop.target)

	if hop.asGET {
		next.Method, next.Body = http.MethodGet, nil
		for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location"} {
			next.Headers.Del(name)
		}
	}
	if from, err := weburl.Parse(req.URL); err != nil || from.Origin() != hop.target.Origin() {
		next.Headers.Del("Authorization")
		next.Headers.Del("Cookie")
		for _, name := range h.settings.RedirectDropHeaders {
			next.Headers.Del(name)
		}
	}
	tells := req.Headers.Get("Referer") != ""
	next.Headers.Del("Referer")
	if tells && h.referer != nil {
		if referer := h.referer(resp, next); referer != "" {
			next.SetHeader("Referer", referer)
		}
	}
	return next
}

// visited reports whether the chain has been at the target, as the dupefilter
// sees it.
func visited(chain []string, target weburl.URL) bool {
	canonical := weburl.Canonical(target)
	return slices.ContainsFunc(chain, func(rawURL string) bool {
		u, err := weburl.Parse(rawURL)
		return err == nil && weburl.Canonical(u) == canonical
	})
}
