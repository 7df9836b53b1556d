package site

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	navLinks   = 30 // at most; there is none to a product that is not there
	paragraphs = 24 // a page, a multiple of 4
	tags       = 5  // a page

	// privateEvery is the distance between two products that link to the
	// private area, which robots.txt forbids.
	privateEvery = 100
)

// privateLink has no rel="nofollow": robots.txt alone keeps a crawler out.
const privateLink = `<a href="/private/secret">Staff only</a>`

// A shop makes product pages. What pages share is made once, so a page is a
// matter of copying. It is never written to after newShop.
type shop struct {
	pages      int
	words      []string
	top        string // from a page's title to its name
	paragraphs []string
}

func newShop(pages int) *shop {
	sh := &shop{pages: pages, words: strings.Fields(vocabulary)}
	sh.paragraphs = newParagraphs(sh.words)

	var top strings.Builder
	top.WriteString("</title><link rel=\"stylesheet\" href=\"/static/shop.css\"></head><body>\n<nav><ul>")
	for i := range min(navLinks, pages) {
		fmt.Fprintf(&top, "<li><a href=\"/p/%d\">Category %s %d</a></li>\n", i, sh.words[i], i)
	}
	top.WriteString("</ul></nav>\n<main><h1 class=\"name\">Product ")
	sh.top = top.String()
	return sh
}

// appendProduct appends the page of product n, 0 <= n < pages, to b.
func (sh *shop) appendProduct(b []byte, n int) []byte {
	r := newRandom(n, pageStream)

	b = append(b, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Product "...)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, sh.top...)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, `</h1><p class="price">`...)
	b = appendPrice(b, n)
	b = append(b, `</p><p class="sku">`...)
	b = appendSKU(b, n)
	b = append(b, "</p>\n<div class=\"desc\">"...)
	// From each quarter of the text apart: there are then 2^44 descriptions,
	// and in one no paragraph comes twice.
	for quarter := range slices.Chunk(sh.paragraphs, textParagraphs/4) {
		for _, p := range pick(r, quarter, make([]string, 0, paragraphs/4)) {
			b = append(b, p...)
		}
	}
	b = append(b, `</div><ul class="tags">`...)
	for _, tag := range pick(r, sh.words, make([]string, 0, tags)) {
		b = append(b, `<li class="tag">`...)
		b = append(b, tag...)
		b = append(b, `</li>`...)
	}
	b = append(b, "</ul>\n<ul class=\"related\">"...)
	for k := range relatedLinks {
		to := int64(related(r, n, k, sh.pages))
		b = append(b, `<li><a class="rel" href="/p/`...)
		b = strconv.AppendInt(b, to, 10)
		b = append(b, `">Related `...)
		b = strconv.AppendInt(b, to, 10)
		b = append(b, "</a></li>\n"...)
	}
	b = append(b, "</ul></main>"...)
	if n%privateEvery == 0 {
		b = append(b, "<footer>"+privateLink+"</footer>"...)
	}
	return append(b, "</body></html>\n"...)
}

// appendPrice appends the price of product n: £5.00 to £94.99.
func appendPrice(b []byte, n int) []byte {
	pence := 500 + n*137%9000
	b = append(b, "£"...)
	b = strconv.AppendInt(b, int64(pence/100), 10)
	return append(b, '.', byte('0'+pence/10%10), byte('0'+pence%10))
}

// appendSKU appends the stock number of product n: SKU- and at least six
// digits.
func appendSKU(b []byte, n int) []byte {
	b = append(b, "SKU-"...)
	for limit := 100_000; limit > 1 && n < limit; limit /= 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(n), 10)
}

// product returns the number in a product's path, -1 if there is no such
// product. A number has one spelling, so that a product has one address.
func (sh *shop) product(path string) int {
	digits, found := strings.CutPrefix(path, "/p/")
	if !found || digits == "" || len(digits) > 7 || digits[0] == '0' && digits != "0" {
		return -1
	}
	n := 0
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	if n >= sh.pages {
		return -1
	}
	return n
}
