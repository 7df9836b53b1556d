package spider_test

import (
	"context"
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
		{"a name that is too long", []spider.Spider{{Name: strings.Repeat("é", 200), Parse: parse}}, `spider "` + strings.Repeat("é", 20) + `…": a name has at most 200 letters, and this one has 400 bytes`},
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
