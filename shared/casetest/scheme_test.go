package casetest

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/skitterhq/skitter/shared/assembly/cloud"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/topology"
)

// TestSEC09 asks a function for a file of its own, by a start URL and by a link
// of a page, in each way that work can come to be; and for an object of S3.
func TestSEC09(t *testing.T) {
	var in struct {
		Start, Links []string
		S3           string
	}
	var want struct {
		Read     []bool
		S3Scheme string `json:"s3_scheme"`
	}
	caseOf(t, "SEC-09", &in, &want)
	s := newStack(t)
	c, err := cloud.New(cloud.Options{
		Store: s.store, Stack: s.Stack, Function: topology.Fetch, Log: slog.New(slog.DiscardHandler),
		Project: project.Project{Name: "default", Spiders: []spider.Spider{{
			Name: "s", StartURLs: in.Start,
			Parse: func(context.Context, *spider.Page, *spider.Output) error { return nil },
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := c.Build(crawl.Job{Project: "default", Spider: "s"}, crawl.JobSpec{Spider: "s"})
	if err != nil {
		t.Fatal(err)
	}
	read := func(from *crawl.Request, url string) bool {
		req := &crawl.Request{URL: url}
		var drop *crawl.Drop
		var failure *crawl.Failure
		if err := rt.Reach(from, req); !errors.As(err, &drop) {
			t.Errorf("%s becomes work: %v", url, err)
		}
		resp, err := rt.Download.Fetch(t.Context(), req)
		return resp != nil || !errors.As(err, &failure) || failure.Reason != handlers.ReasonUnsupportedScheme
	}
	got := []bool{read(nil, in.Start[0]), read(&crawl.Request{URL: "http://example.com/"}, in.Links[0])}
	if got[0] != want.Read[0] || got[1] != want.Read[1] {
		t.Errorf("read: %v, want %v", got, want.Read)
	}
	if c.Check(crawl.JobSpec{Spider: "s", StartURLs: in.Start}) == nil {
		t.Error("a job that is asked for with a file is begun")
	}
	on := map[string]string{"DOWNLOAD_HANDLERS": `{"file": true}`}
	if c.Check(crawl.JobSpec{Spider: "s", Settings: on}) == nil {
		t.Error("a job may switch files on")
	}
	sign := map[string]string{"AWS_SIGN_REQUESTS": "true"}
	if c.Check(crawl.JobSpec{Spider: "s", Settings: sign}) == nil {
		t.Error("a job may sign with the role of the functions")
	}

	var asked string
	s3, err := handlers.S3(settingsOf(t), downloader.HandlerFunc(func(_ context.Context, req *crawl.Request) (*crawl.Response, error) {
		asked = req.URL
		return &crawl.Response{URL: req.URL, Status: 200, Request: req}, nil
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s3.Fetch(t.Context(), &crawl.Request{URL: in.S3}); err != nil || asked != want.S3Scheme+"://bucket.s3.amazonaws.com/key" {
		t.Errorf("%s is fetched as %s, %v", in.S3, asked, err)
	}
}

func settingsOf(t *testing.T) settings.Settings {
	s, err := settings.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
