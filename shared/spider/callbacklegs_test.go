package spider_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/spider"
)

func TestLegsOfACallbackReadItsPagesAlone(t *testing.T) {
	var w world
	s := spider.Spider{
		Parse:     w.gives("parse", nil, "parse"),
		Callbacks: map[string]spider.Callback{"both": w.gives("both", nil, "both")},
		Legs:      []spider.Leg{w.signing("all", "*")},
		CallbackLegs: map[string][]spider.Leg{
			"both":  {w.signing("a", "A", w.signing("a1", "1"))},
			"alone": {w.signing("b", "B")},
		},
	}
	tests := []struct {
		callback string
		want     []string
	}{
		{"", []string{"parse*", "all*"}},
		{"both", []string{"bothA1*", "aA1*", "a1A1*", "all*"}},
		{"alone", []string{"bB*", "all*"}},
	}
	for _, test := range tests {
		got, err := process(t, w.chain(t, s), newPage("", named(test.callback, "")))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "callback "+test.callback, got, test.want)
	}
}

func TestLegsOfParseNeedNoFunction(t *testing.T) {
	var w world
	s := spider.Spider{CallbackLegs: map[string][]spider.Leg{spider.DefaultCallback: {w.signing("a", "A")}}}
	for _, callback := range []string{"", spider.DefaultCallback} {
		got, err := process(t, w.chain(t, s), newPage("", named(callback, "")))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "callback "+callback, got, []string{"aA"})
	}
	if _, err := process(t, w.chain(t, s), newPage("", named("other", ""))); err == nil || !strings.Contains(err.Error(), `unknown callback "other"`) {
		t.Errorf("got %v", err)
	}
}

func TestAnErrorOfACallbacksLegNamesIt(t *testing.T) {
	var w world
	s := spider.Spider{CallbackLegs: map[string][]spider.Leg{"a": {{Name: "bad", ProcessResponse: w.gives("bad", errBroken, "kept")}}}}
	got, err := process(t, w.chain(t, s), newPage("", named("a", "")))
	equal(t, "what it gave before", got, []string{"kept"})
	if err == nil || !strings.Contains(err.Error(), "leg bad: ") {
		t.Errorf("got %v", err)
	}
}

func TestHasCallback(t *testing.T) {
	var w world
	s := spider.Spider{
		Callbacks:    map[string]spider.Callback{"function": w.gives("", nil)},
		CallbackLegs: map[string][]spider.Leg{"legs": {w.signing("a", "")}, "none": {}},
	}
	read := spider.Spider{Parse: w.gives("", nil)}
	for name, want := range map[string]bool{"function": true, "legs": true, "none": false, "": false, "parse": false} {
		if got := s.HasCallback(name); got != want {
			t.Errorf("%q: got %v", name, got)
		}
	}
	if !read.HasCallback("") || !read.HasCallback("parse") {
		t.Error("Parse is not there")
	}
}

func TestLegsOfCallbacksBringCallbacksOfLegs(t *testing.T) {
	var w world
	const n = 50
	leg := spider.Leg{Name: "last", ProcessResponse: w.gives("last", nil)}
	for i := range n {
		leg = spider.Leg{Name: fmt.Sprint("leg-", i), ProcessResponse: leg.ProcessResponse, CallbackLegs: map[string][]spider.Leg{fmt.Sprint("callback-", i): {leg}}}
	}
	registry, err := spider.NewRegistry(spider.Spider{Name: "test", CallbackLegs: map[string][]spider.Leg{"a": {leg}}})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := registry.Get("test")
	if len(s.CallbackLegs) != n+1 || s.CallbackLegs["callback-0"][0].Name != "last" {
		t.Errorf("got %d callbacks of legs", len(s.CallbackLegs))
	}
}

