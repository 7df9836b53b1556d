package downloadermw

import (
	"context"
	"hash/fnv"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/weburl"
)

// UserAgent gives each request that has no User-Agent the job's, USER_AGENT, or
// one of USER_AGENTS.
//
// Of several agents a session keeps one, in all processes and through retries
// and redirects, since a site takes a session whose agent changes for a stolen
// one. A session is what shares cookies: a jar at a site, which is a registered
// domain with all below it. A request that keeps no cookies (COOKIES_ENABLED,
// DontMergeCookies) is a session by itself, with its redirects. Each job draws
// anew.
//
// Settings: USER_AGENT, USER_AGENTS, COOKIES_ENABLED. Request options:
// CookieJar, DontMergeCookies.
func UserAgent(s settings.Settings, job crawl.JobUID) downloader.Middleware {
	agents := s.UserAgents
	if len(agents) == 0 {
		if s.UserAgent == "" {
			return off
		}
		agents = []string{s.UserAgent}
	}
	return downloader.Hooks{
		ProcessRequest: func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
			agent := agents[0]
			if len(agents) > 1 {
				agent = agents[session(req, job, s.CookiesEnabled)%uint64(len(agents))]
			}
			setDefault(req, "User-Agent", agent)
			return nil, nil
		},
	}.Middleware()
}

// session is a number that the requests of a session have in common.
func session(req *crawl.Request, job crawl.JobUID, cookies bool) uint64 {
	h := fnv.New64a()
	add := func(s string) { _, _ = h.Write(append([]byte(s), 0)) } // a hash never fails
	add(string(job))
	if !cookies || req.DontMergeCookies {
		first := req.URL
		if len(req.RedirectURLs) > 0 {
			first = req.RedirectURLs[0]
		}
		add(first)
	} else {
		add(req.CookieJar)
		add(weburl.RegisteredDomain(hostname(req.URL)))
	}
	// The low bits of FNV are those of its input; this mixes them.
	sum := h.Sum64()
	return sum ^ sum>>32
}
