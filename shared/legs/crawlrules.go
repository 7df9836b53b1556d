package legs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

const nameCrawlRules = "crawl_rules"

// CrawlRules crawls a site by rules: Scrapy's CrawlSpider as a leg. Each rule
// takes links of HTML pages, and says who reads the pages they lead to and
// whether their links are followed in turn. The first rule that takes a link of
// a page wins.
//
// The spider's Parse is Scrapy's parse_start_url: it reads the pages that no
// rule has asked for, such as those of the start, and their links are followed.
// A page that a rule without a callback has asked for is read by no callback.
//
// A page of the start whose URL a rule takes is read by the rule's callback,
// too: links to it are duplicates, so no other request brings it there.
//
// A rule's requests carry in meta, as in Scrapy, rule (the rule's number, from
// 0) and link_text, and beside them rule_leg (the leg's name). Pages that another
// leg's rule or a callback of the spider has asked for, with a callback other
// than parse, are not followed.
type CrawlRules struct {
	// Name is the leg's name, unique in its spider.
	//
	// Default: crawl_rules.
	Name string `json:"name,omitempty"`

	// Rules are tried in order.
	Rules []Rule `json:"rules"`
}

// A Rule takes links and says what becomes of them.
type Rule struct {
	// LinkOptions say which links the rule takes; all of them by default.
	extract.LinkOptions `json:",inline"`

	// Callback names the spider's callback that reads the pages.
	//
	// Default: none, the pages are for following alone.
	Callback string `json:"callback,omitempty"`

	// Errback names the spider's errback that hears of pages that fail.
	//
	// Default: none.
	Errback string `json:"errback,omitempty"`

	// CBKwargs are arguments for the callback.
	CBKwargs crawl.Values `json:"cb_kwargs,omitempty"`

	// Follow says whether the rules are applied to the pages, too.
	//
	// Default: true without a callback, false with one.
	Follow *bool `json:"follow,omitempty"`

	// Priority ranks the requests: higher goes first.
	//
	// Default: 0.
	Priority int `json:"priority,omitempty"`

	// ProcessLinks changes or filters the links that the rule has taken from
	// a page.
	ProcessLinks func(page *spider.Page, links []extract.Link) []extract.Link `json:"-"`

	// ProcessRequest changes a request before the leg gives it, or drops it
	// with nil. A link whose request is dropped is not tried by other rules.
	ProcessRequest func(page *spider.Page, req *crawl.Request) *crawl.Request `json:"-"`
}

// Leg makes the leg.
func (o CrawlRules) Leg() spider.Leg {
	name := nameOr(o.Name, nameCrawlRules)
	return spider.Leg{Name: name, SetSpider: func(top *spider.Spider) (spider.Leg, error) {
		var m mistakes
		c := crawlRules{name: name, rules: o.Rules, followed: name + ".follow"}
		c.compile(top, &m)
		read := func(ctx context.Context, page *spider.Page, out *spider.Output) error {
			if err := c.readStart(ctx, page, out); err != nil {
				return err
			}
			follows, err := c.follows(page.Request)
			if follows && isHTML(page) {
				c.read(page, out)
			}
			return err
		}
		nobody := func(context.Context, *spider.Page, *spider.Output) error { return nil }
		return spider.Leg{
			Name: name, ProcessResponse: read, Callbacks: map[string]spider.Callback{c.followed: nobody}, Route: c.route,
		}, m.err()
	}}
}

// crawlRules are CrawlRules that are compiled.
type crawlRules struct {
	name  string
	rules []Rule
	links []*extract.LinkExtractor // by the rules' numbers

	// followed is the callback of pages that no callback reads. Without it
	// they would come to Parse.
	followed string
}

// The keys in meta. The rule and the text are Scrapy's; the leg's name says whose
// rule it is, as a spider may have more than one such leg, or a rule of its own.
const (
	metaRule     = "rule"
	metaLinkText = "link_text"
	metaRuleLeg  = "rule_leg"
)

func (c *crawlRules) compile(top *spider.Spider, m *mistakes) {
	if len(c.rules) == 0 {
		m.add("rules", errors.New("there are none: give a list of rules, such as {allow: /product/, callback: product}"))
	}
	for i, r := range c.rules {
		option := fmt.Sprintf("rules[%d]", i)
		links, err := r.LinkOptions.Compile()
		m.inside(option, err)
		c.links = append(c.links, links)
		m.add(option+".callback", checkCallback(top, r.Callback))
		m.add(option+".errback", checkErrback(top, r.Errback))
	}
}

// follows reports whether the rules are applied to a page.
func (c *crawlRules) follows(req *crawl.Request) (bool, error) {
	value := req.Meta[metaRule]
	if req.Meta[metaRuleLeg] != c.name {
		return callbackOf(req) == spider.DefaultCallback, nil
	}
	n, err := strconv.Atoi(fmt.Sprint(value))
	if err != nil || n < 0 || n >= len(c.rules) {
		return false, fmt.Errorf("meta has %s %v, and the rules are 0 to %d", metaRule, value, len(c.rules)-1)
	}
	return c.rules[n].follow(), nil
}

func (r Rule) follow() bool {
	if r.Follow != nil {
		return *r.Follow
	}
	return r.Callback == ""
}

// read gives the requests of all rules.
func (c *crawlRules) read(page *spider.Page, out *spider.Output) {
	seen := make(map[string]bool)
	for i, r := range c.rules {
		var links []extract.Link
		for _, link := range c.links[i].Extract(page.Document()) {
			if !seen[link.URL] {
				links = append(links, link)
			}
		}
		if r.ProcessLinks != nil {
			links = r.ProcessLinks(page, links)
		}
		for _, link := range links {
			seen[link.URL] = true
			req := c.request(i, link)
			if r.ProcessRequest != nil {
				if req = r.ProcessRequest(page, req); req == nil {
					continue
				}
			}
			if out.Request(req); out.Stopped() {
				return
			}
		}
	}
}

// readStart has a page of the start read as the rule says that takes its URL.
func (c *crawlRules) readStart(ctx context.Context, page *spider.Page, out *spider.Output) error {
	if !isStart(page.Request) {
		return nil
	}
	req, taken := c.route(page.Request.URL)
	if !taken {
		return nil
	}
	n, _ := req.Meta[metaRule].(int)
	return readAs(ctx, page, out, req, c.rules[n].ProcessRequest)
}

// route is the request of the first rule that takes a URL.
func (c *crawlRules) route(url string) (*crawl.Request, bool) {
	u, err := weburl.Parse(url)
	if err != nil {
		return nil, false
	}
	i := slices.IndexFunc(c.links, func(l *extract.LinkExtractor) bool { return l.Matches(u) })
	if i < 0 {
		return nil, false
	}
	return c.request(i, extract.Link{URL: u.String()}), true
}

func (c *crawlRules) request(i int, link extract.Link) *crawl.Request {
	r := c.rules[i]
	callback := r.Callback
	if callback == "" {
		callback = c.followed
	}
	return &crawl.Request{
		URL: link.URL, Callback: callback, Errback: r.Errback, CBKwargs: r.CBKwargs.Clone(), Priority: r.Priority,
		Meta: crawl.Values{metaRule: i, metaLinkText: link.Text, metaRuleLeg: c.name},
	}
}
