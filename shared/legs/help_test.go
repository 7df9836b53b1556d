package legs_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// bind registers a spider under the name "test" and returns it bound.
func bind(t *testing.T, s spider.Spider) *spider.Spider {
	t.Helper()
	bound, err := tryBind(s)
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

func tryBind(s spider.Spider) (*spider.Spider, error) {
	s.Name = "test"
	registry, err := spider.NewRegistry(s)
	if err != nil {
		return nil, err
	}
	return registry.Get("test")
}

// nothing is a callback that gives nothing.
func nothing(context.Context, *spider.Page, *spider.Output) error { return nil }

// gives is a callback that gives an item of its name.
func gives(name string) spider.Callback {
	return func(_ context.Context, _ *spider.Page, out *spider.Output) error {
		out.Item(map[string]string{"by": name})
		return nil
	}
}

// newPage makes a page of HTML. Its request is for the same address unless
// another is given.
func newPage(url, html string, req *crawl.Request) *spider.Page {
	if req == nil {
		req = &crawl.Request{URL: url}
	}
	return spider.NewPage(&crawl.Response{
		URL: url, Status: 200, Body: []byte(html), Request: req,
		Headers: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
	}, nil, crawl.Job{}, nil)
}

// An output is what a page gave.
type output struct {
	requests []*crawl.Request
	items    []string // as JSON
	stats    map[string]int64
}

func (o output) urls() []string {
	var urls []string
	for _, r := range o.requests {
		urls = append(urls, r.URL)
	}
	return urls
}

// read has a spider read a page.
func read(t *testing.T, s spider.Spider, page *spider.Page) output {
	t.Helper()
	out, err := tryRead(t, s, page)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryRead(t *testing.T, s spider.Spider, page *spider.Page) (out output, failed error) {
	t.Helper()
	var st stats.Collector
	bound := bind(t, s)
	page.Spider = bound
	for res, err := range spider.NewChain(bound, &st).Process(t.Context(), page) {
		switch {
		case err != nil:
			failed = err
		case res.Request != nil:
			out.requests = append(out.requests, res.Request)
		default:
			text, err := res.Item.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			out.items = append(out.items, string(text))
		}
	}
	out.stats = st.Take()
	return out, failed
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want, +got):\n%s", what, diff)
	}
}

// wantMistakes checks that a leg is refused, with an error that names it and
// has all of the texts.
func wantMistakes(t *testing.T, leg spider.Leg, texts ...string) {
	t.Helper()
	_, err := tryBind(spider.Spider{Parse: nothing, Callbacks: map[string]spider.Callback{"book": nothing}, Legs: []spider.Leg{leg}})
	if err == nil {
		t.Fatal("the options were taken")
	}
	for _, text := range append(texts, `leg "`+leg.Name+`"`) {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("got %q, which does not have %q", err, text)
		}
	}
}

func sorted(texts []string) []string { slices.Sort(texts); return texts }
