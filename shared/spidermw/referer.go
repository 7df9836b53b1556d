package spidermw

import (
	"context"
	"net/http"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Referer fills in the Referer header: the address of the page that a request
// was found on, as far as the policy allows it. A header that is there stays,
// and start requests get none. REFERER_ENABLED switches it off.
//
// The policy is that of the page's Referrer-Policy header (the last name in it
// that is known), else REFERRER_POLICY. Names are those of the Referrer Policy
// standard (https://www.w3.org/TR/referrer-policy), and scrapy-default.
//
// Whatever the policy, user, password and fragment are never told, and only
// pages of http and https are.
func Referer(s settings.Settings) spider.Middleware {
	mw := spider.Middleware{Name: "Referer"}
	if !s.RefererEnabled {
		return mw
	}
	mw.ProcessOutput = func(_ context.Context, page *spider.Page, r spider.Results) spider.Results {
		tell := telling(s.ReferrerPolicy, page)
		if tell == nil {
			return r
		}
		return requests(r, func(req *crawl.Request) bool {
			if _, set := req.Headers["Referer"]; !set {
				if referrer := tell(req.URL); referrer != "" {
					req.SetHeader("Referer", referrer)
				}
			}
			return true
		})
	}
	return mw
}

// telling returns a function that gives the Referer for a target, nil where no
// target is told anything.
func telling(policy string, page *spider.Page) func(target string) string {
	if p := policyOfHeader(page.Headers); p != "" {
		policy = p
	}
	u, err := weburl.Parse(page.Response.URL)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
		return nil
	}
	f := from{secure: u.Scheme() == "https", origin: u.Origin(), url: u.Origin() + u.RequestTarget()}
	rule := ruleOf(policy)
	if rule == nil {
		return nil
	}
	return func(target string) string { return rule(f, target) }
}

// policyOfHeader returns the last policy in a Referrer-Policy header that is
// known, "" if none is. Source: Referrer Policy, "Parse a referrer policy from
// a Referrer-Policy header".
func policyOfHeader(h http.Header) string {
	last := ""
	for _, value := range h.Values("Referrer-Policy") {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if name == "no-referrer" || ruleOf(name) != nil {
				last = name
			}
		}
	}
	return last
}
