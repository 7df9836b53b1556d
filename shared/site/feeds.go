package site

import (
	"fmt"
	"html"
	"net/http"
	"time"
)

// feedProducts is how many of the newest products a feed has.
const feedProducts = 20

// feed is RSS 2.0, newest first.
func (s *Site) feed(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
	base := html.EscapeString(origin(r))
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel>
<title>The shop</title>
<link>%s/</link>
<description>The newest products</description>
`, base)
	for n := range s.newest {
		fmt.Fprintf(w, "<item><title>Product %[2]d</title><link>%[1]s/p/%[2]d</link><guid>%[1]s/p/%[2]d</guid>"+
			"<pubDate>%[3]s</pubDate><description>Only %[4]s</description></item>\n",
			base, n, productTime(n).Format(time.RFC1123Z), appendPrice(nil, n))
	}
	fmt.Fprint(w, "</channel></rss>\n")
}

// atom is the same as Atom (RFC 4287).
func (s *Site) atom(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	base := html.EscapeString(origin(r))
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>The shop</title>
<id>%[1]s/</id>
<link rel="self" href="%[1]s/atom.xml"/>
<author><name>The shop</name></author>
<updated>%[2]s</updated>
`, base, productTime(s.options.Pages-1).Format(time.RFC3339))
	for n := range s.newest {
		fmt.Fprintf(w, "<entry><title>Product %[2]d</title><id>%[1]s/p/%[2]d</id><link href=\"%[1]s/p/%[2]d\"/>"+
			"<updated>%[3]s</updated><summary>Only %[4]s</summary></entry>\n",
			base, n, productTime(n).Format(time.RFC3339), appendPrice(nil, n))
	}
	fmt.Fprint(w, "</feed>\n")
}

// table is every product as CSV, in the order of their numbers, under the names
// of its columns. The descriptions have commas and quotes in them.
func (s *Site) table(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	base := origin(r)
	fmt.Fprintln(w, "sku,name,price,description,url")
	for n := range s.options.Pages {
		price := appendPrice(nil, n)
		fmt.Fprintf(w, "%[1]s,Product %[2]d,%[3]s,\"The \"\"Product %[2]d\"\", only %[3]s\",%[4]s/p/%[2]d\n", appendSKU(nil, n), n, price, base)
	}
}

// newest yields the numbers of the newest products, newest first.
func (s *Site) newest(yield func(int) bool) {
	for n := s.options.Pages - 1; n >= max(0, s.options.Pages-feedProducts); n-- {
		if !yield(n) {
			return
		}
	}
}
