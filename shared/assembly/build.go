package assembly

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/slots"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/yamlspider"
)

// Parts are what a [Builder] puts together.
type Parts struct {
	Project project.Project
	// Registry has the project's spiders.
	Registry *spider.Registry
	// Layers are the settings below those of spiders and jobs.
	Layers []settings.Layer
	// Limit changes what settings a place cannot bear, or says why not; nil
	// changes none.
	Limit func(*settings.Settings) error
	// Web opens connections, Slots gives turns, Robots reads robots.txt.
	Web    *handlers.HTTPHandler
	Slots  *slots.Slots
	Robots *downloadermw.Robots
	// Blobs keeps the HTTP cache.
	Blobs blob.Store
	// Files says that file: URLs can be fetched: they name what the process
	// may read.
	Files bool
	// Signer signs requests to S3; nil signs none.
	Signer handlers.Signer
	// Proxies are those of the environment and what is known of others; nil
	// stands for an environment without any.
	Proxies *downloadermw.Proxies
	// ShowsProgress says that the program shows by itself how jobs come along.
	ShowsProgress bool

	Now func() time.Time
	Log *slog.Logger
}

// A Builder makes what a process keeps for each job, out of the project.
type Builder struct {
	Parts
	decoders *downloadermw.Decoders
}

// NewBuilder returns a builder. Everything in parts but Limit, Files, Signer
// and Proxies must be set.
func NewBuilder(p Parts) *Builder {
	if p.Proxies == nil {
		p.Proxies = downloadermw.NewProxies(httpproxy.Config{}, p.Now)
	}
	return &Builder{Parts: p, decoders: new(downloadermw.Decoders)}
}

// settingsOf resolves the settings of a job: those of the project, its
// spider's, and its own.
func (b *Builder) settingsOf(s *spider.Spider, spec crawl.JobSpec) (settings.Settings, error) {
	own := make(map[string]any, len(spec.Settings))
	for name, value := range spec.Settings {
		own[name] = value
	}
	layers := append(b.Layers[:len(b.Layers):len(b.Layers)],
		settings.Layer{Name: "spider " + s.Name, Values: s.Settings},
		settings.Layer{Name: "the job", Values: own})
	set, err := settings.Resolve(layers...)
	if err == nil && b.Limit != nil {
		err = b.Limit(&set)
	}
	return set, err
}

// spiderOf finds a job's spider: the project's, or what the job brings itself.
func (b *Builder) spiderOf(spec crawl.JobSpec) (*spider.Spider, error) {
	if spec.Definition == "" {
		return b.Registry.Get(spec.Spider)
	}
	s, err := yamlspider.Load("the job's spider", []byte(spec.Definition))
	if err != nil {
		return nil, err
	}
	registry, err := spider.NewRegistry(s)
	if err != nil {
		return nil, err
	}
	return registry.Get(spec.Spider)
}

// Build is an [engine.Build].
func (b *Builder) Build(job crawl.Job, spec crawl.JobSpec) (*engine.Runtime, error) {
	s, err := b.spiderOf(spec)
	if err != nil {
		return nil, err
	}
	return b.build(s, job, spec)
}

// build is Build with the spider found.
func (b *Builder) build(s *spider.Spider, job crawl.Job, spec crawl.JobSpec) (*engine.Runtime, error) {
	if s.CheckArgs != nil {
		if err := s.CheckArgs(spec.Args); err != nil {
			return nil, fmt.Errorf("spider %s: %w", s.Name, err)
		}
	}
	set, err := b.settingsOf(s, spec)
	if err != nil {
		return nil, err
	}
	env := project.Env{
		Job: job, Spider: s, Args: spec.Args, Settings: set, Stats: new(stats.Collector),
		Log: AtLevel(b.Log, set.LogLevel).With("job", job.Name, "spider", s.Name), Robots: b.Robots, Decoders: b.decoders, Proxies: b.Proxies, Blobs: b.Blobs, Now: b.Now, ShowsProgress: b.ShowsProgress,
	}
	rt := &engine.Runtime{Spec: spec, Settings: set, Spider: s, Stats: env.Stats, Log: env.Log}
	rt.Attempts = downloadermw.NewAttempts(set, env.Stats, env.Log)
	if err := b.chains(rt, env); err != nil {
		return nil, named(s.Name, err)
	}
	return rt, nil
}

// named puts the spider's name before each line of an error.
func named(spider string, err error) error {
	if spider == bare {
		return err
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range many.Unwrap() {
			all = append(all, named(spider, one))
		}
		return errors.Join(all...)
	}
	return fmt.Errorf("spider %s: %w", spider, err)
}

// chains puts the project's parts together for one job.
func (b *Builder) chains(rt *engine.Runtime, env project.Env) error {
	spiderMWs, err := list(b.Project.SpiderMiddlewares, env)
	if err != nil {
		return err
	}
	rt.Chain = spider.NewChain(rt.Spider, env.Stats, spiderMWs...)

	downloaderMWs, err := list(b.Project.DownloaderMiddlewares, env)
	if err != nil {
		return err
	}
	all, err := b.handlers(rt.Settings, env)
	if err != nil {
		return err
	}
	var unfetched []error
	for _, u := range rt.Spec.StartURLs {
		unfetched = append(unfetched, handlers.CheckScheme(all, u))
	}
	if err := errors.Join(unfetched...); err != nil {
		return err
	}
	rt.Download = downloader.Chain(watch(handlers.ByScheme(all)), downloaderMWs...)
	rt.Reach = handlers.Scope(all, env.Stats, env.Log)

	rt.Scope = func(*crawl.Request) error { return nil }
	if b.Project.Scope != nil {
		if rt.Scope, err = b.Project.Scope(env); err != nil {
			return err
		}
	}
	steps, err := list(b.Project.Pipeline, env)
	if err != nil {
		return err
	}
	if rt.Pipeline, err = pipeline.NewChain(steps...); err != nil {
		return err
	}
	extensions, err := list(b.Project.Extensions, env)
	if err != nil {
		return err
	}
	rt.Extensions, err = extension.NewChain(env.Stats, env.Log, extensions...)
	return err
}

// list calls one of the project's list functions; one that is absent gives an
// empty list.
func list[T any](f func(project.Env) ([]T, error), env project.Env) ([]T, error) {
	if f == nil {
		return nil, nil
	}
	return f(env)
}
