package site

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
)

const (
	typeHTML = "text/html; charset=utf-8"
	typeXML  = "application/xml; charset=utf-8"
)

// routes lists every page but the products and /stats, which ServeHTTP sees
// to. Where no method stands, any is answered.
func (s *Site) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("GET /p/{n}", http.NotFound) // what product does not know
	mux.HandleFunc("GET /static/shop.css", stylesheet)
	mux.HandleFunc("GET /robots.txt", s.robots)
	mux.HandleFunc("GET /private/secret", secret)

	mux.HandleFunc("GET /sitemap.xml", s.sitemap)
	mux.HandleFunc("GET /sitemap.xml.gz", s.sitemapGzip)
	mux.HandleFunc("GET /sitemap_index.xml", s.sitemapIndex)
	mux.HandleFunc("GET /sitemap/{part}", s.sitemapPart)
	mux.HandleFunc("GET /feed.xml", s.feed)
	mux.HandleFunc("GET /atom.xml", s.atom)
	mux.HandleFunc("GET /products.csv", s.table)

	mux.HandleFunc("GET /quotes/{$}", quotesHome)
	mux.HandleFunc("GET /quotes/page/{page}/{$}", quotesPage)
	mux.HandleFunc("GET /quotes/tag/{tag}/{$}", quotesTag)
	mux.HandleFunc("GET /author/{author}/{$}", authorPage)

	mux.HandleFunc("GET /login", loginForm)
	mux.HandleFunc("POST /login", login)
	mux.HandleFunc("GET /account", account)
	mux.HandleFunc("GET /account/orders/{n}", order)

	for _, status := range []int{301, 302, 303, 307, 308} {
		mux.HandleFunc(fmt.Sprintf("/redirect/%d", status), s.redirect(status))
	}
	mux.HandleFunc("/redirect/chain/{steps}", s.redirectChain)
	mux.HandleFunc("/redirect/loop", redirectTo("/redirect/loop/1"))
	mux.HandleFunc("/redirect/loop/1", redirectTo("/redirect/loop/2"))
	mux.HandleFunc("/redirect/loop/2", redirectTo("/redirect/loop"))
	mux.HandleFunc("/redirect/cookie", redirectCookie)
	mux.HandleFunc("/redirect/out", s.redirectOut)

	mux.HandleFunc("/status/{status}", status)
	mux.HandleFunc("/status/503", s.unavailable)
	mux.HandleFunc("/slow", slow)
	mux.HandleFunc("GET /truncated", truncated)
	mux.HandleFunc("GET /huge", s.huge)
	mux.HandleFunc("GET /empty", empty)

	mux.HandleFunc("GET /odd/{$}", odd)
	mux.HandleFunc("GET /wrong-charset", wrongCharset)
	mux.HandleFunc("GET /gzip", gzipped)
	mux.HandleFunc("GET /deflate", deflated)
	mux.HandleFunc("GET /bad-html", badHTML)
	mux.HandleFunc("GET /odd-links", oddLinks)
	return mux
}

// writePage answers with a page. The title is text, the body HTML.
func writePage(w http.ResponseWriter, status int, title, body string) {
	w.Header().Set("Content-Type", typeHTML)
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%[1]s</title>"+
		"<link rel=\"stylesheet\" href=\"/static/shop.css\"></head>\n<body><h1>%[1]s</h1>\n%[2]s\n</body></html>\n",
		html.EscapeString(title), body)
}

// origin returns the scheme and host by which the request came.
func origin(r *http.Request) string { return originAt(r, r.Host) }

// originAt returns the request's origin with another host.
func originAt(r *http.Request, host string) string {
	u := url.URL{Scheme: "http", Host: host}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	return u.String()
}

// queryInt returns a number of the query, missing if it is not there. The error
// says what is right.
func queryInt(r *http.Request, name string, missing, limit int) (int, error) {
	value := r.URL.Query().Get(name)
	if value == "" {
		return missing, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > limit {
		return 0, fmt.Errorf("%s is %q; want 0 to %d", name, value, limit)
	}
	return n, nil
}