func TestMistakesInLegsOfACallback(t *testing.T) {
	var w world
	hook := spider.Leg{Name: "hook", ProcessItem: w.signing("", "").ProcessItem}
	broken := spider.Leg{Name: "broken", SetSpider: func(*spider.Spider) (spider.Leg, error) { return spider.Leg{}, errBroken }}
	tests := []struct {
		name   string
		spider spider.Spider
		want   string
	}{
		{"none reads", spider.Spider{CallbackLegs: map[string][]spider.Leg{"a": {hook}}}, `callback "a" reads no page`},
		{"two of a name", spider.Spider{Legs: []spider.Leg{w.signing("x", "")}, CallbackLegs: map[string][]spider.Leg{"a": {w.signing("x", "")}}}, `two legs are named "x"`},
		{"SetSpider fails", spider.Spider{Parse: w.gives("", nil), CallbackLegs: map[string][]spider.Leg{"parse": {broken}}}, `callback "parse": leg "broken": broken`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.spider.Name = "test"
			if _, err := spider.NewRegistry(test.spider); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	with := spider.Spider{Name: "test", Parse: w.gives("", nil), CallbackLegs: map[string][]spider.Leg{"parse": {hook}}}
	if _, err := spider.NewRegistry(with); err != nil {
		t.Errorf("hooks beside a function: %v", err)
	}
}

func TestOneSpiderValueWithCallbackLegsIsRegisteredTwice(t *testing.T) {
	tops := make(map[*spider.Spider]bool)
	leg := spider.Leg{Name: "a", SetSpider: func(top *spider.Spider) (spider.Leg, error) {
		tops[top] = true
		return spider.Leg{Name: "a", ProcessResponse: func(context.Context, *spider.Page, *spider.Output) error { return nil }}, nil
	}}
	s := spider.Spider{Name: "test", CallbackLegs: map[string][]spider.Leg{"a": {leg}}}
	for range 2 {
		if _, err := spider.NewRegistry(s); err != nil {
			t.Fatal(err)
		}
	}
	if len(tops) != 2 {
		t.Errorf("bound to %d spiders, want 2", len(tops))
	}
}

func TestALegCallsACallbackOfItsChoice(t *testing.T) {
	var w world
	chooses := func(name string) spider.Leg {
		return spider.Leg{Name: "chooser", ProcessResponse: func(ctx context.Context, _ *spider.Page, out *spider.Output) error {
			return out.Call(ctx, name)
		}}
	}
	tests := []struct {
		callback string
		want     []string
		err      string
	}{
		{"function", []string{"function*"}, ""},
		{"legs", []string{"aA*"}, ""},
		{"fails", []string{"kept*"}, "leg chooser: broken"},
		{"panics", nil, "leg chooser: "},
		{"nowhere", nil, `leg chooser: unknown callback "nowhere" of spider test`},
	}
	for _, test := range tests {
		t.Run(test.callback, func(t *testing.T) {
			star := w.signing("star", "*")
			star.ProcessResponse = nil
			s := spider.Spider{
				Callbacks: map[string]spider.Callback{
					"function": w.gives("", nil, "function"),
					"fails":    w.gives("", errBroken, "kept"),
					"panics":   func(context.Context, *spider.Page, *spider.Output) error { panic("oh no") },
				},
				CallbackLegs: map[string][]spider.Leg{"legs": {w.signing("a", "A")}},
				Legs:         []spider.Leg{chooses(test.callback), star},
			}
			got, err := process(t, w.chain(t, s), newPage("", nil))
			equal(t, "output", got, test.want)
			if (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
		})
	}
}

func TestCallbacksThatCallEachOtherEndWithAnError(t *testing.T) {
	var w world
	s := spider.Spider{Callbacks: map[string]spider.Callback{
		"round": func(ctx context.Context, _ *spider.Page, out *spider.Output) error {
			out.Item(item("x"))
			out.Count("rounds", 1)
			return out.Call(ctx, "round")
		},
	}}
	got, err := process(t, w.chain(t, s), newPage("", named("round", "")))
	if err == nil || !strings.Contains(err.Error(), "call one another more than 20 deep") {
		t.Errorf("got %v", err)
	}
	if len(got) != 21 || w.stats.Take()["rounds"] != 21 {
		t.Errorf("the callback ran %d times", len(got))
	}
}
