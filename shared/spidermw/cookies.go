package spidermw

import (
	"context"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
)

// Cookies hands the cookies of a page on to the requests that are found on it,
// as they are after the page's own: so a login flows down the requests that
// follow from it. All named jars are handed on, but not the name: a request that
// does not say its CookieJar uses the one without a name, as in Scrapy. A
// request that brings cookies along from another page, such as one that asks for
// a page again, keeps them. COOKIES_ENABLED switches it off.
//
// It has no setting, option or stat of its own; see downloadermw.Cookies, which
// sends the cookies and takes those that come back.
func Cookies(s settings.Settings) spider.Middleware {
	mw := spider.Middleware{Name: "Cookies"}
	if !s.CookiesEnabled {
		return mw
	}
	mw.ProcessOutput = func(_ context.Context, page *spider.Page, r spider.Results) spider.Results {
		return requests(r, func(req *crawl.Request) bool {
			if req.Jars == "" {
				req.Jars = page.Request.Jars
			}
			return true
		})
	}
	return mw
}
