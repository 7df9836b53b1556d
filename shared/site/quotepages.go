package site

import (
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
)

func quotesHome(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/quotes/page/1/", http.StatusMovedPermanently)
}

// quotesPage is one of the pages of quotations, numbered from 1. Each but the
// last links to the next in li.next.
func quotesPage(w http.ResponseWriter, r *http.Request) {
	number := r.PathValue("page")
	page, err := strconv.Atoi(number)
	if err != nil || page < 1 || page > quotePages || strconv.Itoa(page) != number {
		http.NotFound(w, r)
		return
	}
	var b strings.Builder
	writeQuotes(&b, quotes()[(page-1)*quotesPerPage:page*quotesPerPage])
	b.WriteString("<nav><ul class=\"pager\">")
	if page > 1 {
		fmt.Fprintf(&b, `<li class="previous"><a href="/quotes/page/%d/">Previous</a></li>`, page-1)
	}
	if page < quotePages {
		fmt.Fprintf(&b, `<li class="next"><a href="/quotes/page/%d/">Next</a></li>`, page+1)
	}
	b.WriteString("</ul></nav>")
	writePage(w, http.StatusOK, fmt.Sprintf("Quotations, page %d", page), b.String())
}

// quotesTag has all quotations with one tag.
func quotesTag(w http.ResponseWriter, r *http.Request) {
	tag := r.PathValue("tag")
	var tagged []quote
	for _, q := range quotes() {
		if q.tags[0] == tag || q.tags[1] == tag {
			tagged = append(tagged, q)
		}
	}
	if tagged == nil {
		http.NotFound(w, r)
		return
	}
	var b strings.Builder
	writeQuotes(&b, tagged)
	writePage(w, http.StatusOK, "Quotations about "+tag, b.String())
}

func writeQuotes(b *strings.Builder, qs []quote) {
	for _, q := range qs {
		fmt.Fprintf(b, `<div class="quote"><span class="text">“%s”</span>
<span>by <small class="author">%s</small> <a href="/author/%s/">(about)</a></span>
<div class="tags">Tags:`, html.EscapeString(q.text), html.EscapeString(q.author.name), q.author.slug())
		for _, tag := range q.tags {
			fmt.Fprintf(b, ` <a class="tag" href="/quotes/tag/%[1]s/">%[1]s</a>`, tag)
		}
		b.WriteString("</div></div>\n")
	}
}

func authorPage(w http.ResponseWriter, r *http.Request) {
	for _, a := range authors() {
		if a.slug() == r.PathValue("author") {
			writePage(w, http.StatusOK, "About an author", fmt.Sprintf(`<div class="author-details">
<h3 class="author-title">%s</h3>
<p>Born: <span class="author-born-date">%s</span> <span class="author-born-location">in %s</span></p>
<div class="author-description">%s</div>
</div>`, html.EscapeString(a.name), a.born, html.EscapeString(a.place), html.EscapeString(a.note)))
			return
		}
	}
	http.NotFound(w, r)
}
