package spider_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

// The tests of this file are the points of Scrapy's exception flow, in order.

func TestInputsRunTowardsTheSpiderAndOutputsTowardsTheEngine(t *testing.T) {
	var w world
	three(&w)
	got, err := process(t, w.chain(t, spider.Spider{Parse: w.gives("parse", nil, "1", "2")}), newPage("", nil))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "output", got, []string{"1SME", "2SME"})
	equal(t, "diary", w.diary, []string{"in e", "in m", "in s", "parse"})
}

func TestExceptionFlow1AnInputThatFailsSkipsTheRestAndCallsTheErrback(t *testing.T) {
	var w world
	three(&w)
	w.mws[1].ProcessInput = func(context.Context, *spider.Page) error { return errBroken }
	var heard error
	s := spider.Spider{
		Parse: w.gives("parse", nil, "no"),
		Errbacks: map[string]spider.Errback{"sorry": func(_ context.Context, page *spider.Page, out *spider.Output) error {
			heard = page.Failure
			out.Item(item("rescued"))
			return nil
		}},
	}
	got, err := process(t, w.chain(t, s), newPage("", named("", "sorry")))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "output through all middlewares", got, []string{"rescuedSME"})
	equal(t, "diary", w.diary, []string{"in e"})
	if !errors.Is(heard, errBroken) || !strings.Contains(heard.Error(), "middleware m") {
		t.Errorf("the errback heard of %v", heard)
	}
}

func TestExceptionFlow1WithoutErrbackAllExceptionHooksAreAsked(t *testing.T) {
	var w world
	three(&w)
	w.mws[0].ProcessInput = func(context.Context, *spider.Page) error { return errBroken }
	got, err := process(t, w.chain(t, spider.Spider{Parse: w.gives("parse", nil, "no")}), newPage("", nil))
	if !errors.Is(err, errBroken) {
		t.Errorf("got error %v", err)
	}
	equal(t, "output", got, nil)
	equal(t, "diary", w.diary, []string{"exception s", "exception m", "exception e"})
}

func TestExceptionFlow1AnErrbackThatFailsAsksAllExceptionHooks(t *testing.T) {
	var w world
	three(&w)
	w.mws[2].ProcessInput = func(context.Context, *spider.Page) error { return errors.New("the first error") }
	s := spider.Spider{Parse: w.gives("parse", nil), Errbacks: map[string]spider.Errback{"sorry": w.gives("errback", errBroken, "kept")}}
	got, err := process(t, w.chain(t, s), newPage("", named("", "sorry")))
	if !errors.Is(err, errBroken) || strings.Contains(err.Error(), "the first error") {
		t.Errorf("got error %v, want the errback's own", err)
	}
	equal(t, "output", got, []string{"keptSME"})
	equal(t, "exceptions", w.exceptions(), []string{"exception s", "exception m", "exception e"})
}

func TestExceptionFlow1AnErrbackThatIsNotThereIsTold(t *testing.T) {
	var w world
	three(&w)
	w.mws[0].ProcessInput = func(context.Context, *spider.Page) error { return errBroken }
	w.mws[1].ProcessException = func(_ context.Context, _ *spider.Page, err error) (spider.Results, bool) {
		return nil, errors.Is(err, errBroken)
	}
	_, err := process(t, w.chain(t, spider.Spider{Parse: w.gives("parse", nil)}), newPage("", named("", "sory")))
	if err == nil || !strings.Contains(err.Error(), `"sory"`) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("got %v, want an error with both the name and what it was to hear of", err)
	}
}

func TestExceptionFlow2WhatACallbackGaveBeforeItFailedIsKept(t *testing.T) {
	var w world
	three(&w)
	s := spider.Spider{
		Parse:    w.gives("parse", errBroken, "1", "2"),
		Errbacks: map[string]spider.Errback{"sorry": w.gives("errback", nil)},
	}
	got, err := process(t, w.chain(t, s), newPage("", named("", "sorry")))
	if !errors.Is(err, errBroken) {
		t.Errorf("got error %v", err)
	}
	equal(t, "output", got, []string{"1SME", "2SME"})
	equal(t, "diary", w.diary, []string{"in e", "in m", "in s", "parse", "exception s", "exception m", "exception e"})
}

