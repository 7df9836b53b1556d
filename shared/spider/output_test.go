package spider_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/spider"
)

func TestOutput(t *testing.T) {
	var w world
	s := spider.Spider{Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
		out.Follow(" next.html ", "more")
		out.Follow("mailto:x@example.com", "")
		out.Follow("http://[", "")
		out.FollowAll(page.CSS("a::attr(href)").All(), "")
		out.FollowLinks((&extract.LinkExtractor{}).Extract(page.Document()), "more")
		out.Request(&crawl.Request{URL: "http://other.example/", Callback: "other"})
		return nil
	}}
	var got []string
	for res, err := range w.chain(t, s).Process(context.Background(), newPage(`<base href="/b/"><a href="1">1</a><a href="tel:1">t</a>`, nil)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, res.Request.URL+" "+res.Request.Callback)
	}
	equal(t, "requests", got, []string{
		"http://example.com/b/next.html more", "http://example.com/b/1 ", "http://example.com/b/1 more", "http://other.example/ other",
	})
	if n := w.stats.Take()["link/not_page_count"]; n != 4 {
		t.Errorf("%d addresses were counted as no pages, want 4", n)
	}
}

func TestFollowChangesTheRequest(t *testing.T) {
	change := func(req *crawl.Request) {
		req.Errback, req.Priority, req.DontFilter = "sorry", 3, true
		req.CBKwargs, req.Meta = crawl.Values{"n": 1}, crawl.Values{"m": 2}
		req.SetHeader("X-A", "b")
	}
	tests := map[string]func(*spider.Page, *spider.Output){
		"Follow":          func(_ *spider.Page, out *spider.Output) { out.Follow("/a", "cb", change) },
		"FollowAll":       func(_ *spider.Page, out *spider.Output) { out.FollowAll([]string{"/a"}, "cb", change) },
		"FollowSelection": func(p *spider.Page, out *spider.Output) { out.FollowSelection(p.CSS("a"), "cb", change) },
		"FollowLinks": func(_ *spider.Page, out *spider.Output) {
			out.FollowLinks([]extract.Link{{URL: "http://example.com/a"}}, "cb", change)
		},
	}
	want := &crawl.Request{URL: "http://example.com/a", Callback: "cb"}
	change(want)
	for name, follow := range tests {
		t.Run(name, func(t *testing.T) {
			var w world
			s := spider.Spider{Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
				follow(page, out)
				return nil
			}}
			n := 0
			for res, err := range w.chain(t, s).Process(context.Background(), newPage(`<a href="/a">`, nil)) {
				n++
				if diff := cmp.Diff(want, res.Request); err != nil || diff != "" {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			}
			if n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestFollowSelectionFollowsWhatHasAnAddress(t *testing.T) {
	var w world
	s := spider.Spider{Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
		out.FollowSelection(page.CSS("a, link, area"), "")
		out.FollowSelection(page.CSS("img::attr(src)"), "")
		out.FollowSelection(page.CSS("p::text"), "")
		out.FollowSelection(page.CSS("a, img"), "")
		return nil
	}}
	page := newPage(`<link href="/l"><a href="1">1</a><a>none</a><map><area href="2"></map><img src="3"><p> 4 `, nil)
	got, err := process(t, w.chain(t, s), page)
	if err == nil || !strings.Contains(err.Error(), "<img>") {
		t.Errorf("got %v, want an error that names what cannot be followed", err)
	}
	equal(t, "requests", got, []string{
		"http://example.com/l", "http://example.com/dir/1", "http://example.com/dir/2",
		"http://example.com/dir/3", "http://example.com/dir/4", "http://example.com/dir/1",
	})
}

func TestACallbackReadsItsArguments(t *testing.T) {
	page := newPage("", func(r *crawl.Request) { r.CBKwargs, r.Meta = crawl.Values{"shelf": "a"}, crawl.Values{"m": "b"} })
	if page.CBKwargs().String("shelf") != "a" || page.Meta().String("m") != "b" || newPage("", nil).CBKwargs().String("x") != "" {
		t.Errorf("got %v and %v", page.CBKwargs(), page.Meta())
	}
}

func TestItemsThatAreNoneFailThePage(t *testing.T) {
	var w world
	s := spider.Spider{Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
		out.Item(item("1"))
		for range 1000 {
			out.Item("a string")
		}
		out.Item(item("2"))
		return nil
	}}
	got, err := process(t, w.chain(t, s), newPage("", nil))
	equal(t, "output", got, []string{"1", "2"})
	if err == nil || !strings.Contains(err.Error(), "type string") || strings.Count(err.Error(), "\n") > 30 {
		t.Errorf("got error %v", err)
	}
}

func TestABadSelectorFailsThePageWithAClearError(t *testing.T) {
	for where, selects := range map[string]func(*spider.Page){
		"at the top": func(p *spider.Page) { p.CSS("p.price[") },
		"nested": func(p *spider.Page) {
			for row := range p.CSS("p").Each() {
				row.CSS("p.price[")
			}
		},
	} {
		t.Run(where, func(t *testing.T) {
			var w world
			s := spider.Spider{Parse: func(_ context.Context, page *spider.Page, out *spider.Output) error {
				selects(page)
				out.Item(item("1"))
				return nil
			}}
			got, err := process(t, w.chain(t, s), newPage("<p><p>", nil))
			equal(t, "output", got, []string{"1"})
			if err == nil || strings.Count(err.Error(), "p.price[") != 1 {
				t.Errorf("got error %v, want one that names the selector once", err)
			}
		})
	}
}

func TestStoppingEarlyStopsTheCallback(t *testing.T) {
	for name, prepare := range map[string]func(*world){"with middlewares": three, "without": func(*world) {}} {
		t.Run(name, func(t *testing.T) {
			var w world
			prepare(&w)
			stopEarly(t, &w)
		})
	}
}

func stopEarly(t *testing.T, w *world) {
	var rounds int
	s := spider.Spider{Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
		for !out.Stopped() && rounds < 1000 {
			rounds++
			out.Follow(fmt.Sprintf("/%d", rounds), "")
		}
		out.Follow("/after", "")              // does nothing
		out.FollowAll([]string{"/after"}, "") // nor does this
		out.FollowLinks([]extract.Link{{URL: "http://example.com/after"}}, "")
		return errBroken // of no interest any more
	}}
	c := w.chain(t, s)
	n := 0
	for _, err := range c.Process(context.Background(), newPage("", nil)) {
		if err != nil {
			t.Error(err)
		}
		if n++; n == 3 {
			break
		}
	}
	if rounds != 3 {
		t.Errorf("the callback went on for %d rounds, want 3", rounds)
	}
	equal(t, "exceptions", w.exceptions(), nil)
}

func TestAnOutputThatIsKeptIsClosed(t *testing.T) {
	var w world
	var kept *spider.Output
	s := spider.Spider{Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
		kept = out
		return nil
	}}
	if _, err := process(t, w.chain(t, s), newPage("", nil)); err != nil {
		t.Fatal(err)
	}
	if kept.Item(item("late")); !kept.Stopped() {
		t.Error("it is still open")
	}
}

