package spider_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// What panics in a spider's code fails its page, and the process lives.
func TestPanicsFailThePageAlone(t *testing.T) {
	panics := func() { panic("oh no") }
	tests := map[string]func(s *spider.Spider, mw *spider.Middleware){
		"callback": func(s *spider.Spider, _ *spider.Middleware) {
			s.Parse = func(_ context.Context, _ *spider.Page, out *spider.Output) error {
				out.Item(item("1"))
				panics()
				return nil
			}
		},
		"leg's ProcessResponse": func(s *spider.Spider, _ *spider.Middleware) {
			s.Legs = []spider.Leg{{Name: "leg", ProcessResponse: func(context.Context, *spider.Page, *spider.Output) error { panics(); return nil }}}
		},
		"leg's ProcessItem": func(s *spider.Spider, _ *spider.Middleware) {
			s.Legs = []spider.Leg{{Name: "leg", ProcessItem: func(_ context.Context, _ *spider.Page, i *crawl.Item) (*crawl.Item, error) {
				if n, _ := i.Get("n"); n == "2" {
					panics()
				}
				return i, nil
			}}}
		},
		"ProcessInput": func(_ *spider.Spider, mw *spider.Middleware) {
			mw.ProcessInput = func(context.Context, *spider.Page) error { panics(); return nil }
		},
		"making ProcessOutput's results": func(_ *spider.Spider, mw *spider.Middleware) {
			mw.ProcessOutput = func(context.Context, *spider.Page, spider.Results) spider.Results { panics(); return nil }
		},
		"reading ProcessOutput's results": func(_ *spider.Spider, mw *spider.Middleware) {
			mw.ProcessOutput = func(_ context.Context, _ *spider.Page, r spider.Results) spider.Results {
				return func(yield func(crawl.Result, error) bool) {
					for res, err := range r {
						if !yield(res, err) {
							return
						}
						panics()
					}
				}
			}
		},
		"ProcessException": func(s *spider.Spider, mw *spider.Middleware) {
			s.Parse = func(_ context.Context, _ *spider.Page, out *spider.Output) error {
				out.Item(item("1"))
				return errBroken
			}
			mw.ProcessException = func(context.Context, *spider.Page, error) (spider.Results, bool) { panics(); return nil, true }
		},
		"reading ProcessException's results": func(s *spider.Spider, mw *spider.Middleware) {
			s.Parse = func(_ context.Context, _ *spider.Page, out *spider.Output) error {
				out.Item(item("1"))
				return errBroken
			}
			mw.ProcessException = func(context.Context, *spider.Page, error) (spider.Results, bool) {
				return func(func(crawl.Result, error) bool) { panics() }, true
			}
		},
	}
	for where, set := range tests {
		t.Run(where, func(t *testing.T) {
			var w world
			s := spider.Spider{Parse: w.gives("parse", nil, "1", "2")}
			mw := spider.Middleware{Name: "bad"}
			set(&s, &mw)
			w.mws = []spider.Middleware{w.marking("e", ""), mw, w.marking("s", "")}
			got, err := process(t, w.chain(t, s), newPage("", nil))
			var p *crawl.PanicError
			if !errors.As(err, &p) || p.Value != "oh no" || !strings.Contains(string(p.Stack), "panic_test.go") {
				t.Fatalf("got error %v, want the panic and where it was", err)
			}
			if mw.ProcessInput == nil && len(got) > 0 && got[0] != "1" {
				t.Errorf("got %v", got)
			}
			if s.Legs == nil && mw.ProcessInput == nil && where != "making ProcessOutput's results" {
				equal(t, "what was given before", got, []string{"1"})
			}
		})
	}
}

func TestALegsPanicFailsThePageWithoutMiddlewaresToo(t *testing.T) {
	var w world
	for _, leg := range []spider.Leg{
		{Name: "lame", ProcessResponse: func(context.Context, *spider.Page, *spider.Output) error { panic("oh no") }},
		{Name: "lame", ProcessItem: func(context.Context, *spider.Page, *crawl.Item) (*crawl.Item, error) { panic("oh no") }},
	} {
		s := spider.Spider{Parse: w.gives("parse", nil, "1"), Legs: []spider.Leg{leg}}
		_, err := process(t, w.chain(t, s), newPage("", nil))
		var p *crawl.PanicError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), "leg lame") {
			t.Errorf("got %v, want the panic and the leg's name", err)
		}
	}
}

// A panic of whoever reads the results is not the spider's.
func TestAPanicOfTheEnginePasses(t *testing.T) {
	var w world
	three(&w)
	c := w.chain(t, spider.Spider{Parse: w.gives("parse", nil, "1", "2"), Legs: []spider.Leg{w.signing("a", "")}})
	defer func() {
		if v := recover(); v != "engine" {
			t.Errorf("got panic %v, want the engine's own", v)
		}
		equal(t, "exceptions", w.exceptions(), nil)
	}()
	for range c.Process(context.Background(), newPage("", nil)) {
		panic("engine")
	}
}

func TestAPanicWithAnErrorIsThatError(t *testing.T) {
	var w world
	s := spider.Spider{Parse: func(context.Context, *spider.Page, *spider.Output) error {
		panic(&crawl.CloseSpider{Reason: "enough"})
	}}
	_, err := process(t, w.chain(t, s), newPage("", nil))
	var closes *crawl.CloseSpider
	if !errors.As(err, &closes) {
		t.Errorf("got %v", err)
	}
}
