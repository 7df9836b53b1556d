// Package project is what a user's project consists of: its spiders, and the
// lists of middlewares and steps round them. A project hands one [Project] to
// every program, from the command line to the Lambda functions.
package project

import (
	"log/slog"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
)

// A Project is all that the framework needs to know of a user's code. The
// lists are functions because each job has its own settings; the order of a
// list is the order in which its parts run.
type Project struct {
	// Name is scrapyd's project; "default" if the project file says nothing.
	Name string

	// Spiders are all the spiders there are.
	Spiders []spider.Spider

	// SpiderMiddlewares lists what stands between engine and spider, the
	// nearest to the engine first.
	SpiderMiddlewares func(Env) ([]spider.Middleware, error)

	// DownloaderMiddlewares lists what stands between engine and web, the
	// nearest to the engine first.
	DownloaderMiddlewares func(Env) ([]downloader.Middleware, error)

	// Scope refuses requests before they get a row of work: what no
	// middleware would ever let through. Nil refuses none.
	Scope func(Env) (func(*crawl.Request) error, error)

	// Pipeline lists the steps that each item takes.
	Pipeline func(Env) ([]pipeline.Step, error)
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

	// Robots and Decoders are the process's, shared by its jobs.
	Robots   *downloadermw.Robots
	Decoders *downloadermw.Decoders
}
