package legs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/sitemap"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

const nameSitemap = "sitemap"

// Sitemap crawls what sitemaps list: Scrapy's SitemapSpider as a leg. It starts
// with the sitemaps that it is given, follows indexes, and asks for the pages
// that the rules want.
//
// It brings a callback of its own name, to which sitemaps come back, so the
// spider's Parse does not see them. A sitemap that somebody else asked for, as
// one of the spider's start URLs, is known by what stands in it, and a
// robots.txt by its address; Parse reads those, too.
//
// Sitemaps may be in XML, packed with gzip, lists in plain text, and RSS or Atom
// feeds. What is none is passed over with a warning, and counted as
// leg/NAME/invalid_count. Of one that was cut, or is too large, the entries so
// far count; it is counted as leg/NAME/broken_count.
type Sitemap struct {
	// Name is the leg's name, unique in its spider, and that of its callback.
	//
	// Default: sitemap.
	Name string `json:"name,omitempty"`

	// SitemapURLs are where to begin: addresses of sitemaps, or of robots.txt
	// files, whose sitemaps are read.
	//
	// Default: none; one of the spider's start URLs is a sitemap.
	SitemapURLs []string `json:"sitemap_urls,omitempty"`

	// SitemapRules say which pages are asked for, and who reads them. The
	// first that matches wins; a page that none matches is not asked for.
	//
	// Default: all pages, for parse.
	SitemapRules []SitemapRule `json:"sitemap_rules,omitempty"`

	// SitemapFollow are regular expressions. Of the sitemaps in an index,
	// those are read in whose URL one of them is found.
	//
	// Default: all of them.
	SitemapFollow []string `json:"sitemap_follow,omitempty"`

	// SitemapAlternateLinks asks for a page's versions in other languages,
	// too, by the same rules.
	//
	// Default: false.
	SitemapAlternateLinks bool `json:"sitemap_alternate_links,omitempty"`

	// MaxDepth is how many indexes may lie one within the other. Servers that
	// make up a new index each time are left then.
	//
	// Default: 10.
	MaxDepth int `json:"max_depth,omitempty"`

	// MaxSize limits a sitemap that is packed, in bytes once unpacked. A
	// request's own DownloadMaxsize wins.
	//
	// Default: 67108864 (64 MiB). -1 is no limit.
	MaxSize int64 `json:"max_size,omitempty"`

	// SitemapFilter changes the entries of a sitemap, or leaves some out. It
	// gets them one after the other, as they are read; kind says whether they
	// are pages or other sitemaps.
	SitemapFilter func(page *spider.Page, kind sitemap.Kind, entries iter.Seq[sitemap.Entry]) iter.Seq[sitemap.Entry] `json:"-"`
}

// A SitemapRule says who reads the pages of some URLs.
type SitemapRule struct {
	// URL is a regular expression that is found in the page's URL.
	//
	// Default: any URL.
	URL string `json:"url,omitempty"`

	// Follow says how the pages are asked for.
	Follow `json:",inline"`
}

// maxIndexes is the default of MaxDepth.
const maxIndexes = 10

// Leg makes the leg.
func (o Sitemap) Leg() spider.Leg {
	name := nameOr(o.Name, nameSitemap)
	return spider.Leg{
		Name:      name,
		Callbacks: map[string]spider.Callback{name: nil}, // what SetSpider brings
		SetSpider: func(top *spider.Spider) (spider.Leg, error) {
			var m mistakes
			c := o.compile(name, top, &m)
			leg := spider.Leg{
				Name: name, ProcessResponse: c.meet,
				Callbacks: map[string]spider.Callback{name: c.read},
			}
			if len(o.SitemapURLs) > 0 {
				leg.Start = c.start
			}
			return leg, m.err()
		},
	}
}

func (o Sitemap) compile(name string, top *spider.Spider, m *mistakes) *sitemapLeg {
	c := &sitemapLeg{Sitemap: o, name: name, follow: m.patterns("sitemap_follow", o.SitemapFollow)}
	for i, url := range o.SitemapURLs {
		u, err := weburl.Parse(url)
		if err == nil && !extract.Fetchable(u) {
			err = errors.New("its scheme is none of http, https, file and ftp")
		}
		if err != nil {
			m.add(fmt.Sprintf("sitemap_urls[%d]", i), fmt.Errorf("%q: %w; give the whole address of a sitemap or a robots.txt", url, err))
		}
	}
	if len(o.SitemapRules) == 0 {
		c.SitemapRules = []SitemapRule{{}}
	}
	for i, r := range c.SitemapRules {
		var own mistakes
		r.Follow.check(top, &own)
		pattern, err := regexp.Compile(r.URL)
		own.add("url", err)
		m.add(fmt.Sprintf("sitemap_rules[%d]", i), own.err())
		c.urls = append(c.urls, pattern)
	}
	if o.MaxDepth < 0 {
		m.add("max_depth", fmt.Errorf("%d is less than 1", o.MaxDepth))
	}
	if o.MaxDepth == 0 {
		c.MaxDepth = maxIndexes
	}
	return c
}

// A sitemapLeg is a Sitemap that is bound to its spider.
type sitemapLeg struct {
	Sitemap
	name   string
	urls   []*regexp.Regexp // of the rules
	follow []*regexp.Regexp
}

// start asks for the sitemaps to begin with.
func (l *sitemapLeg) start(context.Context, spider.Start) spider.Results {
	return func(yield func(crawl.Result, error) bool) {
		for _, url := range l.SitemapURLs {
			if !yield(crawl.Result{Request: &crawl.Request{URL: url, Callback: l.name}}, nil) {
				return
			}
		}
	}
}

// count is the name of one of the leg's stats.
func (l *sitemapLeg) count(what string) string { return "leg/" + l.name + "/" + what + "_count" }
