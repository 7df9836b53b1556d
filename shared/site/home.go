package site

import (
	"fmt"
	"net/http"
)

// home links to where a crawl may begin. It tells of /odd/ without a link.
func (s *Site) home(w http.ResponseWriter, r *http.Request) {
	writePage(w, http.StatusOK, "The shop", fmt.Sprintf(`<p>%d products to crawl.</p>
<ul>
<li><a href="/p/0">Products</a></li>
<li><a href="/quotes/page/1/">Quotations</a></li>
<li><a href="/sitemap.xml">Sitemap</a></li>
<li><a href="/feed.xml">News</a></li>
<li>%s</li>
</ul>
<p>The pages that go wrong on purpose are listed under <code>/odd/</code>.</p>`, s.options.Pages, privateLink))
}

func stylesheet(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	fmt.Fprint(w, "body { font: 16px/1.5 sans-serif; max-width: 50rem; margin: 2rem auto; }\nnav ul { columns: 3; }\n")
}

// robots allows all but /private/. Above the size a sitemap may have, it names
// the index instead.
func (s *Site) robots(w http.ResponseWriter, r *http.Request) {
	sitemap := "/sitemap.xml"
	if s.options.Pages > maxSitemap {
		sitemap = "/sitemap_index.xml"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "User-agent: *\nDisallow: /private/\n\nSitemap: %s%s\n", origin(r), sitemap)
}

func secret(w http.ResponseWriter, r *http.Request) {
	writePage(w, http.StatusOK, "Staff only", "<p>robots.txt forbids this page. Who reads it has not read that.</p>")
}