func TestExceptionFlow3AnOutputHookThatFailsAsksThoseNearerToTheEngine(t *testing.T) {
	for _, late := range []bool{false, true} {
		var w world
		three(&w)
		w.mws[1].ProcessOutput = func(_ context.Context, _ *spider.Page, r spider.Results) spider.Results {
			return func(yield func(crawl.Result, error) bool) {
				for res, err := range signed(r, "M") {
					if !yield(res, err) {
						return
					}
					if !late {
						break
					}
				}
				yield(crawl.Result{}, errBroken)
			}
		}
		got, err := process(t, w.chain(t, spider.Spider{Parse: w.gives("parse", nil, "1", "2")}), newPage("", nil))
		if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "middleware m") {
			t.Errorf("got error %v, want one that names the middleware", err)
		}
		want := []string{"1SME", "2SME"}
		if !late {
			want = want[:1]
		}
		equal(t, "output", got, want)
		equal(t, "exceptions", w.exceptions(), []string{"exception e"})
	}
}

func TestExceptionFlow4TheFirstThatHandlesItEndsTheMatter(t *testing.T) {
	var w world
	three(&w)
	w.mws[1].ProcessException = func(_ context.Context, _ *spider.Page, err error) (spider.Results, bool) {
		w.note("exception m")
		if !errors.Is(err, errBroken) {
			t.Errorf("the hook is asked about %v", err)
		}
		return results("instead"), true
	}
	got, err := process(t, w.chain(t, spider.Spider{Parse: w.gives("parse", errBroken, "1")}), newPage("", nil))
	if err != nil {
		t.Error(err)
	}
	// What was rescued by m passes e alone, once, and comes last.
	equal(t, "output", got, []string{"1SME", "insteadE"})
	equal(t, "exceptions", w.exceptions(), []string{"exception s", "exception m"})
}

func TestExceptionFlow4NoResultsHandleIt(t *testing.T) {
	var w world
	three(&w)
	w.mws[2].ProcessException = func(context.Context, *spider.Page, error) (spider.Results, bool) { return nil, true }
	got, err := process(t, w.chain(t, spider.Spider{Parse: w.gives("parse", errBroken, "1")}), newPage("", nil))
	if err != nil {
		t.Error(err)
	}
	equal(t, "output", got, []string{"1SME"})
}

func TestExceptionFlow4AnErrorInWhatWasRescuedGoesOnTowardsTheEngine(t *testing.T) {
	var w world
	three(&w)
	w.mws[2].ProcessException = func(context.Context, *spider.Page, error) (spider.Results, bool) {
		return func(yield func(crawl.Result, error) bool) {
			for res := range results("instead") {
				yield(res, nil)
			}
			yield(crawl.Result{}, errors.New("the second error"))
		}, true
	}
	got, err := process(t, w.chain(t, spider.Spider{Parse: w.gives("parse", errBroken, "1")}), newPage("", nil))
	if err == nil || !strings.Contains(err.Error(), "the second error") || errors.Is(err, errBroken) {
		t.Errorf("got error %v", err)
	}
	equal(t, "output", got, []string{"1SME", "insteadME"})
	equal(t, "exceptions", w.exceptions(), []string{"exception m", "exception e"})
}

func TestExceptionFlow4WhatWasRescuedIsGivenThoughAnotherErrorFollows(t *testing.T) {
	var w world
	three(&w)
	w.mws[2].ProcessException = func(context.Context, *spider.Page, error) (spider.Results, bool) { return results("instead"), true }
	w.mws[1].ProcessOutput = func(_ context.Context, _ *spider.Page, r spider.Results) spider.Results {
		return func(yield func(crawl.Result, error) bool) {
			for res, err := range signed(r, "M") {
				if err != nil {
					t.Errorf("the hook was shown an error that is handled: %v", err)
				}
				yield(res, nil)
			}
			yield(crawl.Result{}, errors.New("the second error"))
		}
	}
	got, err := process(t, w.chain(t, spider.Spider{Parse: w.gives("parse", errBroken, "1")}), newPage("", nil))
	if err == nil || !strings.Contains(err.Error(), "the second error") {
		t.Errorf("got error %v", err)
	}
	// The hook of m fails for what was rescued, too.
	equal(t, "output", got, []string{"1SME", "insteadME"})
}

