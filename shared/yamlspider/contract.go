package yamlspider

import (
	"reflect"

	"go.yaml.in/yaml/v4"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// A contract says what a callback makes of a page as it is on the web today;
// skitter check tells what does not hold any more.
type contract struct {
	// URL is the page.
	URL word `json:"url"`

	// Callback reads it.
	//
	// Default: parse.
	Callback string `json:"callback,omitempty"`

	// CBKwargs are arguments for the callback.
	CBKwargs crawl.Values `json:"cb_kwargs,omitempty"`

	// Meta are values that the request carries for the spider.
	Meta crawl.Values `json:"meta,omitempty"`

	// Args are the arguments of the job (-a NAME=VALUE).
	Args map[string]string `json:"args,omitempty"`

	// Items says how many items the page gives: a number, or min and max.
	//
	// Default: any number.
	Items count `json:"items,omitempty"`

	// Requests says how many requests the page gives: a number, or min and
	// max.
	//
	// Default: any number.
	Requests count `json:"requests,omitempty"`

	// Scrapes are fields that every item has a value in.
	Scrapes []string `json:"scrapes,omitempty"`
}

// A count is a number, or a range.
type count struct{ spider.Count }

// A bounds is a count that is a range.
type bounds struct {
	// Min is the least number.
	//
	// Default: 0.
	Min *int `json:"min,omitempty"`

	// Max is the greatest number.
	//
	// Default: any.
	Max *int `json:"max,omitempty"`
}

func (c *count) readNode(d *decoder, n *yaml.Node) {
	if i, ok := integer(n); ok && i >= 0 && i <= mostCounted {
		c.Count = spider.Exactly(int(i))
		return
	}
	if n.Kind != yaml.MappingNode {
		d.at(n, "it wants a number of 0 or more, or {min: 1, max: 16}, and got %s", describe(n))
		return
	}
	var b bounds
	before := len(d.found)
	d.object(n, reflect.ValueOf(&b).Elem(), "a count")
	least := 0
	if b.Min != nil {
		least = *b.Min
	}
	switch {
	case len(d.found) > before:
	case b.Max == nil:
		c.Count = spider.AtLeast(least)
	case *b.Max < least || least < 0:
		d.at(n, "no number is from %d to %d", least, *b.Max)
	default:
		c.Count = spider.Between(least, *b.Max)
	}
	if least < 0 && b.Max == nil {
		d.at(n, "min is %d: give 0 or more", least)
	}
}

// mostCounted is more than a page can give.
const mostCounted = 1 << 31

// contracts gives the spider its contracts, each checked by itself, so that a
// mistake has its place.
func (d *decoder) contracts(f *file, s *spider.Spider) {
	for i := range f.Contracts {
		c := &f.Contracts[i]
		made := spider.Contract{
			URL: c.URL.text, Callback: c.Callback, CBKwargs: c.CBKwargs, Meta: c.Meta, Args: c.Args,
			Items: c.Items.Count, Requests: c.Requests.Count, Scrapes: c.Scrapes,
		}
		alone := *s
		alone.Contracts = []spider.Contract{made}
		if err := s.CheckArgs(c.Args); err != nil {
			d.at(c.at(d), "contract: %v", err)
		}
		if _, err := spider.NewRegistry(alone); err != nil {
			d.at(c.at(d), "%v", err)
		}
		s.Contracts = append(s.Contracts, made)
	}
}

// at is where a contract stands.
func (c *contract) at(d *decoder) *yaml.Node {
	if c.URL.at != nil {
		return c.URL.at
	}
	return find(d.root, "contracts")
}
