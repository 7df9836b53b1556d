package legs

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

const namePagination = "pagination"

// Pagination turns the pages of a list, in one of three ways: by a selector of
// the next link (next), by a page number in the URL's query (page_param), or by
// one elsewhere in the URL (page_pattern). Without any of them it follows
// rel="next", of links on the page and in the Link header.
//
// The next page goes to the callback of the page at hand, with its cb_kwargs,
// unless the options name another.
type Pagination struct {
	// Name is the leg's name, unique in its spider.
	//
	// Default: pagination.
	Name string `json:"name,omitempty"`

	// Next selects the link to the next page: an element with an href, an
	// address (li.next a::attr(href)), or with next_param a value. The first
	// that is found counts, and the page without one is the last.
	Next Selector `json:"next,omitzero"`

	// NextParam is the argument of the query that takes what next selects, a
	// cursor, on the way to the next page.
	NextParam string `json:"next_param,omitempty"`

	// PageParam is the argument of the query that has the page's number, as
	// in ?page=2. A page without it is the one numbered start.
	PageParam string `json:"page_param,omitempty"`

	// PagePattern is a regular expression with one group, which is the page's
	// number in the URL, as in /page/(\d+)/. A page whose URL does not match
	// is passed over.
	PagePattern string `json:"page_pattern,omitempty"`

	// Start is the number of the first page.
	//
	// Default: 1.
	Start *int `json:"start,omitempty"`

	// Step is added to a page's number to make the next one: more than 1 for
	// an offset that counts entries.
	//
	// Default: 1.
	Step int `json:"step,omitempty"`

	// While selects what a page has as long as there is a next one, such as
	// the list's entries: a page where it finds nothing is the last.
	While Selector `json:"while,omitzero"`

	// Until selects what the last page has: where it finds something, no page
	// follows.
	Until Selector `json:"until,omitzero"`

	// MaxPages is the most pages of a list, its first one included.
	//
	// Default: no limit.
	MaxPages int `json:"max_pages,omitempty"`

	// Follow says how the next page is asked for. Callback and errback are by
	// default those of the page at hand.
	Follow `json:",inline"`

	// Only says which pages are lists.
	Only Only `json:"only,omitzero"`
}

// Leg makes the leg.
func (o Pagination) Leg() spider.Leg {
	name := nameOr(o.Name, namePagination)
	return spider.Leg{Name: name, SetSpider: func(top *spider.Spider) (spider.Leg, error) {
		var m mistakes
		p := paginator{Pagination: o, counter: name + "_page", start: 1}
		p.compile(top, &m)
		return spider.Leg{Name: name, ProcessResponse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			if p.wanted(page) {
				p.turn(page, out)
			}
			return nil
		}}, m.err()
	}}
}

// A paginator is a Pagination that is compiled.
type paginator struct {
	Pagination
	next, while, until *query
	pattern            *regexp.Regexp
	start              int
	wanted             func(*spider.Page) bool

	// counter is the key in meta that counts pages where URLs do not.
	counter string
}

func (p *paginator) compile(top *spider.Spider, m *mistakes) {
	p.Follow.check(top, m)
	p.wanted = p.Only.compile(top, m)
	p.next = m.selector("next", p.Next)
	p.while = m.selector("while", p.While)
	p.until = m.selector("until", p.Until)
	p.compilePattern(m)
	if p.Start != nil {
		p.start = *p.Start
	}
	if p.Step == 0 {
		p.Step = 1
	}
	numbered := p.PageParam != "" || p.PagePattern != ""
	ways := 0
	for _, set := range []bool{!p.Next.IsZero(), p.PageParam != "", p.PagePattern != ""} {
		if set {
			ways++
		}
	}
	switch {
	case ways > 1:
		m.add("next", errors.New("there is one way to turn pages: give one of next, page_param and page_pattern"))
	case p.NextParam != "" && p.Next.IsZero():
		m.add("next_param", errors.New("it takes what next selects: give next, too"))
	case numbered && p.MaxPages == 0 && p.While.IsZero() && p.Until.IsZero():
		m.add("max_pages", errors.New("numbers have no end: give max_pages, while (a selector of what each page has) or until"))
	case !numbered && (p.Start != nil || p.Step != 1):
		m.add("start", errors.New("start and step go with page_param or page_pattern"))
	}
	if p.MaxPages < 0 {
		m.add("max_pages", fmt.Errorf("it is %d: give 1 or more, or 0 for no limit", p.MaxPages))
	}
}

func (p *paginator) compilePattern(m *mistakes) {
	if p.PagePattern == "" {
		return
	}
	var err error
	if p.pattern, err = regexp.Compile(p.PagePattern); err == nil && p.pattern.NumSubexp() != 1 {
		err = fmt.Errorf("%q has %d groups: put the number, and nothing else, in parentheses, as in /page/(\\d+)/", p.PagePattern, p.pattern.NumSubexp())
	}
	m.add("page_pattern", err)
}

// turn gives the request for the next page, if there is one.
func (p *paginator) turn(page *spider.Page, out *spider.Output) {
	if p.while != nil && p.while.in(page).Len() == 0 || p.until != nil && p.until.in(page).Len() > 0 {
		return
	}
	var url string
	number := 0
	switch {
	case p.PageParam != "":
		url = p.nextNumber(page)
	case p.pattern != nil:
		url = p.nextInPattern(page)
	default:
		if number = p.pageNumber(page); p.MaxPages > 0 && number >= p.MaxPages {
			return
		}
		url = p.nextLink(page)
	}
	if url == "" {
		return
	}
	req := p.Follow.request(url)
	p.inherit(req, page.Request)
	if number > 0 && p.MaxPages > 0 {
		if req.Meta == nil {
			req.Meta = crawl.Values{}
		}
		req.Meta[p.counter] = number + 1
	}
	out.Request(req)
}

// inherit takes from the page's request what the options do not say.
func (p *paginator) inherit(req, from *crawl.Request) {
	if req.Callback == "" {
		req.Callback = from.Callback
		if req.CBKwargs == nil {
			req.CBKwargs = from.CBKwargs.Clone()
		}
	}
	if req.Errback == "" {
		req.Errback = from.Errback
	}
}
