package legs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/sitemap"
	"github.com/skitterhq/skitter/shared/spider"
)

const nameFeedLinks = "feed_links"

// FeedLinks follows the entries of feeds: SEP-016's Rss2LinkExtractor. It reads
// RSS from 0.9 to 2.0, RDF, Atom and JSON Feed, whatever their Content-Type
// says; other pages are passed over. RSS and Atom are read as XML, faults and
// all, and entry by entry.
//
// An entry's address is its link; in Atom the first one without rel or with
// rel="alternate". Without a link it is the guid, if that is a permanent one.
//
// An entry of JSON Feed whose url is not a text is passed over, logged and counted
// as leg/NAME/bad_entry_count. Of a feed that is broken, which
// leg/NAME/broken_count counts, the entries before the fault are followed.
type FeedLinks struct {
	// Name is the leg's name, unique in its spider.
	//
	// Default: feed_links.
	Name string `json:"name,omitempty"`

	// Allow are regular expressions. Entries are followed in whose URL one of
	// them is found.
	//
	// Default: all entries.
	Allow []string `json:"allow,omitempty"`

	// Deny are regular expressions. Entries are not followed in whose URL one
	// of them is found; it wins over allow.
	//
	// Default: none.
	Deny []string `json:"deny,omitempty"`

	// Follow says how the pages are asked for.
	Follow `json:",inline"`

	// Only says which pages are read.
	Only Only `json:"only,omitzero"`

	// ProcessRequest changes the request for an entry's page, or drops it with
	// nil.
	ProcessRequest func(page *spider.Page, entry sitemap.Entry, req *crawl.Request) *crawl.Request `json:"-"`
}

// Leg makes the leg.
func (o FeedLinks) Leg() spider.Leg {
	name := nameOr(o.Name, nameFeedLinks)
	return spider.Leg{Name: name, SetSpider: func(top *spider.Spider) (spider.Leg, error) {
		var m mistakes
		o.Follow.check(top, &m)
		l := feedLinks{FeedLinks: o, name: name, allow: m.patterns("allow", o.Allow), deny: m.patterns("deny", o.Deny)}
		wanted := o.Only.compile(top, &m)
		return spider.Leg{Name: name, ProcessResponse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
			if wanted(page) {
				l.read(page, out)
			}
			return nil
		}}, m.err()
	}}
}

// A feedLinks is a FeedLinks that is bound to its spider.
type feedLinks struct {
	FeedLinks
	name        string
	allow, deny []*regexp.Regexp
}

func (l *feedLinks) read(page *spider.Page, out *spider.Output) {
	for e, err := range feedEntries(page) {
		switch {
		case errors.Is(err, errOddEntry):
			page.Log.Warn("an entry of a feed is passed over", "leg", l.name, "err", err)
			out.Count("leg/"+l.name+"/bad_entry_count", 1)
			continue
		case err != nil:
			page.Log.Warn("a feed is broken; its entries so far count", "leg", l.name, "err", err)
			out.Count("leg/"+l.name+"/broken_count", 1)
			return
		case out.Stopped():
			return
		case len(l.allow) > 0 && !findsAny(l.allow, e.Loc), findsAny(l.deny, e.Loc), !fetchable(e.Loc, out):
			continue
		}
		req := l.Follow.request(e.Loc)
		if l.ProcessRequest != nil {
			if req = l.ProcessRequest(page, e, req); req == nil {
				continue
			}
		}
		out.Request(req)
	}
}

// feedEntries are the entries of a page that is a feed, and none of others.
func feedEntries(page *spider.Page) iter.Seq2[sitemap.Entry, error] {
	if looksLikeJSONFeed(page) {
		return jsonEntries(page)
	}
	if looksLikeFeed(page.Body) || hasType(page, "application/rss+xml", "application/atom+xml", "application/rdf+xml") {
		file := sitemap.Open(page.Body, sitemap.Options{URL: page.Response.URL, ContentType: page.Headers.Get("Content-Type")})
		if file.Kind == sitemap.Feed {
			return file.Entries()
		}
	}
	return func(func(sitemap.Entry, error) bool) {}
}

// looksLikeFeed is asked about every page, so it looks at the beginning alone.
func looksLikeFeed(body []byte) bool {
	head := bytes.ToLower(body[:min(len(body), sniffed)])
	return isPacked(body) ||
		bytes.Contains(head, []byte("<rss")) || bytes.Contains(head, []byte("<feed")) || bytes.Contains(head, []byte(":rdf")) ||
		bytes.Contains(head, []byte("<rdf")) || bytes.Contains(head, []byte(":feed"))
}

func looksLikeJSONFeed(page *spider.Page) bool {
	return hasType(page, "application/feed+json", "application/json", "text/json", "text/plain", "") &&
		bytes.Contains(page.Body[:min(len(page.Body), sniffed)], []byte("jsonfeed.org/version"))
}

// errOddEntry is the error of an entry that is passed over; others come after it.
var errOddEntry = errors.New("an entry of the feed is not an object, or its url is not a text")

// jsonEntries are the entries of a JSON Feed (jsonfeed.org/version/1.1).
func jsonEntries(page *spider.Page) iter.Seq2[sitemap.Entry, error] {
	return func(yield func(sitemap.Entry, error) bool) {
		dec := json.NewDecoder(bytes.NewReader(page.Document().UTF8()))
		stopped, err := jsonFeed(dec, func(item json.RawMessage) bool {
			e, err := jsonEntry(item)
			if err == nil && e.Loc == "" {
				return true
			}
			e.Loc = absolute(page, e.Loc)
			return yield(e, err)
		})
		if err != nil && !stopped {
			yield(sitemap.Entry{}, err)
		}
	}
}

// jsonFeed gives the items of a feed as they are read, so those before a fault
// count.
func jsonFeed(dec *json.Decoder, give func(json.RawMessage) bool) (stopped bool, err error) {
	if err := opens(dec, '{'); err != nil {
		return false, err
	}
	var value json.RawMessage
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return false, err
		}
		if key != "items" {
			if err := dec.Decode(&value); err != nil {
				return false, err
			}
			continue
		}
		if err := opens(dec, '['); err != nil {
			return false, err
		}
		for dec.More() {
			if err := dec.Decode(&value); err != nil {
				return false, err
			}
			if !give(value) {
				return true, nil
			}
		}
		if _, err := dec.Token(); err != nil {
			return false, err
		}
	}
	_, err = dec.Token()
	return false, err
}

// opens reads the sign that an object or a list begins with.
func opens(dec *json.Decoder, sign json.Delim) error {
	token, err := dec.Token()
	if err == nil && token != sign {
		err = fmt.Errorf("it has %v in place of %v", token, sign)
	}
	return err
}

// jsonEntry reads an item. A date that is not a text is none.
func jsonEntry(text json.RawMessage) (sitemap.Entry, error) {
	var item struct {
		URL       any `json:"url"`
		External  any `json:"external_url"`
		Modified  any `json:"date_modified"`
		Published any `json:"date_published"`
	}
	if err := json.Unmarshal(text, &item); err != nil {
		return sitemap.Entry{}, errOddEntry
	}
	var e sitemap.Entry
	for _, url := range []any{item.URL, item.External} {
		loc, isText := url.(string)
		if !isText && url != nil {
			return e, errOddEntry
		}
		if e.Loc == "" {
			e.Loc = loc
		}
	}
	for _, date := range []any{item.Modified, item.Published} {
		if text, _ := date.(string); e.LastMod == "" {
			e.LastMod = text
		}
	}
	return e, nil
}
