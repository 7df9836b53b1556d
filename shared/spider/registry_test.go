package spider_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/spider"
)

func parse(context.Context, *spider.Page, *spider.Output) error { return nil }

func TestRegistry(t *testing.T) {
	registry, err := spider.NewRegistry(spider.Spider{Name: "b", Parse: parse}, spider.Spider{Name: "a.1_x-2", Parse: parse})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "names", registry.Names(), []string{"a.1_x-2", "b"})
	if s, err := registry.Get("b"); err != nil || s.Name != "b" {
		t.Errorf("got %v, %v", s, err)
	}
	if _, err := registry.Get("c"); err == nil || !strings.Contains(err.Error(), `"c": there are a.1_x-2, b`) {
		t.Errorf("got %v, want the names there are", err)
	}
	empty, err := spider.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := empty.Get("c"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
}

func TestRegistryRefuses(t *testing.T) {
	leg := func(name string, sub ...spider.Leg) spider.Leg { return spider.Leg{Name: name, Legs: sub} }
	tests := []struct {
		name    string
		spiders []spider.Spider
		want    string
	}{
		{"two of one name", []spider.Spider{{Name: "a", Parse: parse}, {Name: "a", Parse: parse}}, "there are two"},
		{"no name", []spider.Spider{{Parse: parse}}, "a name is letters"},
		{"a name with a slash", []spider.Spider{{Name: "a/b", Parse: parse}}, `"a/b": a name is`},
		{"one that reads nothing", []spider.Spider{{Name: "a", Legs: []spider.Leg{leg("l")}}}, "it reads no page"},
		{"Parse twice", []spider.Spider{{Name: "a", Parse: parse, Callbacks: map[string]spider.Callback{"parse": parse}}}, "which are the same"},
		{"two legs of one name", []spider.Spider{{Name: "a", Parse: parse, Legs: []spider.Leg{leg("l"), leg("m", leg("l"))}}}, `two legs are named "l"`},
		{"a leg without name", []spider.Spider{{Name: "a", Parse: parse, Legs: []spider.Leg{leg("m", leg(""))}}}, `leg "": a name is`},
		{"a leg that cannot be bound", []spider.Spider{{Name: "a", Parse: parse, Legs: []spider.Leg{{
			Name: "l", SetSpider: func(*spider.Spider) (spider.Leg, error) { return spider.Leg{}, errBroken },
		}}}}, `leg "l": broken`},
		{"every bad spider", []spider.Spider{{Name: "a"}, {Name: "b"}}, `spider "b"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := spider.NewRegistry(test.spiders...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestSetSpiderIsCalledOnceWithTheSpiderAtTheTop(t *testing.T) {
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
	if len(one.Legs) != 1 || errors.Is(err, errBroken) {
		t.Error("the spider that was registered was changed")
	}
}
