package site

import (
	"compress/gzip"
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// maxSitemap is the most URLs a sitemap may have. Source:
	// sitemaps.org/protocol.html, "Using Sitemap index files".
	maxSitemap = 50_000

	// partProducts is how many products a part of the indexed sitemap has.
	partProducts = 1000
)

const sitemapSpace = "http://www.sitemaps.org/schemas/sitemap/0.9"

// productTime returns when product n came into the shop: a minute after the
// one before it, so the highest number is the newest.
func productTime(n int) time.Time {
	return time.Date(2026, time.January, 1, 0, n, 0, 0, time.UTC)
}

// sitemap lists all products in one file, even where there are more than a
// sitemap may have.
func (s *Site) sitemap(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", typeXML)
	s.writeSitemap(w, r, 0, s.options.Pages)
}

// sitemapGzip is the same as a file that is compressed in itself, not on its
// way: no Content-Encoding.
func (s *Site) sitemapGzip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/gzip")
	var z io.WriteCloser = gzip.NewWriter(w)
	s.writeSitemap(z, r, 0, s.options.Pages)
	z.Close() // fails, like the writes, only if the client is gone
}

// sitemapIndex lists the sitemaps /sitemap/0.xml, /sitemap/1.xml and so on,
// which together have every product once.
func (s *Site) sitemapIndex(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", typeXML)
	base := html.EscapeString(origin(r))
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=%q>\n", sitemapSpace)
	for part := range s.sitemapParts() {
		fmt.Fprintf(w, "<sitemap><loc>%s/sitemap/%d.xml</loc></sitemap>\n", base, part)
	}
	fmt.Fprint(w, "</sitemapindex>\n")
}

func (s *Site) sitemapPart(w http.ResponseWriter, r *http.Request) {
	name, isXML := strings.CutSuffix(r.PathValue("part"), ".xml")
	part, err := strconv.Atoi(name)
	if !isXML || err != nil || part < 0 || part >= s.sitemapParts() || strconv.Itoa(part) != name {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", typeXML)
	s.writeSitemap(w, r, part*partProducts, min((part+1)*partProducts, s.options.Pages))
}

func (s *Site) sitemapParts() int {
	return (s.options.Pages + partProducts - 1) / partProducts
}

// writeSitemap writes the sitemap of the products from one to before another.
// It stops when the client is gone.
func (s *Site) writeSitemap(w io.Writer, r *http.Request, from, before int) {
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=%q>\n", sitemapSpace)
	start := "<url><loc>" + html.EscapeString(origin(r)) + "/p/"
	var line []byte
	for n := from; n < before; n++ {
		line = append(line[:0], start...)
		line = strconv.AppendInt(line, int64(n), 10)
		line = append(line, "</loc><lastmod>"...)
		line = productTime(n).AppendFormat(line, time.DateOnly)
		line = append(line, "</lastmod></url>\n"...)
		if _, err := w.Write(line); err != nil {
			return
		}
	}
	fmt.Fprint(w, "</urlset>\n")
}
