package assembly

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/slots"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A Single does one page at a time what a job does with each: fetch it through
// the downloader middlewares, and hand it to the spider behind its own. It has
// no job, and keeps nothing. It is used by one goroutine at a time.
type Single struct {
	rt  *engine.Runtime
	job crawl.Job
}

// Singles makes what differs in spider, arguments and settings, and shares the
// connections, the turns at each host and the robots.txt files.
type Singles struct {
	builder *Builder
}

// bare is the name of the spider that stands in where none is named.
const bare = "fetch"

// NewSingles returns what makes the Singles of a project. It fails if a spider
// of the project is wrong. Where the settings want an HTTP cache, it is that of
// [StateDir], which crawls on this machine use.
func NewSingles(p project.Project, layers []settings.Layer, log *slog.Logger) (*Singles, error) {
	registry, err := p.Registry()
	if err != nil {
		return nil, err
	}
	web, err := handlers.HTTP(handlers.Options{Logger: log})
	if err != nil {
		return nil, err
	}
	return &Singles{NewBuilder(Parts{
		Project: p, Registry: registry, Layers: layers, Web: web, Now: time.Now, Log: log,
		Files: true, Signer: aws.NewSigner(time.Now), Blobs: newStateBlobs(StateDir),
		Proxies: downloadermw.NewProxies(*httpproxy.FromEnvironment(), time.Now),
		Robots:  downloadermw.NewRobots(memory.NewOrigins(time.Now), time.Now),
		Slots: slots.New(memory.NewSlotRows(), slots.Config{
			Slack: time.Second, Now: time.Now, Sleep: Sleep, Draw: rand.Float64, Wait: time.Minute,
		}),
	})}, nil
}

// Registry has the project's spiders.
func (s *Singles) Registry() *spider.Registry { return s.builder.Registry }

// Single returns what works as a job of that specification would. Without a
// spider's name a spider stands in that gives nothing and has no settings.
func (s *Singles) Single(spec crawl.JobSpec) (*Single, error) {
	found := &spider.Spider{Name: bare, Parse: func(context.Context, *spider.Page, *spider.Output) error { return nil }}
	if spec.Spider != "" || spec.Definition != "" {
		var err error
		if found, err = s.builder.spiderOf(spec); err != nil {
			return nil, err
		}
	}
	job := crawl.Job{
		UID: crawl.NewJobUID(), Project: s.builder.Project.Name, Name: bare, Spider: found.Name,
		State: crawl.JobRunning, Created: s.builder.Now(),
	}
	rt, err := s.builder.build(found, job, spec)
	if err != nil {
		return nil, err
	}
	return &Single{rt: rt, job: job}, nil
}

// NewSingle returns a Single. Without a spider's name the project's middlewares
// run with the project's settings alone, whatever is wrong with its spiders.
func NewSingle(p project.Project, layers []settings.Layer, spec crawl.JobSpec, log *slog.Logger) (*Single, error) {
	if spec.Spider == "" {
		p.Spiders, p.Definitions = nil, nil
	}
	all, err := NewSingles(p, layers, log)
	if err != nil {
		return nil, err
	}
	return all.Single(spec)
}

// Check reports everything that is wrong with what a job is asked for, before
// anything is written for it.
func Check(p project.Project, layers []settings.Layer, spec crawl.JobSpec, log *slog.Logger) error {
	_, err := NewSingle(p, layers, spec, log)
	return err
}

// Fetch fetches a request, following redirects and trying again as a job would,
// but waiting here instead of sending messages. A *crawl.Drop in the error says
// that a middleware refuses the request, a *crawl.Failure that nothing came.
func (s *Single) Fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
	resp, _, err := s.fetch(ctx, req)
	return resp, err
}

// fetch also returns the request that was made at last, after redirects, with the
// cookies that it had then.
func (s *Single) fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, *crawl.Request, error) {
	for {
		var resp *crawl.Response
		sent := req.Clone()
		sent.CanonicalizeHeaders()
		err := crawl.Guard(func() (err error) { resp, err = s.rt.Download.Fetch(ctx, sent); return err })
		var (
			instead *crawl.Instead
			retry   *crawl.Retry
			later   *crawl.Later
			drop    *crawl.Drop
		)
		switch {
		case err == nil:
			if resp.Request == nil {
				resp.Request = sent // a middleware made it
			}
			return resp, req, nil
		case errors.As(err, &instead):
			req = instead.Target(req)
		case errors.As(err, &retry):
			s.rt.Log.Info("trying again", "url", weburl.Shown(req.URL), "reason", retry.Reason, "after", retry.After)
			req = req.Clone()
			req.RetryTimes++
			req.Jars = sent.Jars
			err = Sleep(ctx, retry.After)
		case errors.As(err, &later):
			err = Sleep(ctx, time.Until(later.At))
		case errors.As(err, &drop):
			return nil, req, &notFetched{weburl.Shown(req.URL), drop}
		default:
			last := req.Clone()
			last.Jars = sent.Jars
			return nil, last, fmt.Errorf("%s: %w", weburl.Shown(req.URL), err)
		}
		if ctx.Err() != nil {
			return nil, req, err
		}
	}
}

// A notFetched says in words why a middleware refuses a request.
type notFetched struct {
	url  string
	drop *crawl.Drop
}

func (e *notFetched) Error() string { return e.url + " is not fetched: " + dropText(e.drop.Reason) }
func (e *notFetched) Unwrap() error { return e.drop }

func dropText(reason string) string {
	switch reason {
	case "robots":
		return "robots.txt forbids it (-s ROBOTSTXT_OBEY=False fetches it all the same)"
	case downloadermw.DropNotCached:
		return "it is not in the HTTP cache (-s HTTPCACHE_IGNORE_MISSING=False fetches it)"
	case "offsite":
		return "it is outside the spider's allowed domains"
	}
	return reason
}
