package handlers

import (
	"fmt"
	"log/slog"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Scope refuses, before it becomes work, what no handler fetches, and what the
// web may not ask for: it returns a *crawl.Drop for
//
//	unsupported-scheme   a URL that has no handler
//	forbidden-scheme     a URL that is neither of http, https nor data, found on
//	                     a page of another scheme
//
// from is the request of the page that req was found on, or that a redirect
// leads away from; it is nil for a start request. So a page of the web names no
// file of this machine, no object of S3 and nothing of a scheme of the project's
// own, while a saved page leads to the files beside it. Whether a link or a
// callback's own thought is the source cannot be seen, so a callback that means
// it says so.
//
// Request options: AllowScheme, DownloadHandler. Stats: scheme/unsupported,
// scheme/forbidden.
func Scope(handlers map[string]downloader.Handler, st *stats.Collector, log *slog.Logger) func(from, req *crawl.Request) error {
	refuse := func(req *crawl.Request, reason, count string) error {
		st.Inc(count)
		log.Debug("request dropped", "reason", reason, "url", weburl.Shown(req.URL))
		return &crawl.Drop{Reason: reason}
	}
	return func(from, req *crawl.Request) error {
		scheme := schemeOf(req.URL)
		if req.DownloadHandler == "" && handlers[scheme] == nil {
			return refuse(req, ReasonUnsupportedScheme, "scheme/unsupported")
		}
		if from == nil || ofTheWeb(scheme) || scheme == schemeOf(from.URL) || req.AllowScheme {
			return nil
		}
		return refuse(req, ReasonForbiddenScheme, "scheme/forbidden")
	}
}

// ofTheWeb reports whether any page may name a URL of that scheme: what comes
// of it is nothing that others could not have.
func ofTheWeb(scheme string) bool { return scheme == "http" || scheme == "https" || scheme == "data" }

// CheckScheme says what is wrong with an address that somebody asks for: that
// nothing here fetches it.
func CheckScheme(handlers map[string]downloader.Handler, url string) error {
	if scheme := schemeOf(url); handlers[scheme] == nil {
		// The rest is not shown: it may hold a password.
		return fmt.Errorf("url %q: nothing here fetches %s URLs%s; there are handlers of %s", scheme+":…", scheme, hint(scheme), Names(handlers))
	}
	return nil
}
