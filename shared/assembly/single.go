package assembly

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/slots"
	"github.com/skitterhq/skitter/shared/spider"
)

// A Single fetches one page at a time through a job's downloader middlewares,
// without a job: nothing is kept. It is what `skitter fetch` uses.
type Single struct {
	rt *engine.Runtime
}

// NewSingle returns a Single. Without a spider's name the project's middlewares
// run with the project's settings alone.
func NewSingle(p project.Project, layers []settings.Layer, spec crawl.JobSpec, log *slog.Logger) (*Single, error) {
	if spec.Spider == "" {
		spec.Spider = "fetch"
		p.Spiders = []spider.Spider{{Name: spec.Spider, Parse: func(context.Context, *spider.Page, *spider.Output) error { return nil }}}
	}
	registry, err := spider.NewRegistry(p.Spiders...)
	if err != nil {
		return nil, err
	}
	web, err := handlers.HTTP(handlers.Options{Logger: log})
	if err != nil {
		return nil, err
	}
	b := NewBuilder(Parts{
		Project: p, Registry: registry, Layers: layers, Web: web, Now: time.Now, Log: log,
		Robots: downloadermw.NewRobots(memory.NewOrigins(time.Now), time.Now),
		Slots: slots.New(memory.NewSlotRows(), slots.Config{
			Slack: time.Second, Now: time.Now, Sleep: Sleep, Draw: rand.Float64, Wait: time.Minute,
		}),
	})
	s, err := registry.Get(spec.Spider)
	if err != nil {
		return nil, err
	}
	rt, err := b.Build(crawl.Job{UID: crawl.NewJobUID(), Name: "fetch", Spider: s.Name, State: crawl.JobRunning}, spec)
	if err != nil {
		return nil, err
	}
	return &Single{rt: rt}, nil
}

// Check reports everything that is wrong with what a job is asked for, before
// anything is written for it.
func Check(p project.Project, layers []settings.Layer, spec crawl.JobSpec, log *slog.Logger) error {
	_, err := NewSingle(p, layers, spec, log)
	return err
}

// Fetch fetches a request, following redirects and trying again as a job would,
// but waiting here instead of sending messages.
func (s *Single) Fetch(ctx context.Context, req *crawl.Request) (*crawl.Response, error) {
	for {
		var resp *crawl.Response
		err := crawl.Guard(func() (err error) { resp, err = s.rt.Download.Fetch(ctx, req.Clone()); return err })
		var (
			instead *crawl.Instead
			retry   *crawl.Retry
			later   *crawl.Later
			drop    *crawl.Drop
		)
		switch {
		case err == nil:
			return resp, nil
		case errors.As(err, &instead):
			req = instead.Request
		case errors.As(err, &retry):
			s.rt.Log.Info("trying again", "url", req.URL, "reason", retry.Reason, "after", retry.After)
			req.RetryTimes++
			err = Sleep(ctx, retry.After)
		case errors.As(err, &later):
			err = Sleep(ctx, time.Until(later.At))
		case errors.As(err, &drop):
			return nil, fmt.Errorf("%s is not fetched: %s", req.URL, dropText(drop.Reason))
		default:
			return nil, fmt.Errorf("%s: %w", req.URL, err)
		}
		if ctx.Err() != nil {
			return nil, err
		}
	}
}

func dropText(reason string) string {
	if reason == "robots" {
		return "robots.txt forbids it (-s ROBOTSTXT_OBEY=False fetches it all the same)"
	}
	return reason
}