func TestExceptionFlow5AnErrorThatNobodyHandlesIsTheLastElement(t *testing.T) {
	var w world
	three(&w)
	s := spider.Spider{Parse: w.gives("parse", &crawl.CloseSpider{Reason: "enough"}, "1")}
	got, err := process(t, w.chain(t, s), newPage("", nil))
	var closes *crawl.CloseSpider
	if !errors.As(err, &closes) || closes.Reason != "enough" {
		t.Errorf("got error %v, want the callback's own", err)
	}
	equal(t, "output", got, []string{"1SME"})
}

// Whatever comes out of a hook that is no request and no item is its maker's
// mistake, and a hook that handles everything does not hide it.
func TestExceptionFlow6InvalidOutputIsHandledByNobody(t *testing.T) {
	it, err := crawl.NewItem(item("1"))
	if err != nil {
		t.Fatal(err)
	}
	gives := func(res crawl.Result) func(context.Context, *spider.Page, spider.Results) spider.Results {
		return func(context.Context, *spider.Page, spider.Results) spider.Results {
			return func(yield func(crawl.Result, error) bool) { yield(res, nil) }
		}
	}
	good := spider.Spider{Parse: func(context.Context, *spider.Page, *spider.Output) error { return nil }}
	tests := []struct {
		name   string
		spider spider.Spider
		change func(w *world)
		want   string
	}{
		{"neither", good, func(w *world) { w.mws[2].ProcessOutput = gives(crawl.Result{}) }, "spider middleware s: invalid output: a result is neither"},
		{"both", good, func(w *world) {
			w.mws[1].ProcessOutput = gives(crawl.Result{Item: &it, Request: &crawl.Request{}})
		}, "spider middleware m: invalid output: a result is a request and an item"},
		{"results for what is not handled", spider.Spider{Parse: new(world).gives("", errBroken)}, func(w *world) {
			w.mws[2].ProcessException = func(context.Context, *spider.Page, error) (spider.Results, bool) { return results("x"), false }
		}, "spider middleware s: invalid output: it gave results for an error"},
		{"no item", spider.Spider{Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
			out.Item(7)
			return nil
		}}, func(*world) {}, "invalid output"},
		{"no request", spider.Spider{Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
			out.Request(nil)
			return nil
		}}, func(*world) {}, "a request that is nil"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var w world
			three(&w)
			w.mws[0].ProcessException = func(context.Context, *spider.Page, error) (spider.Results, bool) { return nil, true }
			test.change(&w)
			got, err := process(t, w.chain(t, test.spider), newPage("", nil))
			var invalid *spider.InvalidOutput
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), test.want) || spider.ErrorClass(err) != "InvalidOutput" {
				t.Errorf("got error %v of class %s, want %s", err, spider.ErrorClass(err), test.want)
			}
			equal(t, "output", got, nil)
		})
	}
	t.Run("of a start", func(t *testing.T) {
		var w world
		three(&w)
		w.mws[1].ProcessStart = func(context.Context, spider.Start, spider.Results) spider.Results {
			return func(yield func(crawl.Result, error) bool) { yield(crawl.Result{}, nil) }
		}
		_, err := start(t, w.chain(t, good), spider.Start{}, &spider.Slice{})
		if err == nil || !strings.Contains(err.Error(), "spider middleware m: invalid output") {
			t.Errorf("got %v", err)
		}
	})
}

