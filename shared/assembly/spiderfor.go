package assembly

import (
	"fmt"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/weburl"
)

// SpiderFor returns the name of the one spider whose pages a URL is among: as
// in Scrapy, one of its allowed domains or its name is the URL's domain. The
// error says whether none is, or which are.
func (s *Singles) SpiderFor(url string) (string, error) {
	var found []string
	for _, name := range s.Registry().Names() {
		sp, err := s.Registry().Get(name)
		if err != nil {
			return "", err
		}
		if s.among(url, sp.AllowedDomains) || s.among(url, []string{name}) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("%s is in no spider's allowed domains; the spiders are %s", weburl.Shown(url), strings.Join(s.Registry().Names(), ", "))
	}
	return "", fmt.Errorf("%s is in the allowed domains of several spiders: %s", weburl.Shown(url), strings.Join(found, ", "))
}

// among reports whether a URL is in one of the domains. A name that is no
// domain has no pages.
func (s *Singles) among(url string, domains []string) bool {
	if len(domains) == 0 {
		return false
	}
	scope, err := downloadermw.OffsiteScope(domains)
	return err == nil && scope(&crawl.Request{URL: url}) == nil
}
