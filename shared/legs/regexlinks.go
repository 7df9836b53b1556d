package legs

import (
	"context"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
)

const nameRegexLinks = "regex_links"

// RegexLinks follows the links of HTML pages whose URLs match regular
// expressions: SEP-016's RegexHtmlLinkExtractor. Without options it follows
// every link. Pages that are not HTML are passed over.
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
		return spider.Leg{Name: name, ProcessResponse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			if isHTML(page) && wanted(page) {
				o.follow(page, links, out)
			}
			return nil
		}}, m.err()
	}}
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
