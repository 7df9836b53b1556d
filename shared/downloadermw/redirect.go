package downloadermw

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/weburl"
)

// RedirectOptions are what Redirect and MetaRefresh want to know of the spider.
type RedirectOptions struct {
	// HandleStatusList are the statuses that the spider's callbacks want to
	// see (handle_httpstatus_list). Redirects among them are not followed.
	HandleStatusList []int

	// Referer returns the Referer that the target is asked with, "" for none.
	// It is asked only if the request that was redirected had one. Nil means
	// none.
	Referer func(from *crawl.Response, target *crawl.Request) string
}

// Redirect puts the target of a redirect in the place of the request that was
// redirected, with a *crawl.Instead whose reason is the status. After
// REDIRECT_MAX_TIMES the request fails as "redirect-max-times".
//
// A response passes unchanged if it has no Location that leads to an http or
// https page, or if somebody wants to see it: request options DontRedirect,
// HandleStatusList, HandleStatusAll, and the spider's list.
//
// The target keeps what the request has, with REDIRECT_PRIORITY_ADJUST added to
// its priority and its retries begun anew. As in browsers, a POST that meets 301
// or 302 becomes a GET, and so does anything but GET and HEAD at 303. To another
// origin (scheme, host or port) go neither Authorization nor Cookie nor what
// REDIRECT_DROP_HEADERS names, and what went never comes back. A target that
// the chain has visited is not filtered: some sites set a cookie and send you
// back.
func Redirect(s settings.Settings, opts RedirectOptions, log *slog.Logger) downloader.Middleware {
	if !s.RedirectEnabled {
		return off
	}
	r := &redirect{hops: hops{settings: s, referer: opts.Referer, log: log}, opts: opts}
	return downloader.Hooks{ProcessResponse: r.response}.Middleware()
}

type redirect struct {
	hops
	opts RedirectOptions
}

func (r *redirect) response(_ context.Context, req *crawl.Request, resp *crawl.Response) (*crawl.Response, error) {
	if r.wanted(req, resp.Status) {
		return resp, nil
	}
	target, ok := redirectTarget(req, resp)
	if !ok {
		return resp, nil
	}
	return nil, r.to(req, resp, hop{target: target, reason: strconv.Itoa(resp.Status), asGET: becomesGET(req.HTTPMethod(), resp.Status)})
}

// wanted reports whether a callback is to see the redirect itself.
func (r *redirect) wanted(req *crawl.Request, status int) bool {
	return req.DontRedirect || req.HandleStatusAll ||
		slices.Contains(req.HandleStatusList, status) || slices.Contains(r.opts.HandleStatusList, status)
}

// becomesGET follows what browsers do. Source: Fetch standard, HTTP-redirect
// fetch.
func becomesGET(method string, status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound:
		return method == http.MethodPost
	case http.StatusSeeOther:
		return method != http.MethodGet && method != http.MethodHead
	}
	return false
}

// redirectTarget is where a response sends the request, and whether it does: to
// an http or https page.
func redirectTarget(req *crawl.Request, resp *crawl.Response) (weburl.URL, bool) {
	switch resp.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return weburl.URL{}, false
	}
	location := resp.Headers.Get("Location")
	base, err := weburl.Parse(req.URL)
	if location == "" || err != nil {
		return weburl.URL{}, false
	}
	target, err := base.Resolve(escaped(location))
	if err != nil || target.Scheme() != "http" && target.Scheme() != "https" {
		return weburl.URL{}, false
	}
	if fragment := base.Fragment(); fragment != "" && !strings.Contains(location, "#") {
		if with, err := weburl.Parse(target.String() + "#" + fragment); err == nil {
			target = with
		}
	}
	return target, true
}

// escaped percent-encodes the bytes of a Location that is not UTF-8, as they
// came: their encoding is the server's own.
func escaped(location string) string {
	if utf8.ValidString(location) {
		return location
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(location) {
		c := location[i]
		if c < utf8.RuneSelf {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}
