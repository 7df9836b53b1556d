package spider

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A Page is a response with what a callback needs to read it. It is parsed
// once, when first asked. It is used by one goroutine at a time.
type Page struct {
	*crawl.Response

	// Failure says how the request failed, for an errback; nil otherwise.
	Failure error

	// Job is the job that the page was fetched for, Args its arguments.
	Job  crawl.Job
	Args map[string]string

	// Spider is the spider at the top.
	Spider *Spider

	// Log is the job's log (Scrapy's spider.logger), and names the page's
	// address. It is never nil.
	Log *slog.Logger

	// RetriesLeft is how many more times the page may be fetched again; see
	// [Page.Retry].
	RetriesLeft int

	doc   *extract.Document
	calls int // of Output.Call that are under way

	// readers are the callbacks that have read it or are about to, by name.
	readers map[string]bool
}

// NewPage makes a page of a response, whose Request must be set. What failed
// without an answer has a response of status 0 with nothing else in it. Until
// Log is set, it goes nowhere.
func NewPage(resp *crawl.Response, s *Spider, job crawl.Job, args map[string]string) *Page {
	return &Page{Response: resp, Spider: s, Job: job, Args: args, Log: slog.New(slog.DiscardHandler)}
}

// CBKwargs are the arguments that the request brought for its callback; nil if
// there are none. Numbers are json.Number, as they come out of JSON.
func (p *Page) CBKwargs() crawl.Values { return p.Request.CBKwargs }

// Meta is what the spider put into the request; nil if that is nothing. Numbers
// are json.Number, as they come out of JSON.
func (p *Page) Meta() crawl.Values { return p.Request.Meta }

// Retry is the error by which a callback, an errback or a leg has the page
// fetched again, since this answer is of no use: a page of a ban, an empty list.
// The reason is a short, stable name for stats ("banned"); empty is
// [crawl.Unspecified].
//
// The limits are those of the middleware Retry: RETRY_TIMES or the request's own
// MaxRetryTimes, none with DontRetry, and the waits from RETRY_DELAY on. Items
// that this answer has given do not count, requests do. Where RetriesLeft is 0
// the page fails as "gave-up: REASON"; a callback that knows better looks at
// that first. To wait for longer, return a *crawl.Retry with After.
func (p *Page) Retry(reason string) error {
	if reason == "" {
		reason = crawl.Unspecified
	}
	return &crawl.Retry{Reason: reason}
}

// LimitParse sets the size of body in bytes above which the page is read by the
// tokenizer alone (PARSE_MAXSIZE), before it is first read; see
// extract.Document.Tokenized.
func (p *Page) LimitParse(bytes int64) { p.Document().LimitParse(bytes) }

// Document is the parsed page, for package extract.
func (p *Page) Document() *extract.Document {
	if p.doc == nil {
		p.doc = extract.NewDocument(p.Body, p.Headers.Get("Content-Type"), p.Response.URL)
	}
	return p.doc
}

// CSS selects by a CSS selector, with ::text and ::attr(name). A selector that
// is wrong selects nothing, and fails the page with an error that names it;
// extract.MustCSS finds it when the program starts instead.
func (p *Page) CSS(selector string) extract.Selection { return p.Document().CSS(selector) }

// XPath selects by an XPath expression, on the same terms.
func (p *Page) XPath(expression string) extract.Selection { return p.Document().XPath(expression) }

// XPathWith is XPath with values for the expression's variables, as in
// p.XPathWith("//a[@id=$id]", map[string]any{"id": id}).
func (p *Page) XPathWith(expression string, vars map[string]any) extract.Selection {
	return p.Document().XPathWith(expression, vars)
}

// JMESPath selects by a JMESPath expression in a page that is JSON. A page that
// is none fails with an error.
func (p *Page) JMESPath(expression string) extract.Selection {
	return p.Document().JMESPath(expression)
}

// JSONPath is JMESPath with a JSONPath expression.
func (p *Page) JSONPath(expression string) extract.Selection {
	return p.Document().JSONPath(expression)
}

// JSON decodes a body that is JSON into v, as json.Unmarshal does. Numbers that
// go into an any are json.Number, with all their digits.
func (p *Page) JSON(v any) error {
	if err := p.Document().JSON(v); err != nil {
		return fmt.Errorf("the JSON of %s: %w", weburl.Shown(p.Response.URL), err)
	}
	return nil
}

// Select selects by a selector that is compiled already.
func (p *Page) Select(q *extract.Query) extract.Selection { return p.Document().Select(q) }

// Re finds a regular expression in the body's text; see extract.Document.Re.
func (p *Page) Re(expression string) []string { return p.Document().Re(expression) }

// Text is the body as text, decoded by its encoding.
func (p *Page) Text() string { return p.Document().Text() }

// Join resolves an address against the page's base: its <base href> or its
// own address. It returns "" for one that cannot be parsed.
func (p *Page) Join(ref string) string {
	u, err := p.Document().Resolve(ref)
	if err != nil {
		return ""
	}
	return u.String()
}

// NewRequest makes a request for an address on the page, and reports whether
// it is one that can be fetched.
func (p *Page) NewRequest(ref, callback string) (*crawl.Request, bool) {
	u, ok := p.Document().Page(ref)
	if !ok {
		return nil, false
	}
	return &crawl.Request{URL: u.String(), Callback: callback}, true
}

// found is what a callback met on a page besides what it gave.
type found struct {
	selectors error // what was wrong with them
	notPages  int   // addresses that lead to no page
	tokenized bool  // it is too large for a parser, which was not found before
	truncated bool  // it is XML of too many nodes, which was not found before
}

func (p *Page) takeFound() found {
	if p.doc == nil {
		return found{}
	}
	f := found{selectors: p.doc.TakeErr(), notPages: p.doc.TakeNotPages()}
	if p.doc.WasTokenized() && !p.HasFlag(crawl.FlagTokenized) {
		p.Flags = append(p.Flags, crawl.FlagTokenized)
		f.tokenized = true
	}
	if p.doc.Truncated() && !p.HasFlag(crawl.FlagTruncated) {
		p.Flags = append(p.Flags, crawl.FlagTruncated)
		f.truncated = true
	}
	return f
}

// ErrUnknownCallback is wrapped by the error of a page whose request names a
// callback that its spider does not have.
var ErrUnknownCallback = errors.New("unknown callback")
