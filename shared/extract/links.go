package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
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

	// RestrictCSS looks for links only inside what one of these selects.
	RestrictCSS []*Query

	// Tags are the elements that have links, in lower case.
	//
	// Default: a and area.
	Tags []string

	// Attrs are the attributes that are links, in lower case.
	//
	// Default: href.
	Attrs []string

	// DenyExtensions are endings of file names, without the dot and in lower
	// case, that are not followed. A slice that is empty and not nil denies
	// none.
	//
	// Default: [IgnoredExtensions].
	DenyExtensions []string

	// Repeated keeps a link each time that the page has it.
	//
	// Default: false, once (Scrapy's unique).
	Repeated bool

	// Canonicalize makes URLs canonical (see weburl.Canonical). Servers may
	// answer a canonical URL otherwise than the page's own.
	Canonicalize bool

	// ProcessValue changes an attribute before it is resolved, or drops it
	// with false: for addresses that are hidden in a script.
	ProcessValue func(value string) (string, bool)
}

// Extract returns the links of a page in the page's order. An address that is
// no URL is passed over, and counted; see [Document.TakeNotPages].
func (e *LinkExtractor) Extract(d *Document) []Link {
	x := extraction{LinkExtractor: e, doc: d}
	if !e.Repeated {
		x.seen = make(map[string]struct{}, 64)
	}
	if len(e.RestrictCSS) == 0 {
		x.visit(d.Root())
		return x.links
	}
	for _, q := range e.RestrictCSS {
		for _, n := range q.MatchAll(d.Root()) {
			x.visit(n)
		}
	}
	return x.links
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

// An extraction is one run of an extractor over a page.
type extraction struct {
	*LinkExtractor
	doc   *Document
	seen  map[string]struct{} // URLs; nil keeps repeated ones
	links []Link
}

func (x *extraction) visit(n *html.Node) {
	if n.Type == html.ElementNode && x.isTag(n) {
		for i := range n.Attr {
			if x.isAttr(n.Attr[i].Key) {
				x.take(n, n.Attr[i].Val)
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		x.visit(c)
	}
}

func (x *extraction) isTag(n *html.Node) bool {
	if x.Tags == nil {
		return n.DataAtom == atom.A || n.DataAtom == atom.Area
	}
	return slices.Contains(x.Tags, n.Data)
}

func (x *extraction) isAttr(name string) bool {
	if x.Attrs == nil {
		return name == "href"
	}
	return slices.Contains(x.Attrs, name)
}

func (x *extraction) take(n *html.Node, value string) {
	if x.ProcessValue != nil {
		var ok bool
		if value, ok = x.ProcessValue(value); !ok {
			return
		}
	}
	u, ok := x.doc.Page(value)
	if !ok || !x.Matches(u) {
		return
	}
	link := Link{URL: u.WithoutFragment().String(), Fragment: u.Fragment()}
	if x.Canonicalize {
		link.URL = weburl.Canonical(u)
	}
	if x.seen != nil {
		if _, repeated := x.seen[link.URL]; repeated {
			return
		}
		x.seen[link.URL] = struct{}{}
	}
	link.Text = readerText(hit{node: n})
	if rel, found := attribute(n, "rel"); found {
		link.Nofollow = isNofollow(rel)
	}
	x.links = append(x.links, link)
}

// isNofollow finds the word in a rel, whose words are separated by blanks, and
// in practice by commas.
func isNofollow(rel string) bool {
	words := strings.FieldsFunc(rel, func(r rune) bool { return r == ',' || r < 0x80 && isSpace(byte(r)) })
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, "nofollow") })
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
