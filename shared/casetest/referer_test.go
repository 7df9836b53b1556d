package casetest

import (
	"context"
	"log/slog"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spidermw"
	"github.com/skitterhq/skitter/shared/stats"
)

// referer has a page follow links under each policy that its header may name.
func referer(t *testing.T, c reported) {
	var in struct {
		Page     string
		Links    []string
		Policies []*string
	}
	var want struct{ Referer [][]*string }
	decode(t, c, &in, &want)
	set, err := settings.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	registry, err := spider.NewRegistry(spider.Spider{Name: "s", Parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
		for _, u := range in.Links {
			out.FollowLinks([]extract.Link{{URL: u}}, "")
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := registry.Get("s")
	if err != nil {
		t.Fatal(err)
	}
	var got [][]*string
	for _, policy := range in.Policies {
		headers := http.Header{}
		if policy != nil {
			headers.Set("Referrer-Policy", *policy)
		}
		page := spider.NewPage(&crawl.Response{URL: in.Page, Status: 200, Headers: headers, Request: &crawl.Request{URL: in.Page}}, s, crawl.Job{}, nil)
		var told []*string
		for res, err := range spider.NewChain(s, new(stats.Collector), spidermw.Referer(set, slog.New(slog.DiscardHandler))).Process(t.Context(), page) {
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, nil)
			if v := res.Request.Headers.Values("Referer"); len(v) > 0 {
				told[len(told)-1] = &v[0]
			}
		}
		got = append(got, told)
	}
	if diff := cmp.Diff(want.Referer, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
