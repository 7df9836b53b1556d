package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/weburl"
)

// A Link is a link to a page.
type Link struct {
	// URL is absolute and without fragment, in the form that is sent.
	URL string

	// Text is what a reader sees of the link.
	Text string

	// Fragment is what follows "#" in the address, percent-encoded.
	Fragment string

	// Nofollow is true if the link's rel has the word nofollow. Such links
	// are extracted like others.
	Nofollow bool
}

// A LinkExtractor finds the links of a page. The fields have the meaning of
// Scrapy's LinkExtractor; the zero value takes every link of a and area
// elements once, save those to files that are no pages. It is safe for
// concurrent use as long as ProcessValue is.
//
// Only http, https, file and ftp links are taken. Two links that differ in the
// fragment alone are one, as they are one page.
type LinkExtractor struct {
	// Allow keeps the links whose absolute URL one of these is found in.
	// Empty keeps all.
	Allow []*regexp.Regexp

	// Deny drops those whose URL one of these is found in. It wins over Allow.
	Deny []*regexp.Regexp

	// AllowDomains keeps links to these domains and what is below them.
	// Empty keeps all.
	AllowDomains []string

	// DenyDomains drops links to these domains and what is below them.
	DenyDomains []string

	// Restrict looks for links only inside what one of these selectors, CSS or
	// XPath, selects: the elements themselves and all that is in them (Scrapy's
	// restrict_css and restrict_xpaths). Links come in the order of the
	// selectors. Empty looks at the whole page.
	Restrict []*Query

	// RestrictText keeps the links whose text one of these is found in. The
	// text is [Link.Text]. Empty keeps all.
	RestrictText []*regexp.Regexp

	// Tags are the elements that have links, as the tree has them: in lower
	// case, save for XML. "*" is every element.
	//
	// Default: a and area.
	Tags []string

	// DenyTags are elements that are passed over though Tags has them. What
	// is in them is looked at.
	DenyTags []string

	// Attrs are the attributes that are links; "*" is every attribute.
	//
	// Default: href.
	Attrs []string

	// DenyAttrs are attributes that are passed over though Attrs has them.
	DenyAttrs []string

	// DenyExtensions are endings of file names, without the dot and in lower
	// case, that are not followed. A slice that is empty and not nil denies
	// none.
	//
	// Default: [IgnoredExtensions].
	DenyExtensions []string

	// Repeated keeps a link each time that the page has it, and those in
	// nested parts that Restrict selects once for each part.
	//
	// Default: false; of links with one canonical URL the first is kept
	// (Scrapy's unique).
	Repeated bool

	// Canonicalize makes URLs canonical (see weburl.Canonical). Servers may
	// answer a canonical URL otherwise than the page's own.
	Canonicalize bool

	// ProcessValue changes an address, or drops it with false: for addresses
	// that are hidden in a script. It gets the absolute URL, or the attribute
	// as it stands on the page where that is no page's address, such as
	// "javascript:go('/x')". What it returns is resolved again.
	ProcessValue func(value string) (string, bool)

	// KeepBlanks leaves blanks at the end of what ProcessValue gets. Without
	// it they are cut off. An address never has any (Scrapy's strip=False).
	KeepBlanks bool
}

// Matches reports whether the extractor would take a link to a URL, wherever it
// stood.
func (e *LinkExtractor) Matches(u weburl.URL) bool {
	url := u.String()
	switch {
	case !Fetchable(u),
		len(e.Allow) > 0 && !findsAny(e.Allow, url),
		findsAny(e.Deny, url),
		len(e.AllowDomains) > 0 && !isBelowAny(u.Hostname(), e.AllowDomains),
		isBelowAny(u.Hostname(), e.DenyDomains):
		return false
	}
	if e.DenyExtensions == nil {
		return !hasIgnoredExtension(u.Path())
	}
	return !hasExtension(u.Path(), e.DenyExtensions)
}

func findsAny(patterns []*regexp.Regexp, url string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(url) })
}

// isBelowAny reports whether host is one of the domains or below one.
func isBelowAny(host string, domains []string) bool {
	return slices.ContainsFunc(domains, func(domain string) bool {
		cut := len(host) - len(domain)
		return cut >= 0 && strings.EqualFold(host[cut:], domain) && (cut == 0 || host[cut-1] == '.')
	})
}
