package spider_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// signing is a leg that gives an item of its name and appends its sign to what
// passes.
func (w *world) signing(name, sign string, sub ...spider.Leg) spider.Leg {
	return spider.Leg{
		Name:            name,
		ProcessResponse: w.gives(name, nil, name),
		ProcessRequest: func(_ context.Context, _ *spider.Page, req *crawl.Request) (*crawl.Request, error) {
			req.URL += sign
			return req, nil
		},
		ProcessItem: func(_ context.Context, _ *spider.Page, item *crawl.Item) (*crawl.Item, error) {
			n, _ := item.Get("n")
			return item, item.Set("n", n.(string)+sign)
		},
		Legs: sub,
	}
}

func TestLegsRunInOrderEachSubLegRightAfterItsLeg(t *testing.T) {
	var w world
	w.mws = []spider.Middleware{w.marking("mw", "|")}
	s := spider.Spider{
		Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
			out.Item(item("parse"))
			out.Request(&crawl.Request{URL: "http://example.com/"})
			return nil
		},
		Legs: []spider.Leg{
			w.signing("a", "A", w.signing("a1", "1", w.signing("a1x", "x")), w.signing("a2", "2")),
			w.signing("b", "B"),
		},
	}
	got, err := process(t, w.chain(t, s), newPage("", nil))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "sub-legs run right after their leg", got, []string{
		"parseA1x2B|", "http://example.com/A1x2B", "aA1x2B|", "a1A1x2B|", "a1xA1x2B|", "a2A1x2B|", "bA1x2B|",
	})
}

func TestLegsThatGiveNoneDropAndAreCountedByName(t *testing.T) {
	var w world
	dropper := spider.Leg{
		Name: "dropper",
		ProcessRequest: func(_ context.Context, _ *spider.Page, req *crawl.Request) (*crawl.Request, error) {
			if strings.HasSuffix(req.URL, "/drop") {
				return nil, nil
			}
			return req, nil
		},
		ProcessItem: func(context.Context, *spider.Page, *crawl.Item) (*crawl.Item, error) { return nil, nil },
	}
	after := spider.Leg{
		Name:        "after",
		ProcessItem: func(context.Context, *spider.Page, *crawl.Item) (*crawl.Item, error) { panic("a dropped item went on") },
	}
	s := spider.Spider{
		Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
			out.Item(item("1"))
			out.Item(item("2"))
			out.FollowAll([]string{"/keep", "/drop"}, "")
			return nil
		},
		Legs: []spider.Leg{dropper, after},
	}
	got, err := process(t, w.chain(t, s), newPage("", nil))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "output", got, []string{"http://example.com/keep"})
	counts := w.stats.Take()
	if counts["leg/dropper/item_dropped_count"] != 2 || counts["leg/dropper/request_dropped_count"] != 1 || len(counts) != 2 {
		t.Errorf("got stats %v", counts)
	}
}

func TestLegsErrorsAreThePagesWithTheLegsName(t *testing.T) {
	hooks := map[string]func(*spider.Leg){
		"ProcessResponse": func(l *spider.Leg) {
			l.ProcessResponse = func(context.Context, *spider.Page, *spider.Output) error { return errBroken }
		},
		"ProcessRequest": func(l *spider.Leg) {
			l.ProcessRequest = func(context.Context, *spider.Page, *crawl.Request) (*crawl.Request, error) { return nil, errBroken }
		},
		"ProcessItem": func(l *spider.Leg) {
			l.ProcessItem = func(context.Context, *spider.Page, *crawl.Item) (*crawl.Item, error) { return nil, errBroken }
		},
	}
	for hook, set := range hooks {
		t.Run(hook, func(t *testing.T) {
			var w world
			three(&w)
			leg := spider.Leg{Name: "lame"}
			set(&leg)
			s := spider.Spider{Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
				out.Item(item("1"))
				out.Follow("/x", "")
				return nil
			}, Legs: []spider.Leg{leg}}
			_, err := process(t, w.chain(t, s), newPage("", nil))
			if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "leg lame") {
				t.Errorf("got %v", err)
			}
			equal(t, "exceptions", w.exceptions(), []string{"exception s", "exception m", "exception e"})
			if counts := w.stats.Take(); len(counts) != 0 {
				t.Errorf("an error was counted as a drop: %v", counts)
			}
		})
	}
}

