package spidermw

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Referer fills in the Referer header: the address of the page that a request
// was found on, as far as the policy allows it. A header that is there stays,
// and start requests get none. REFERER_ENABLED switches it off.
//
// The policy is the request's ReferrerPolicy, else that of the page's
// Referrer-Policy header (the last name in it that is known), else
// REFERRER_POLICY. Names are those of the Referrer Policy standard
// (https://www.w3.org/TR/referrer-policy), and scrapy-default. A request that
// names another is warned of, once a name, and has the policy REFERRER_POLICY.
//
// Whatever the policy, user, password and fragment are never told, and only
// pages of http and https are.
func Referer(s settings.Settings, log *slog.Logger) spider.Middleware {
	mw := spider.Middleware{Name: "Referer"}
	if !s.RefererEnabled {
		return mw
	}
	p := &referrers{byDefault: s.ReferrerPolicy, log: log}
	mw.ProcessOutput = func(_ context.Context, page *spider.Page, r spider.Results) spider.Results {
		f, ok := fromPage(page.Response.URL)
		if !ok {
			return r
		}
		ofPage := p.ofPage(page.Headers)
		return requests(r, func(req *crawl.Request) bool {
			if _, set := req.Headers["Referer"]; !set {
				if told := p.told(f, ofPage, req); told != "" {
					req.SetHeader("Referer", told)
				}
			}
			return true
		})
	}
	return mw
}

// RedirectReferer tells the target of a redirect the address that redirected,
// by the rules of [Referer], as Scrapy does. It is for
// downloadermw.RedirectOptions, which asks it only if the request that was
// redirected had a Referer. It is nil where REFERER_ENABLED is off.
func RedirectReferer(s settings.Settings, log *slog.Logger) func(from *crawl.Response, target *crawl.Request) string {
	if !s.RefererEnabled {
		return nil
	}
	p := &referrers{byDefault: s.ReferrerPolicy, log: log}
	return func(from *crawl.Response, target *crawl.Request) string {
		f, ok := fromPage(from.URL)
		if !ok {
			return ""
		}
		return p.told(f, p.ofPage(from.Headers), target)
	}
}

// referrers decides what targets are told.
type referrers struct {
	byDefault string
	log       *slog.Logger
	warned    sync.Map // of names of policies
}

// ofPage is the policy of a page's requests that name none.
func (p *referrers) ofPage(h http.Header) string {
	if name := policyOfHeader(h); name != "" {
		return name
	}
	return p.byDefault
}

func (p *referrers) told(f from, ofPage string, req *crawl.Request) string {
	policy := ofPage
	if own := req.ReferrerPolicy; own != "" {
		if policy = strings.ToLower(own); !isPolicy(policy) {
			policy = p.byDefault
			if _, again := p.warned.LoadOrStore(own, true); !again {
				p.log.Warn("unknown referrer policy", "referrer_policy", own, "used", policy, "url", shown(req.URL))
			}
		}
	}
	if rule := ruleOf(policy); rule != nil {
		return rule(f, req.URL)
	}
	return ""
}

// fromPage is the page of an address, and whether any policy tells of it.
func fromPage(address string) (from, bool) {
	u, err := weburl.Parse(address)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
		return from{}, false
	}
	return from{secure: u.Scheme() == "https", origin: u.Origin(), url: u.Origin() + u.RequestTarget()}, true
}

// isPolicy reports whether a policy has that name.
func isPolicy(name string) bool { return name == "no-referrer" || ruleOf(name) != nil }

// policyOfHeader returns the last policy in a Referrer-Policy header that is
// known, "" if none is. Source: Referrer Policy, "Parse a referrer policy from
// a Referrer-Policy header".
func policyOfHeader(h http.Header) string {
	last := ""
	for _, value := range h.Values("Referrer-Policy") {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if isPolicy(name) {
				last = name
			}
		}
	}
	return last
}
