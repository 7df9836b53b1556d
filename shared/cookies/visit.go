package cookies

import (
	"net/netip"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/weburl"
)

// A visit is a request's side of what decides over a cookie.
type visit struct {
	jar, host, path string
	secure          bool  // nobody between can read or change what is sent
	now             int64 // in Unix seconds
}

// visitOf reports false for a URL that has no cookies.
func visitOf(jar string, u weburl.URL, now time.Time) (visit, bool) {
	if u.IsZero() {
		return visit{}, false
	}
	scheme := u.Scheme()
	if scheme != "http" && scheme != "https" {
		return visit{}, false
	}
	host := u.Hostname()
	return visit{
		jar: jar, host: host, path: u.Path(),
		secure: scheme == "https" || isLoopback(host),
		now:    now.Unix(),
	}, host != ""
}

// fits reports whether the cookies of a place are for this visit.
func (v visit) fits(p place) bool {
	return p.jar == v.jar &&
		(p.domain == v.host || p.below && isBelow(v.host, p.domain)) &&
		pathMatches(v.path, p.path)
}

// isBelow reports whether a host is a proper subdomain of a domain. An address
// is below nothing.
func isBelow(host, domain string) bool {
	n := len(host) - len(domain)
	return n > 0 && host[n-1] == '.' && host[n:] == domain && !isAddress(host)
}

// pathMatches is RFC 6265, section 5.1.4.
func pathMatches(path, cookiePath string) bool {
	return strings.HasPrefix(path, cookiePath) &&
		(len(path) == len(cookiePath) || cookiePath[len(cookiePath)-1] == '/' || path[len(cookiePath)] == '/')
}

// defaultPath is that of a cookie without Path: the request's folder. Source:
// RFC 6265, section 5.1.4.
func defaultPath(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// isAddress reports whether a host as weburl writes it is an IP address.
func isAddress(host string) bool {
	if host == "" {
		return false
	}
	if last := host[len(host)-1]; last < '0' || '9' < last {
		return strings.IndexByte(host, ':') >= 0
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// isLoopback reports whether a host is this machine, whose plain http browsers
// trust as they trust https. Source: W3C, Secure Contexts, "Is origin
// potentially trustworthy?".
func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if !isAddress(host) {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
