package legs

import (
	"context"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

const nameRegexLinks = "regex_links"

// RegexLinks follows the links of HTML pages whose URLs match regular
// expressions: SEP-016's RegexHtmlLinkExtractor. Without options it follows
// every link. Pages that are not HTML are passed over.
//
// A page of the start whose URL matches is read by the callback, too: links to it
// are duplicates, so no other request brings it there.
type RegexLinks struct {
	// Name is the leg's name, unique in its spider.
	//
	// Default: regex_links.
	Name string `json:"name,omitempty"`

	// LinkOptions say which links are taken; allow has the regular
	// expressions.
	extract.LinkOptions `json:",inline"`

	// Follow says how they are asked for.
	Follow `json:",inline"`

	// Only says which pages are read for links.
	Only Only `json:"only,omitzero"`

	// ProcessLinks changes or filters the links of a page.
	ProcessLinks func(page *spider.Page, links []extract.Link) []extract.Link `json:"-"`

	// ProcessRequest changes a request before the leg gives it, or drops it
	// with nil.
	ProcessRequest func(page *spider.Page, req *crawl.Request) *crawl.Request `json:"-"`
}

// Leg makes the leg.
func (o RegexLinks) Leg() spider.Leg {
	name := nameOr(o.Name, nameRegexLinks)
	return spider.Leg{Name: name, SetSpider: func(top *spider.Spider) (spider.Leg, error) {
		var m mistakes
		o.Follow.check(top, &m)
		wanted := o.Only.compile(top, &m)
		links, err := o.LinkOptions.Compile()
		if err != nil {
			m.errs = append(m.errs, err)
		}
		return spider.Leg{Name: name, ProcessResponse: func(ctx context.Context, page *spider.Page, out *spider.Output) error {
			if err := o.readStart(ctx, page, links, out); err != nil {
				return err
			}
			if isHTML(page) && wanted(page) {
				o.follow(page, links, out)
			}
			return nil
		}}, m.err()
	}}
}

// readStart has a page of the start read as a link to it would have it read.
func (o RegexLinks) readStart(ctx context.Context, page *spider.Page, links *extract.LinkExtractor, out *spider.Output) error {
	u, err := weburl.Parse(page.Request.URL)
	if err != nil || !isStart(page.Request) || !links.Matches(u) {
		return nil
	}
	return readAs(ctx, page, out, o.Follow.request(page.Request.URL), o.ProcessRequest)
}

func (o RegexLinks) follow(page *spider.Page, extractor *extract.LinkExtractor, out *spider.Output) {
	links := extractor.Extract(page.Document())
	if o.ProcessLinks != nil {
		links = o.ProcessLinks(page, links)
	}
	for _, link := range links {
		req := o.Follow.request(link.URL)
		if o.ProcessRequest != nil {
			if req = o.ProcessRequest(page, req); req == nil {
				continue
			}
		}
		if out.Request(req); out.Stopped() {
			return
		}
	}
}
