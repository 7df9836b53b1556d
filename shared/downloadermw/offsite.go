package downloadermw

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Offsite drops requests that leave the spider's allowed domains, with the
// reason "offsite"; see [OffsiteScope]. Most are refused before they become
// work, by [OffsiteFilter]; the middleware finds what came another way.
//
// Stats: those of OffsiteFilter.
func Offsite(allowedDomains []string, st *stats.Collector, log *slog.Logger) (downloader.Middleware, error) {
	filter, err := OffsiteFilter(allowedDomains, st, log)
	if err != nil {
		return nil, err
	}
	return downloader.Hooks{
		ProcessRequest: func(_ context.Context, req *crawl.Request) (*crawl.Response, error) { return nil, filter(req) },
	}.Middleware(), nil
}

// OffsiteFilter is [OffsiteScope] for a job: it counts and logs what it refuses.
//
// Stats: offsite/filtered, and offsite/domains for each domain's first in this
// process.
func OffsiteFilter(allowedDomains []string, st *stats.Collector, log *slog.Logger) (func(*crawl.Request) error, error) {
	scope, err := OffsiteScope(allowedDomains)
	if err != nil {
		return nil, err
	}
	var seen domains
	return func(req *crawl.Request) error {
		err := scope(req)
		if err != nil {
			st.Inc("offsite/filtered")
			if host := hostname(req.URL); seen.first(host) {
				st.Inc("offsite/domains")
				log.Debug("filtered offsite request", "host", host, "url", shown(req))
			}
		}
		return err
	}, nil
}

// OffsiteScope returns a function that gives a *crawl.Drop for a request whose
// host is neither one of the domains nor below one. No domains allow all. The
// request's AllowOffsite lets it pass, and so does DontFilter, but not if a
// redirect led to the request.
//
// A domain is a bare name, such as "example.com"; the error names all that are
// something else.
func OffsiteScope(allowedDomains []string) (func(*crawl.Request) error, error) {
	var allowed []string
	var bad []error
	for _, domain := range allowedDomains {
		name, err := domainName(domain)
		if err != nil {
			bad = append(bad, fmt.Errorf("allowed domain %q: %w", domain, err))
			continue
		}
		allowed = append(allowed, name)
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	return func(req *crawl.Request) error {
		if len(allowed) == 0 || req.AllowOffsite || req.DontFilter && len(req.RedirectURLs) == 0 {
			return nil
		}
		host := hostname(req.URL)
		for _, domain := range allowed {
			if within(host, domain) {
				return nil
			}
		}
		return &crawl.Drop{Reason: "offsite"}
	}, nil
}

// within reports whether a host is a domain or below it.
func within(host, domain string) bool {
	below, ok := strings.CutSuffix(host, domain)
	return ok && (below == "" || strings.HasSuffix(below, "."))
}

// domainName checks an allowed domain and brings it into the form of hostname.
func domainName(domain string) (string, error) {
	name := strings.TrimSpace(domain)
	switch {
	case name == "":
		return "", errors.New("it is empty")
	case strings.ContainsAny(name, "/?#@"):
		if u, err := weburl.Parse(name); err == nil && u.Hostname() != "" {
			return "", fmt.Errorf("it is a URL; write %q", u.Hostname())
		}
		return "", errors.New("it is no bare domain; write one as in \"example.com\"")
	case strings.HasPrefix(name, ".") || strings.HasPrefix(name, "*"):
		return "", fmt.Errorf("subdomains are allowed in any case; write %q", strings.TrimLeft(name, "*."))
	}
	if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil && addr.Is6() {
		name = "[" + addr.String() + "]"
	} else if host, _, found := strings.Cut(name, ":"); found {
		return "", fmt.Errorf("all ports of a domain are allowed; write %q", host)
	}
	u, err := weburl.Parse("http://" + name + "/")
	if err != nil {
		return "", errors.New("it is no valid host name")
	}
	return strings.TrimSuffix(u.Hostname(), "."), nil
}

// hostname is the host of a URL, "" if it has none.
func hostname(rawURL string) string {
	u, err := weburl.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.Hostname(), ".")
}

// A domains set remembers which domains were seen, up to a number that a hostile
// site cannot exceed.
type domains struct {
	mu   sync.Mutex
	seen map[string]bool
}

const mostDomains = 10_000

// first reports whether the domain is new. Beyond mostDomains none is.
func (d *domains) first(domain string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen[domain] || len(d.seen) >= mostDomains {
		return false
	}
	if d.seen == nil {
		d.seen = make(map[string]bool)
	}
	d.seen[domain] = true
	return true
}
