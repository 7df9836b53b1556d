package extension_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// everything is an extension whose hooks all say the same.
func everything(name string, say func(hook string) error) extension.Extension {
	return extension.Extension{
		Name:             name,
		SpiderOpened:     func(context.Context, crawl.Job) error { return say("SpiderOpened") },
		SpiderClosed:     func(context.Context, crawl.Job, map[string]any) error { return say("SpiderClosed") },
		RequestScheduled: func(context.Context, *crawl.Request) error { return say("RequestScheduled") },
		RequestDropped:   func(context.Context, *crawl.Request, string) error { return say("RequestDropped") },
		ResponseReceived: func(context.Context, *crawl.Response) error { return say("ResponseReceived") },
		ItemScraped:      func(context.Context, pipeline.Key, crawl.Item) error { return say("ItemScraped") },
		ItemDropped:      func(context.Context, pipeline.Key, crawl.Item, string) error { return say("ItemDropped") },
		ItemError:        func(context.Context, pipeline.Key, crawl.Item, error) error { return say("ItemError") },
		SpiderError:      func(context.Context, *spider.Page, error) error { return say("SpiderError") },
		Counted:          func(context.Context, crawl.Job, map[string]int64) error { return say("Counted") },
	}
}

// tellAll tells a chain of everything once, and returns how it closes the job,
// by hook.
func tellAll(c *extension.Chain) map[string]*crawl.CloseSpider {
	ctx, req, key := context.Background(), &crawl.Request{}, pipeline.Key{}
	closes := map[string]*crawl.CloseSpider{
		"SpiderOpened":     c.SpiderOpened(ctx, crawl.Job{}),
		"RequestDropped":   c.RequestDropped(ctx, req, extension.Duplicate),
		"ResponseReceived": c.ResponseReceived(ctx, &crawl.Response{}),
		"ItemScraped":      c.ItemScraped(ctx, key, crawl.Item{}),
		"ItemDropped":      c.ItemDropped(ctx, key, crawl.Item{}, "no"),
		"ItemError":        c.ItemError(ctx, key, crawl.Item{}, errBroken),
		"SpiderError":      c.SpiderError(ctx, nil, errBroken),
		"Counted":          c.Counted(ctx, crawl.Job{}, nil),
	}
	_, closes["RequestScheduled"] = c.RequestScheduled(ctx, req)
	c.SpiderClosed(ctx, crawl.Job{}, nil)
	return closes
}

var errBroken = errors.New("broken")

const hooks = 10

func chain(t *testing.T, st *stats.Collector, log *bytes.Buffer, list ...extension.Extension) *extension.Chain {
	t.Helper()
	c, err := extension.NewChain(st, slog.New(slog.NewTextHandler(log, nil)), list...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestErrorsAndPanicsOfOneAreCountedAndKeepNothingFromOthers(t *testing.T) {
	for name, say := range map[string]func(string) error{
		"error": func(string) error { return errBroken },
		"panic": func(string) error { panic("broken") },
		"drop": func(hook string) error {
			return map[bool]error{true: errBroken, false: &crawl.Drop{Reason: "x"}}[hook == "RequestScheduled"]
		},
	} {
		t.Run(name, func(t *testing.T) {
			var st stats.Collector
			var log bytes.Buffer
			heard := 0
			c := chain(t, &st, &log, everything("bad", say), everything("good", func(string) error { heard++; return nil }))
			for hook, closes := range tellAll(c) {
				if closes != nil {
					t.Errorf("%s closes the job: %v", hook, closes)
				}
			}
			if heard != hooks {
				t.Errorf("the other was called %d times, want %d", heard, hooks)
			}
			if diff := cmp.Diff(map[string]int64{"extension/bad/error_count": hooks}, st.Take()); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
			if n := strings.Count(log.String(), "extension failed"); n != hooks || !strings.Contains(log.String(), "hook=ItemError") {
				t.Errorf("logged %d times: %s", n, log.String())
			}
		})
	}
}

func TestTheFirstThatClosesTheJobGivesTheReason(t *testing.T) {
	var st stats.Collector
	closing := func(reason string) extension.Extension {
		return everything(reason, func(string) error { return &crawl.CloseSpider{Reason: reason} })
	}
	c := chain(t, &st, new(bytes.Buffer), everything("quiet", func(string) error { return nil }), closing("one"), closing("two"))
	for hook, closes := range tellAll(c) {
		if closes == nil || closes.Reason != "one" {
			t.Errorf("%s: %v, want the reason one", hook, closes)
		}
	}
	if counts := st.Take(); len(counts) != 0 {
		t.Errorf("counted as errors: %v", counts)
	}
}

func TestARequestIsDroppedByAnyWhileAllHearOfIt(t *testing.T) {
	var st stats.Collector
	heard := 0
	c := chain(t, &st, new(bytes.Buffer),
		extension.Extension{Name: "no", RequestScheduled: func(context.Context, *crawl.Request) error { return &crawl.Drop{Reason: "seen elsewhere"} }},
		extension.Extension{Name: "yes", RequestScheduled: func(context.Context, *crawl.Request) error { heard++; return nil }},
	)
	if dropped, closes := c.RequestScheduled(t.Context(), &crawl.Request{}); !dropped || closes != nil || heard != 1 {
		t.Errorf("dropped %v, closes %v, heard %d", dropped, closes, heard)
	}
	if diff := cmp.Diff(map[string]int64{"extension/no/request_dropped_count": 1}, st.Take()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestNamesOfExtensions(t *testing.T) {
	for want, list := range map[string][]extension.Extension{
		`two extensions are named "a"`: {{Name: "a"}, {Name: "a"}},
		`extension "": a name is`:      {{}},
		`extension "a/b": a name is`:   {{Name: "a/b"}},
	} {
		if _, err := extension.NewChain(new(stats.Collector), slog.Default(), list...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestEveryCountIsAskedForByWhoListens(t *testing.T) {
	for _, test := range []struct {
		x    extension.Extension
		want bool
	}{
		{extension.Extension{Name: "a", EveryCount: true}, false},
		{extension.Extension{Name: "a", Counted: everything("", nil).Counted}, false},
		{extension.Extension{Name: "a", Counted: everything("", nil).Counted, EveryCount: true}, true},
	} {
		if got := chain(t, nil, new(bytes.Buffer), test.x, extension.Extension{Name: "b"}).EveryCount(); got != test.want {
			t.Errorf("%+v: got %v", test.x, got)
		}
	}
}

// Nobody who listens costs nothing: neither no extension nor one without hooks.
func TestSilenceCostsNothing(t *testing.T) {
	none, err := extension.NewChain(nil, nil)
	if err != nil || none != nil {
		t.Fatalf("got %v, %v, want nil", none, err)
	}
	for _, c := range []*extension.Chain{nil, chain(t, nil, new(bytes.Buffer), extension.Extension{Name: "deaf"})} {
		ctx, req, resp := context.Background(), &crawl.Request{}, &crawl.Response{}
		if n := testing.AllocsPerRun(100, func() {
			c.RequestScheduled(ctx, req)
			c.RequestDropped(ctx, req, "")
			c.ResponseReceived(ctx, resp)
			c.ItemScraped(ctx, pipeline.Key{}, crawl.Item{})
			c.Counted(ctx, crawl.Job{}, nil)
			c.SpiderClosed(ctx, crawl.Job{}, nil)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}
