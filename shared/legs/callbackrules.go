package legs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/skitterhq/skitter/shared/spider"
)

const nameCallbackRules = "callback_rules"

// CallbackRules hands each page to a callback by its URL: SEP-016's callback
// dispatcher. The URL is the response's, so a redirect leads to the callback of
// the address that answered. The first rule that matches wins; a page that none
// matches is left to the spider's Parse and to the other legs.
//
// A callback reads a page once: one that the request named, or that another leg
// has called, is not called again.
type CallbackRules struct {
	// Name is the leg's name, unique in its spider.
	//
	// Default: callback_rules.
	Name string `json:"name,omitempty"`

	// Rules are tried in order.
	Rules []CallbackRule `json:"rules"`
}

// A CallbackRule sends the pages of some URLs to a callback.
type CallbackRule struct {
	// URL is a regular expression that is found in the page's URL.
	URL string `json:"url"`

	// Callback names the spider's callback that reads the page.
	Callback string `json:"callback"`
}

// Leg makes the leg.
func (o CallbackRules) Leg() spider.Leg {
	name := nameOr(o.Name, nameCallbackRules)
	return spider.Leg{Name: name, SetSpider: func(top *spider.Spider) (spider.Leg, error) {
		var m mistakes
		urls := o.compile(top, &m)
		return spider.Leg{Name: name, ProcessResponse: func(ctx context.Context, page *spider.Page, out *spider.Output) error {
			i := slices.IndexFunc(urls, func(url *regexp.Regexp) bool { return url.MatchString(page.Response.URL) })
			if i < 0 || out.Called(o.Rules[i].Callback) {
				return nil
			}
			return out.Call(ctx, o.Rules[i].Callback)
		}}, m.err()
	}}
}

func (o CallbackRules) compile(top *spider.Spider, m *mistakes) []*regexp.Regexp {
	if len(o.Rules) == 0 {
		m.add("rules", errors.New("there are none: give a list of url (a regular expression) and callback"))
	}
	urls := make([]*regexp.Regexp, len(o.Rules))
	for i, r := range o.Rules {
		option := fmt.Sprintf("rules[%d]", i)
		var err error
		if urls[i], err = regexp.Compile(r.URL); r.URL == "" {
			err = errors.New("it is empty: give a regular expression, such as /product/")
		}
		m.add(option+".url", err)
		if r.Callback == "" {
			m.add(option+".callback", errors.New("it is empty: name one of the spider's callbacks"))
			continue
		}
		m.add(option+".callback", checkCallback(top, r.Callback))
	}
	return urls
}
