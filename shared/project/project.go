// Package project is what a user's project consists of: its spiders, and the
// lists of middlewares, steps and extensions round them. A project hands one [Project] to
// every program, from the command line to the Lambda functions.
package project

import (
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/yamlspider"
)

// A Project is all that the framework needs to know of a user's code. The
// lists are functions because each job has its own settings; the order of a
// list is the order in which its parts run.
type Project struct {
	// Name is scrapyd's project; "default" if the project file says nothing.
	Name string

	// Spiders are the spiders written in Go.
	Spiders []spider.Spider

	// Definitions has the spiders written in YAML: each .yaml file at its top
	// is one, and is named after it (package yamlspider). Nil has none.
	Definitions fs.FS

	// SpiderMiddlewares lists what stands between engine and spider, the
	// nearest to the engine first.
	SpiderMiddlewares func(Env) ([]spider.Middleware, error)

	// DownloaderMiddlewares lists what stands between engine and web, the
	// nearest to the engine first.
	DownloaderMiddlewares func(Env) ([]downloader.Middleware, error)

	// Handlers are the project's own handlers, by the scheme of the URLs that
	// they fetch, or by any other name, which a request names in its
	// DownloadHandler. One of a scheme that is built in takes its place.
	// Requests with a host take their turn at it, as at any. Nil has none.
	Handlers func(Env) (map[string]downloader.Handler, error)

	// Scope refuses requests before they get a row of work: what no
	// middleware would ever let through. Nil refuses none.
	Scope func(Env) (func(*crawl.Request) error, error)

	// Pipeline lists the steps that each item takes.
	Pipeline func(Env) ([]pipeline.Step, error)

	// Extensions lists what listens to the crawl. They are told in this order.
	Extensions func(Env) ([]extension.Extension, error)
}

// Registry returns a registry of all the project's spiders. The error has every
// mistake in them.
func (p Project) Registry() (*spider.Registry, error) {
	written, unread := yamlspider.ReadFolder(p.Definitions, ".")
	all := slices.Clone(p.Spiders)
	for _, f := range written {
		all = append(all, f.Spider)
	}
	registry, err := spider.NewRegistry(all...)
	if err := errors.Join(unread, err); err != nil {
		return nil, err
	}
	return registry, nil
}

// An Env is what the lists are made for: one job in one process.
type Env struct {
	Job      crawl.Job
	Spider   *spider.Spider
	Args     map[string]string
	Settings settings.Settings
	Stats    *stats.Collector
	Log      *slog.Logger
	Now      func() time.Time

	// ShowsProgress says that the program shows by itself how the job comes
	// along, so nothing need be logged of it.
	ShowsProgress bool

	// Robots, Decoders and Proxies are the process's, shared by its jobs.
	Robots   *downloadermw.Robots
	Decoders *downloadermw.Decoders
	Proxies  *downloadermw.Proxies

	// Blobs is the family's store of bytes.
	Blobs blob.Store
}
