package legs

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// relNext is what a page says of its next one in HTML. The standard compares
// the words of rel without regard to case.
var relNext = extract.MustCSS(`link[rel~="next" i][href], a[rel~="next" i][href], area[rel~="next" i][href]`)

// pageNumber says which page of its list this is, by what its request carries.
func (p *paginator) pageNumber(page *spider.Page) int {
	switch n := page.Request.Meta[p.counter].(type) {
	case json.Number:
		if i, err := strconv.Atoi(string(n)); err == nil {
			return i
		}
	case int:
		return n
	}
	return 1
}

// nextLink is the URL of the next page by a link, "" if there is none.
func (p *paginator) nextLink(page *spider.Page) string {
	var ref string
	switch {
	case p.NextParam != "":
		if cursor := strings.TrimSpace(p.next.in(page).Get()); cursor != "" && cursor != "null" {
			return withParam(page.Response.URL, p.NextParam, cursor)
		}
	case p.next != nil:
		ref = reference(p.next.in(page))
	default:
		if isHTML(page) {
			ref = page.Select(relNext).Attr("href")
		}
		if ref == "" {
			return p.headerLink(page)
		}
	}
	if strings.TrimSpace(ref) == "" {
		return ""
	}
	return otherPage(page, ref)
}

// reference is the address that a selector found: an element's href, or the
// text or value itself.
func reference(s extract.Selection) string {
	for one := range s.Each() {
		if href := one.Attr("href"); href != "" {
			return href
		}
		if value := one.Get(); !strings.HasPrefix(value, "<") {
			return value
		}
	}
	return ""
}

// headerLink is the URL of rel="next" in the Link header (RFC 8288), which is
// relative to the page's own address.
func (p *paginator) headerLink(page *spider.Page) string {
	ref := linkHeader(page.Headers.Values("Link"), "next")
	base, err := weburl.Parse(page.Response.URL)
	if ref == "" || err != nil {
		return ""
	}
	u, err := base.Resolve(ref)
	if err != nil || !extract.Fetchable(u) {
		return ""
	}
	return u.String()
}

// otherPage resolves an address, and leaves one that leads to the page itself,
// as many last pages have it.
func otherPage(page *spider.Page, ref string) string {
	req, ok := page.NewRequest(ref, "")
	if !ok {
		return ""
	}
	next, err := weburl.Parse(req.URL)
	if err != nil {
		return ""
	}
	if own, err := weburl.Parse(page.Response.URL); err == nil && own.WithoutFragment() == next.WithoutFragment() {
		return ""
	}
	return req.URL
}

// nextNumber is the page's URL with the next number in its query.
func (p *paginator) nextNumber(page *spider.Page) string {
	number, found := param(page.Response.URL, p.PageParam)
	if !found {
		number = strconv.Itoa(p.start)
	}
	next, ok := p.following(number)
	if !ok {
		return ""
	}
	return withParam(page.Response.URL, p.PageParam, next)
}

// nextInPattern is the page's URL with the next number in place of the
// pattern's group.
func (p *paginator) nextInPattern(page *spider.Page) string {
	at := p.pattern.FindStringSubmatchIndex(page.Response.URL)
	if at == nil || at[2] < 0 {
		return ""
	}
	next, ok := p.following(page.Response.URL[at[2]:at[3]])
	if !ok {
		return ""
	}
	return page.Response.URL[:at[2]] + next + page.Response.URL[at[3]:]
}

// following is the number after a page's, unless that is the last or no number.
func (p *paginator) following(text string) (string, bool) {
	number, err := strconv.Atoi(text)
	if err != nil || p.Step > 0 && number > math.MaxInt-p.Step || p.Step < 0 && number < math.MinInt-p.Step {
		return "", false
	}
	if p.MaxPages > 0 && (number-p.start)/p.Step+1 >= p.MaxPages {
		return "", false
	}
	next := number + p.Step
	if strings.HasPrefix(text, "0") && next >= 0 {
		return fmt.Sprintf("%0*d", len(text), next), true // 007 comes before 008
	}
	return strconv.Itoa(next), true
}

// param is the value of an argument of a URL's query, and whether it is there.
func param(address, name string) (string, bool) {
	u, err := weburl.Parse(address)
	if err != nil {
		return "", false
	}
	for pair := range strings.SplitSeq(u.Query(), "&") {
		key, value, _ := strings.Cut(pair, "=")
		if unescaped(key) == name {
			return unescaped(value), true
		}
	}
	return "", false
}

// withParam gives an argument of a URL's query a value, in its place or at the
// end. The others stay as they are written; the fragment goes.
func withParam(address, name, value string) string {
	u, err := weburl.Parse(address)
	if err != nil {
		return ""
	}
	argument := url.QueryEscape(name) + "=" + url.QueryEscape(value)
	var pairs []string
	set := false
	for pair := range strings.SplitSeq(u.Query(), "&") {
		key, _, _ := strings.Cut(pair, "=")
		switch {
		case unescaped(key) != name:
			if pair != "" {
				pairs = append(pairs, pair)
			}
		case !set:
			set = true
			pairs = append(pairs, argument)
		}
	}
	if !set {
		pairs = append(pairs, argument)
	}
	before, _, _ := strings.Cut(u.WithoutFragment().String(), "?")
	return before + "?" + strings.Join(pairs, "&")
}
