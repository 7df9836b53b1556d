package downloadermw

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/settings"
)

// allDomains as HTTPAUTH_DOMAIN sends user and password to every site.
const allDomains = "*"

// HTTPAuth logs in with basic authentication: it sends HTTPAUTH_USER and
// HTTPAUTH_PASS to HTTPAUTH_DOMAIN and the hosts below it, in ISO-8859-1. A
// request that has an Authorization header keeps it. The header is set on what
// is sent alone, so each hop of a redirect is decided anew, and no row has it.
//
// A user or a password without a domain is an error, lest a crawl tells them to
// every site that it meets; "*" says that it is to.
//
// Settings: HTTPAUTH_DOMAIN, HTTPAUTH_PASS, HTTPAUTH_USER. Request options:
// HTTPUser, HTTPPass and HTTPAuthDomain; without the last, the request's own
// user and password go to its own origin, wherever that is.
func HTTPAuth(s settings.Settings) (downloader.Middleware, error) {
	a := &httpAuth{}
	if s.HTTPAuthUser != "" || s.HTTPAuthPass != "" {
		if s.HTTPAuthDomain == "" {
			return nil, errors.New("HTTPAUTH_USER or HTTPAUTH_PASS is set, but HTTPAUTH_DOMAIN is not: " +
				"write the domain that they are for, as in example.com, or * to send them to every site")
		}
		var err error
		if a.domain, err = authDomain(s.HTTPAuthDomain); err != nil {
			return nil, fmt.Errorf("HTTPAUTH_DOMAIN %q: %w", s.HTTPAuthDomain, err)
		}
		if a.header, err = basicAuth(s.HTTPAuthUser, s.HTTPAuthPass, false); err != nil {
			return nil, fmt.Errorf("HTTPAUTH_USER and HTTPAUTH_PASS: %w", err)
		}
	}
	return downloader.Hooks{ProcessRequest: a.request}.Middleware(), nil
}

type httpAuth struct {
	header string // "" for none
	domain string
}

func (a *httpAuth) request(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
	if _, given := req.Headers["Authorization"]; given {
		return nil, nil
	}
	header, domain := a.header, a.domain
	if req.HTTPUser != "" || req.HTTPPass != "" {
		var err error
		if header, domain, err = ownAuth(req); err != nil {
			return nil, &crawl.Failure{Reason: handlers.ReasonBadRequest, Message: err.Error(), Request: req}
		}
	}
	if header != "" && (domain == allDomains || within(hostname(req.URL), domain)) {
		req.SetHeader("Authorization", header)
	}
	return nil, nil
}

// ownAuth is what a request says itself.
func ownAuth(req *crawl.Request) (header, domain string, err error) {
	domain = allDomains
	if req.HTTPAuthDomain != "" {
		if domain, err = authDomain(req.HTTPAuthDomain); err != nil {
			return "", "", fmt.Errorf("http_auth_domain %q: %w", req.HTTPAuthDomain, err)
		}
	}
	if header, err = basicAuth(req.HTTPUser, req.HTTPPass, false); err != nil {
		return "", "", fmt.Errorf("http_user and http_pass: %w", err)
	}
	return header, domain, nil
}

func authDomain(domain string) (string, error) {
	if strings.TrimSpace(domain) == allDomains {
		return allDomains, nil
	}
	return domainName(domain)
}
