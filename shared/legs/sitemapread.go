package legs

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/robots"
	"github.com/skitterhq/skitter/shared/sitemap"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// indexesArg is the callback's argument that counts the indexes which led to a
// sitemap.
const indexesArg = "indexes"

// meet reads a page that somebody else asked for, if it is a sitemap.
func (l *sitemapLeg) meet(ctx context.Context, page *spider.Page, out *spider.Output) error {
	if callbackOf(page.Request) == spider.DefaultCallback && (isRobots(page) || looksLikeSitemap(page.Body)) {
		return l.read(ctx, page, out)
	}
	return nil
}

// isRobots reports whether a page is a robots.txt, by its address.
func isRobots(page *spider.Page) bool {
	u, err := weburl.Parse(page.Response.URL)
	return err == nil && u.Path() == "/robots.txt"
}

// looksLikeSitemap reports whether a body may be a sitemap in XML, packed or
// not. It is asked about every page, so it looks at no more than it must.
func looksLikeSitemap(body []byte) bool {
	if isPacked(body) {
		kind := sitemap.Open(body, sitemap.Options{}).Kind
		return kind == sitemap.URLSet || kind == sitemap.Index
	}
	head := bytes.ToLower(body[:min(len(body), sniffed)])
	if !bytes.Contains(head, []byte("urlset")) && !bytes.Contains(head, []byte("sitemapindex")) {
		return false
	}
	kind := sitemap.Open(body[:min(len(body), 4*sniffed)], sitemap.Options{}).Kind
	return kind == sitemap.URLSet || kind == sitemap.Index
}

// isPacked reports whether a body is a gzip file.
func isPacked(body []byte) bool { return bytes.HasPrefix(body, []byte("\x1f\x8b\x08")) }

// read is the leg's callback.
func (l *sitemapLeg) read(_ context.Context, page *spider.Page, out *spider.Output) error {
	if isRobots(page) {
		for _, ref := range robots.Parse(page.Body).Sitemaps() {
			l.ask(absolute(page, ref), 0, page, out)
		}
		return nil
	}
	o := sitemap.Options{URL: page.Response.URL, ContentType: page.Headers.Get("Content-Type"), MaxSize: l.MaxSize}
	if own := page.Request.DownloadMaxsize; own != 0 {
		o.MaxSize = own
	}
	file := sitemap.Open(page.Body, o)
	if file.Kind == sitemap.None {
		page.Log.Warn("this is no sitemap, and is passed over", "leg", l.name)
		out.Count(l.count("invalid"), 1)
		return nil
	}
	var broken error
	entries := func(yield func(sitemap.Entry) bool) {
		for e, err := range file.Entries() {
			if err != nil {
				broken = err
				return
			}
			if !yield(e) {
				return
			}
		}
	}
	l.each(page, file.Kind, entries, out)
	if broken != nil && !out.Stopped() {
		page.Log.Warn("a sitemap is broken; its entries so far count", "leg", l.name, "err", broken)
		out.Count(l.count("broken"), 1)
	}
	return nil
}

// each asks for what the entries lead to.
func (l *sitemapLeg) each(page *spider.Page, kind sitemap.Kind, entries func(func(sitemap.Entry) bool), out *spider.Output) {
	if l.SitemapFilter != nil {
		entries = l.SitemapFilter(page, kind, entries)
	}
	indexes := indexesOf(page.Request)
	for e := range entries {
		if out.Stopped() {
			return
		}
		if kind == sitemap.Index {
			if len(l.follow) == 0 || findsAny(l.follow, e.Loc) {
				l.ask(e.Loc, indexes+1, page, out)
			}
			continue
		}
		l.page(e.Loc, out)
		if l.SitemapAlternateLinks {
			for _, a := range e.Alternates {
				l.page(a.Href, out)
			}
		}
	}
}

// page asks for a page, by the first rule that wants it.
func (l *sitemapLeg) page(url string, out *spider.Output) {
	for i, pattern := range l.urls {
		if pattern.MatchString(url) {
			if fetchable(url, out) {
				out.Request(l.SitemapRules[i].request(url))
			}
			return
		}
	}
}

// ask asks for a sitemap that lies in so many indexes.
func (l *sitemapLeg) ask(url string, indexes int, page *spider.Page, out *spider.Output) {
	if indexes > l.MaxDepth {
		page.Log.Warn("sitemaps lie too deep in one another, and are left", "leg", l.name, "url", url, "max_depth", l.MaxDepth)
		out.Count(l.count("too_deep"), 1)
		return
	}
	if !fetchable(url, out) {
		return
	}
	req := &crawl.Request{URL: url, Callback: l.name}
	if indexes > 0 {
		req.CBKwargs = crawl.Values{indexesArg: indexes}
	}
	out.Request(req)
}

// indexesOf is how many indexes led to a sitemap.
func indexesOf(req *crawl.Request) int {
	switch n := req.CBKwargs[indexesArg].(type) {
	case int:
		return n
	case json.Number: // it has travelled
		indexes, _ := n.Int64()
		return int(indexes)
	}
	return 0
}

// absolute resolves an address against that of the page, whatever base the page
// may name; one that is no URL stays as it is.
func absolute(page *spider.Page, ref string) string {
	if base, err := weburl.Parse(page.Response.URL); err == nil {
		if u, err := base.Resolve(ref); err == nil {
			return u.String()
		}
	}
	return ref
}

// fetchable reports whether a page can be asked for; an address that leads to
// none is counted.
func fetchable(url string, out *spider.Output) bool {
	u, err := weburl.Parse(url)
	if err != nil || !extract.Fetchable(u) {
		out.Count("link/not_page_count", 1)
		return false
	}
	return true
}
