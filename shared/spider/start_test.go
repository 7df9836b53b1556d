package spider_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

func start(t *testing.T, c *spider.Chain, s spider.Start, slice *spider.Slice) ([]string, error) {
	t.Helper()
	return gather(t, c.Start(context.Background(), s, slice))
}

func TestStartURLs(t *testing.T) {
	own := spider.Spider{StartURLs: []string{"http://example.com/1"}}
	function := own
	function.Start = func(context.Context, spider.Start) spider.Results { return results("from Start") }
	tests := []struct {
		name   string
		spider spider.Spider
		job    []string
		want   []string
	}{
		{"the spider's own", own, nil, []string{"http://example.com/1"}},
		{"the job's replace them", own, []string{"http://example.com/2"}, []string{"http://example.com/2"}},
		{"Start replaces them", function, nil, []string{"from Start"}},
		{"the job's replace Start", function, []string{"http://example.com/2"}, []string{"http://example.com/2"}},
		{"none", spider.Spider{}, nil, nil},
		{"what the engine gives replaces all", function, []string{"http://example.com/2"}, []string{"from the engine"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var w world
			test.spider.Parse = w.gives("parse", nil)
			var slice spider.Slice
			begin := spider.Start{URLs: test.job}
			if test.name == "what the engine gives replaces all" {
				begin.Requests = results("from the engine")
			}
			got, err := start(t, w.chain(t, test.spider), begin, &slice)
			if err != nil || !slice.Done {
				t.Errorf("error %v, done %v", err, slice.Done)
			}
			equal(t, "output", got, test.want)
		})
	}
}

func TestLegsStartAfterTheSpider(t *testing.T) {
	var w world
	begins := func(name string, r spider.Results) spider.Leg {
		return spider.Leg{Name: name, Start: func(context.Context, spider.Start) spider.Results { return r }}
	}
	s := spider.Spider{
		Parse: w.gives("parse", nil), StartURLs: []string{"http://example.com/1"},
		Legs: []spider.Leg{begins("a", results("a1", "a2")), {Name: "b", Legs: []spider.Leg{begins("c", results("c1"))}}, begins("none", nil)},
	}
	for from, want := range [][]string{{"http://example.com/1", "a1", "a2", "c1"}, {"a1", "a2", "c1"}, {"a2", "c1"}, {"c1"}, nil} {
		slice := spider.Slice{From: from}
		got, err := start(t, w.chain(t, s), spider.Start{}, &slice)
		if err != nil || !slice.Done {
			t.Errorf("from %d: error %v, done %v", from, err, slice.Done)
		}
		equal(t, fmt.Sprintf("from %d", from), got, want)
	}
	var slice spider.Slice
	got, err := start(t, w.chain(t, s), spider.Start{URLs: []string{"http://example.com/2"}}, &slice)
	if err != nil {
		t.Error(err)
	}
	equal(t, "with the job's URLs", got, []string{"http://example.com/2"})

	s.Legs = []spider.Leg{{Name: "d", Start: func(context.Context, spider.Start) spider.Results { panic("oh") }}}
	if _, err := start(t, w.chain(t, s), spider.Start{}, &slice); err == nil || !strings.Contains(err.Error(), "leg d: ") {
		t.Errorf("of a leg that panics: %v", err)
	}
}

// A start is read in slices, each by another process.
func TestSlices(t *testing.T) {
	var urls []string
	for i := range 10 {
		urls = append(urls, fmt.Sprintf("http://example.com/%d", i))
	}
	tripled := spider.Middleware{Name: "tripled", ProcessStart: func(_ context.Context, _ spider.Start, r spider.Results) spider.Results {
		return func(yield func(crawl.Result, error) bool) {
			for res, err := range r {
				for range 3 {
					if !yield(res, err) {
						return
					}
				}
			}
		}
	}}
	var all, want []string
	for _, u := range urls {
		want = append(want, u, u, u)
	}
	slice := spider.Slice{}
	rounds := 0
	for ; !slice.Done; rounds++ {
		var w world
		w.mws = []spider.Middleware{tripled}
		c := w.chain(t, spider.Spider{StartURLs: urls, Parse: w.gives("parse", nil)})
		left := 4
		slice = spider.Slice{From: slice.Next, More: func() bool { left--; return left >= 0 }}
		got, err := start(t, c, spider.Start{}, &slice)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got...)
		if rounds > 20 {
			t.Fatal("it does not end")
		}
	}
	equal(t, "all slices together", all, want)
	if rounds != 3 {
		t.Errorf("it took %d slices of 4, want 3", rounds)
	}
}

func TestAStartThatIsNotReadToTheEndIsNotDone(t *testing.T) {
	var w world
	c := w.chain(t, spider.Spider{StartURLs: []string{"http://example.com/1", "http://example.com/2"}, Parse: w.gives("parse", nil)})
	var slice spider.Slice
	for range c.Start(context.Background(), spider.Start{}, &slice) {
		break
	}
	if slice.Done || slice.Next != 1 {
		t.Errorf("got done %v, next %d", slice.Done, slice.Next)
	}
}

func TestAStartThatFails(t *testing.T) {
	fails := map[string]func() spider.Results{
		"with an error": func() spider.Results {
			return func(yield func(crawl.Result, error) bool) {
				if res := results("1"); true {
					for r := range res {
						yield(r, nil)
					}
				}
				yield(crawl.Result{}, errBroken)
			}
		},
		"with a panic when it is read": func() spider.Results {
			return func(yield func(crawl.Result, error) bool) {
				for r := range results("1") {
					yield(r, nil)
				}
				panic(errBroken)
			}
		},
	}
	for how, begin := range fails {
		t.Run(how, func(t *testing.T) {
			var w world
			three(&w)
			s := spider.Spider{Parse: w.gives("parse", nil), Start: func(context.Context, spider.Start) spider.Results { return begin() }}
			var slice spider.Slice
			got, err := start(t, w.chain(t, s), spider.Start{}, &slice)
			if !errors.Is(err, errBroken) || slice.Done {
				t.Errorf("error %v, done %v", err, slice.Done)
			}
			equal(t, "output", got, []string{"1"})
		})
	}
	t.Run("with a panic of a middleware", func(t *testing.T) {
		var w world
		w.mws = []spider.Middleware{{Name: "bad", ProcessStart: func(context.Context, spider.Start, spider.Results) spider.Results { panic("oh no") }}}
		s := spider.Spider{Parse: w.gives("parse", nil), StartURLs: []string{"http://example.com/"}}
		if _, err := start(t, w.chain(t, s), spider.Start{}, &spider.Slice{}); err == nil || !strings.Contains(err.Error(), "oh no") {
			t.Errorf("got %v", err)
		}
	})
}
