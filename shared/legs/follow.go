package legs

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// Follow says how a leg asks for the pages that it finds.
type Follow struct {
	// Callback names the spider's callback that reads the pages.
	//
	// Default: parse.
	Callback string `json:"callback,omitempty"`

	// Errback names the spider's errback that hears of those that fail.
	//
	// Default: none.
	Errback string `json:"errback,omitempty"`

	// CBKwargs are arguments for the callback.
	CBKwargs crawl.Values `json:"cb_kwargs,omitempty"`

	// Meta are values that the request carries for the spider.
	Meta crawl.Values `json:"meta,omitempty"`

	// Headers are sent with the requests.
	Headers map[string]string `json:"headers,omitempty"`

	// Priority ranks the requests: higher goes first.
	//
	// Default: 0.
	Priority int `json:"priority,omitempty"`

	// DontFilter asks for pages that were asked for before, too.
	//
	// Default: false.
	DontFilter bool `json:"dont_filter,omitempty"`
}

// check adds what is wrong to m.
func (f Follow) check(top *spider.Spider, m *mistakes) {
	m.add("callback", checkCallback(top, f.Callback))
	m.add("errback", checkErrback(top, f.Errback))
	for _, name := range slices.Sorted(maps.Keys(f.Headers)) {
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			m.add("headers", fmt.Errorf("%q is no name of a header: it is letters, digits and - alone", name))
		case !httpguts.ValidHeaderFieldValue(f.Headers[name]):
			m.add("headers."+name, errors.New("it has a line end or another control character, which no header may have"))
		}
	}
}

// request makes a request for an absolute URL.
func (f Follow) request(url string) *crawl.Request {
	req := &crawl.Request{
		URL: url, Callback: f.Callback, Errback: f.Errback, CBKwargs: f.CBKwargs.Clone(), Meta: f.Meta.Clone(),
		Priority: f.Priority, DontFilter: f.DontFilter,
	}
	for name, value := range f.Headers {
		req.SetHeader(name, value)
	}
	return req
}

// checkCallback reports a callback that the spider does not have.
func checkCallback(top *spider.Spider, name string) error {
	if top.HasCallback(name) {
		return nil
	}
	return fmt.Errorf("the spider has no callback %q; there are %s", name, listed(top.CallbackNames()))
}

// maxListed is how many names an error lists.
const maxListed = 20

// listed are names for an error: the first of many.
func listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// checkErrback reports an errback that the spider does not have.
func checkErrback(top *spider.Spider, name string) error {
	if name == "" || top.Errbacks[name] != nil {
		return nil
	}
	there := slices.Sorted(maps.Keys(top.Errbacks))
	if len(there) == 0 {
		return fmt.Errorf("the spider has no errback %q, and no other", name)
	}
	return fmt.Errorf("the spider has no errback %q; there are %s", name, listed(there))
}

// Only says which pages a leg reads. The zero Only is all of them.
type Only struct {
	// Callbacks keep the leg to pages that were asked for with one of these
	// callbacks; parse is that of requests which name none.
	//
	// Default: any callback.
	Callbacks []string `json:"callbacks,omitempty"`

	// URLs are regular expressions, and keep the leg to pages in whose URL
	// one of them is found.
	//
	// Default: any URL.
	URLs []string `json:"urls,omitempty"`
}

// compile returns what decides whether a page is to be read, and adds what is
// wrong to m.
func (o Only) compile(top *spider.Spider, m *mistakes) func(*spider.Page) bool {
	for _, name := range o.Callbacks {
		m.add("only.callbacks", checkCallback(top, name))
	}
	urls := m.patterns("only.urls", o.URLs)
	return func(page *spider.Page) bool {
		return (len(o.Callbacks) == 0 || slices.Contains(o.Callbacks, callbackOf(page.Request))) &&
			(len(urls) == 0 || findsAny(urls, page.Response.URL))
	}
}

// callbackOf is the name of a request's callback, spelt out.
func callbackOf(req *crawl.Request) string {
	if req.Callback == "" {
		return spider.DefaultCallback
	}
	return req.Callback
}

func findsAny(patterns []*regexp.Regexp, text string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(text) })
}

// mistakes collects what is wrong with a leg's options, so that all of it is
// told at once.
type mistakes struct{ errs []error }

// add keeps an error with the option's name; nil is none.
func (m *mistakes) add(option string, err error) {
	if err != nil {
		m.errs = append(m.errs, fmt.Errorf("option %s: %w", option, err))
	}
}

// inside keeps errors of options that stand inside another, such as a rule.
func (m *mistakes) inside(option string, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			m.inside(option, e)
		}
		return
	}
	if err != nil {
		text, found := strings.CutPrefix(err.Error(), "option ")
		if !found {
			text = ": " + text
		} else {
			text = "." + text
		}
		m.errs = append(m.errs, fmt.Errorf("option %s%s", option, text))
	}
}

// patterns compiles regular expressions.
func (m *mistakes) patterns(option string, texts []string) []*regexp.Regexp {
	var patterns []*regexp.Regexp
	for _, text := range texts {
		p, err := regexp.Compile(text)
		m.add(option, err)
		patterns = append(patterns, p)
	}
	return patterns
}

// err is nil if there are no mistakes.
func (m *mistakes) err() error { return errors.Join(m.errs...) }

// nameOr is a leg's name, with its kind's as the default.
func nameOr(name, kind string) string {
	if name == "" {
		return kind
	}
	return name
}
