package spider_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// shelf is a spider that reads lists of books and the books.
func (w *world) shelf() spider.Spider {
	return spider.Spider{
		Name: "shelf",
		Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
			out.Item(item("list"))
			out.Follow("/book", "book", func(req *crawl.Request) { req.Errback = "lost" })
			return nil
		},
		Callbacks:    map[string]spider.Callback{"book": w.gives("book", nil, "book")},
		Errbacks:     map[string]spider.Errback{"lost": w.gives("lost", nil, "lost")},
		CallbackLegs: map[string][]spider.Leg{"author": {w.signing("author", "@")}},
		Legs:         []spider.Leg{w.signing("sub", "s")},
	}
}

func TestLegsAreSpidersToo(t *testing.T) {
	var w world
	top := spider.Spider{Parse: w.gives("top", nil, "top"), Legs: []spider.Leg{w.shelf().AsLeg(), w.signing("after", "a")}}
	tests := []struct {
		callback, errback string
		want              []string
	}{
		{"", "", []string{"topsa", "listsa", "http://example.com/booksa", "subsa", "aftersa"}},
		{"parse", "", []string{"topsa", "listsa", "http://example.com/booksa", "subsa", "aftersa"}},
		// Its Parse keeps away from the pages of its callbacks, as it does alone.
		{"book", "", []string{"booksa", "subsa", "aftersa"}},
		{"author", "", []string{"author@sa", "subsa", "aftersa"}},
		{"", "lost", []string{"lostsa"}},
	}
	for _, test := range tests {
		page := newPage("", named(test.callback, test.errback))
		if test.errback != "" {
			page.Failure = errBroken
		}
		got, err := process(t, w.chain(t, top), page)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "callback "+test.callback+test.errback, got, test.want)
	}
}

func TestLegsThatAreSpidersMustNotShareNames(t *testing.T) {
	var w world
	inParse := w.shelf()
	inParse.CallbackLegs = map[string][]spider.Leg{"parse": {w.signing("own", "o")}}
	brings := func(name string) spider.Leg {
		return spider.Leg{Name: "brings", Callbacks: map[string]spider.Callback{name: w.gives(name, nil)}}
	}
	tests := []struct {
		name string
		top  spider.Spider
		want string
	}{
		{"a callback", spider.Spider{Callbacks: map[string]spider.Callback{"book": parse}, Legs: []spider.Leg{w.shelf().AsLeg()}}, `leg "shelf": it brings the callback "book", which the spider has`},
		{"an errback", spider.Spider{Errbacks: map[string]spider.Errback{"lost": parse}, Legs: []spider.Leg{w.shelf().AsLeg()}}, `leg "shelf": it brings the errback "lost"`},
		{"a callback of another leg", spider.Spider{Legs: []spider.Leg{w.shelf().AsLeg(), brings("book")}}, `leg "brings": it brings the callback "book"`},
		{"the spider twice", spider.Spider{Legs: []spider.Leg{w.shelf().AsLeg(), w.shelf().AsLeg()}}, `two legs are named "shelf"`},
		{"Parse itself", spider.Spider{Parse: parse, Legs: []spider.Leg{brings("parse")}}, `it brings the callback "parse"`},
		{"legs of Parse alone", spider.Spider{Legs: []spider.Leg{inParse.AsLeg()}}, `leg "shelf": a spider whose callback "parse" has legs`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.top.Name = "test"
			if _, err := spider.NewRegistry(test.top); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestLegsBringCallbacksThatOthersMayName(t *testing.T) {
	var w world
	asked := false
	first := spider.Leg{Name: "first", SetSpider: func(top *spider.Spider) (spider.Leg, error) {
		asked = top.HasCallback("book") && top.HasCallback("deep") && !top.HasCallback("other")
		return w.signing("first", ""), nil
	}}
	second := spider.Leg{Name: "second", Legs: []spider.Leg{{
		Name: "third", Callbacks: map[string]spider.Callback{"book": w.gives("book", nil, "book")},
		CallbackLegs: map[string][]spider.Leg{"deep": {w.signing("deep", "")}},
	}}}
	got, err := process(t, w.chain(t, spider.Spider{Legs: []spider.Leg{first, second}}), newPage("", named("book", "")))
	if err != nil || !asked {
		t.Errorf("asked %v, err %v", asked, err)
	}
	equal(t, "output", got, []string{"book", "first"})
}

// The race detector reads this test too.
func TestLegsOneValueServesManySpidersAtOnce(t *testing.T) {
	var w world
	shared := spider.Leg{
		Name: "shared", Legs: []spider.Leg{w.shelf().AsLeg()},
		SetSpider: func(top *spider.Spider) (spider.Leg, error) {
			return spider.Leg{Name: "shared", Legs: []spider.Leg{w.shelf().AsLeg()}, ProcessResponse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
				out.Item(item(top.Name))
				return nil
			}}, nil
		},
	}
	legs := []spider.Leg{shared}
	callbacks := map[string]spider.Callback{"own": parse}
	var all sync.WaitGroup
	for _, name := range []string{"one", "two", "three", "four"} {
		all.Go(func() {
			registry, err := spider.NewRegistry(spider.Spider{Name: name, Legs: legs, Callbacks: callbacks})
			if err != nil {
				t.Error(err)
				return
			}
			s, err := registry.Get(name)
			if err != nil {
				t.Error(err)
				return
			}
			var own world
			got, err := process(t, spider.NewChain(s, &own.stats), newPage("", named("own", "")))
			if err != nil {
				t.Error(err)
			}
			if len(got) == 0 || got[0] != name+"s" {
				t.Errorf("%s gave %v", name, got)
			}
		})
	}
	all.Wait()
	if len(callbacks) != 1 || len(legs) != 1 || legs[0].SetSpider == nil {
		t.Error("the values that were registered were changed")
	}
}

func TestLegsThatPanicInSetSpiderAreMistakes(t *testing.T) {
	leg := spider.Leg{Name: "lame", SetSpider: func(*spider.Spider) (spider.Leg, error) { panic("broken") }}
	if _, err := spider.NewRegistry(spider.Spider{Name: "test", Legs: []spider.Leg{leg}}); err == nil || !strings.Contains(err.Error(), `leg "lame": panic: broken`) {
		t.Errorf("got %v", err)
	}
}