// A page with 100,000 links needs no memory for them.
func TestOutputsAreNotCollected(t *testing.T) {
	const links = 100_000
	var w world
	three(&w)
	s := spider.Spider{
		Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
			for i := range links {
				out.Request(&crawl.Request{URL: fmt.Sprintf("http://example.com/%d", i)})
			}
			return nil
		},
		Legs: []spider.Leg{w.signing("leg", "")},
	}
	c := w.chain(t, s)
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for range c.Process(context.Background(), newPage("", nil)) {
		if n++; n == links {
			runtime.GC()
			runtime.ReadMemStats(&now)
		}
	}
	if n != links+1 { // and the leg's item
		t.Errorf("got %d results", n)
	}
	if grown := int64(now.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("%d bytes are held after %d links", grown, links)
	}
}

func TestPage(t *testing.T) {
	page := newPage(`<base href="/b/"><title>é</title><p>1</p>`, nil)
	checks := []struct{ name, got, want string }{
		{"Join", page.Join("x"), "http://example.com/b/x"},
		{"Join of what is no URL", page.Join("http://["), ""},
		{"Text", page.Text()[len(`<base href="/b/"><title>`):][:2], "é"},
		{"Select", page.Select(extract.MustCSS("p::text")).Get(), "1"},
		{"URL", page.URL, pageURL},
	}
	for _, c := range checks {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
	if first := page.Document(); first != page.Document() {
		t.Error("the page is parsed more than once")
	}
}