func TestLegsAloneMakeASpider(t *testing.T) {
	var w world
	c := w.chain(t, spider.Spider{Legs: []spider.Leg{w.signing("a", "")}})
	got, err := process(t, c, newPage("", nil))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "output", got, []string{"a"})
}

func TestLegsSeeWhatErrbacksGive(t *testing.T) {
	var w world
	s := spider.Spider{
		Errbacks: map[string]spider.Errback{"sorry": w.gives("errback", nil, "heard")},
		Legs:     []spider.Leg{w.signing("a", "A")},
	}
	page := newPage("", named("", "sorry"))
	page.Failure = errBroken
	got, err := process(t, w.chain(t, s), page)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "output", got, []string{"heardA"})
}

func TestLegsAreBoundFirstAndOnceToTheSpiderAtTheTop(t *testing.T) {
	var w world
	binding := func(name string, sub ...spider.Leg) spider.Leg {
		return spider.Leg{Name: name, Legs: sub, SetSpider: func(top *spider.Spider) (spider.Leg, error) {
			w.note(name + " of " + top.Name)
			return w.signing(name, top.AllowedDomains[0], sub...), nil
		}}
	}
	shared := binding("outer", binding("inner"))
	one := spider.Spider{Name: "one", AllowedDomains: []string{"1"}, Legs: []spider.Leg{shared}}
	two := spider.Spider{Name: "two", AllowedDomains: []string{"2"}, Legs: []spider.Leg{shared}}
	registry, err := spider.NewRegistry(one, two)
	if err != nil {
		t.Fatal(err)
	}
	bound := []string{"outer of one", "inner of one", "outer of two", "inner of two"}
	equal(t, "diary", w.diary, bound)
	for name, want := range map[string][]string{"one": {"outer11", "inner11"}, "two": {"outer22", "inner22"}} {
		s, err := registry.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := process(t, spider.NewChain(s, &w.stats), newPage("", nil))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "output of "+name, got, want)
	}
	if n := strings.Count(strings.Join(w.diary, "\n"), " of "); n != len(bound) {
		t.Errorf("SetSpider was called %d times, want %d", n, len(bound))
	}
	if len(one.Legs) != 1 {
		t.Error("the spider that was registered was changed")
	}
}

func TestLegsSeeStartRequests(t *testing.T) {
	var w world
	hook := func(name string) spider.Middleware {
		return spider.Middleware{Name: name, ProcessStart: func(_ context.Context, _ spider.Start, r spider.Results) spider.Results { return signed(r, name) }}
	}
	w.mws = []spider.Middleware{hook("E"), {Name: "none"}, hook("S")}
	leg := w.signing("leg", "L")
	item := leg.ProcessItem
	leg.ProcessItem = func(ctx context.Context, page *spider.Page, i *crawl.Item) (*crawl.Item, error) {
		if page != nil {
			t.Error("there is a page for what the start gave")
		}
		return item(ctx, page, i)
	}
	s := spider.Spider{
		Start: func(context.Context, spider.Start) spider.Results {
			return func(yield func(crawl.Result, error) bool) {
				if yield(crawl.Result{Request: &crawl.Request{URL: "http://example.com/"}}, nil) {
					results("1")(yield)
				}
			}
		},
		Legs: []spider.Leg{leg},
	}
	got, err := start(t, w.chain(t, s), spider.Start{}, &spider.Slice{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "output", got, []string{"http://example.com/L", "1LSE"})
}