func TestExceptionFlow5AnOutputHookCannotHideAnError(t *testing.T) {
	var w world
	three(&w)
	w.mws[1].ProcessOutput = func(_ context.Context, _ *spider.Page, r spider.Results) spider.Results {
		return func(yield func(crawl.Result, error) bool) {
			for res, err := range r {
				if err != nil || !yield(res, nil) {
					return
				}
			}
		}
	}
	got, err := process(t, w.chain(t, spider.Spider{Parse: w.gives("parse", errBroken, "1")}), newPage("", nil))
	if !errors.Is(err, errBroken) {
		t.Errorf("got error %v, want the callback's", err)
	}
	equal(t, "output", got, []string{"1SE"})
}

func TestExceptionFlow7AnErrbackOfAFailedDownloadThatFailsAsksNoHook(t *testing.T) {
	var w world
	three(&w)
	page := newPage("", named("", "sorry"))
	page.Failure = &crawl.Failure{Reason: "timeout"}
	s := spider.Spider{Parse: w.gives("parse", nil), Errbacks: map[string]spider.Errback{"sorry": w.gives("errback", errBroken, "kept")}}
	got, err := process(t, w.chain(t, s), page)
	if !errors.Is(err, errBroken) {
		t.Errorf("got error %v, want the errback's own", err)
	}
	equal(t, "output", got, []string{"keptSME"})
	equal(t, "diary", w.diary, []string{"errback"})
}

func TestExceptionFlow7AFailedDownloadIsTheErrbacksAlone(t *testing.T) {
	failure := &crawl.Failure{Reason: "timeout"}
	for _, errback := range []string{"", "sorry"} {
		var w world
		three(&w)
		s := spider.Spider{
			Parse:    w.gives("parse", nil),
			Errbacks: map[string]spider.Errback{"sorry": w.gives("errback", nil, "heard")},
		}
		page := newPage("", named("", errback))
		page.Failure = failure
		got, err := process(t, w.chain(t, s), page)
		if errback == "" {
			if !errors.Is(err, failure) {
				t.Errorf("got error %v, want the failure", err)
			}
			equal(t, "diary", w.diary, nil)
			continue
		}
		if err != nil {
			t.Error(err)
		}
		equal(t, "output", got, []string{"heardSME"})
		equal(t, "diary", w.diary, []string{"errback"})
	}
}

func TestAnUnknownCallbackFailsThePage(t *testing.T) {
	var w world
	three(&w)
	_, err := process(t, w.chain(t, spider.Spider{Parse: w.gives("parse", nil)}), newPage("", named("prase", "")))
	if !errors.Is(err, spider.ErrUnknownCallback) || !strings.Contains(err.Error(), `"prase" of spider test`) {
		t.Errorf("got %v", err)
	}
	s := spider.Spider{Callbacks: map[string]spider.Callback{"other": w.gives("other", nil)}}
	if _, err := process(t, w.chain(t, s), newPage("", nil)); !errors.Is(err, spider.ErrUnknownCallback) {
		t.Errorf("a spider without Parse and legs: got %v", err)
	}
	s = spider.Spider{Legs: []spider.Leg{w.signing("leg", "")}}
	if _, err := process(t, w.chain(t, s), newPage("", named("prase", ""))); !errors.Is(err, spider.ErrUnknownCallback) {
		t.Errorf("a spider of legs: got %v", err)
	}
}

func TestCallbacksAreFoundByName(t *testing.T) {
	for name, want := range map[string]string{"": "parse", "parse": "parse", "other": "other"} {
		var w world
		s := spider.Spider{Parse: w.gives("parse", nil), Callbacks: map[string]spider.Callback{"other": w.gives("other", nil)}}
		if _, err := process(t, w.chain(t, s), newPage("", named(name, ""))); err != nil {
			t.Error(err)
		}
		equal(t, "callback "+name, w.diary, []string{want})
	}
	var w world
	s := spider.Spider{Callbacks: map[string]spider.Callback{"parse": w.gives("parse", nil)}}
	if _, err := process(t, w.chain(t, s), newPage("", nil)); err != nil {
		t.Errorf("Parse among the callbacks: %v", err)
	}
}
