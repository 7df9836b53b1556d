// Package worldtest runs whole crawls in memory and in virtual time, for tests
// of package engine: every port call by itself, pages from a map, and a pump in
// place of pollers, so that a test decides what is delivered when.
package worldtest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/dead"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/extensions"
	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/jobs"
	"github.com/skitterhq/skitter/shared/memory"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spidermw"
	"github.com/skitterhq/skitter/shared/stats"
)

// A Queue is what a world's queues can do.
type Queue interface {
	queue.Sender
	queue.Receiver
	queue.Bell
	queue.Census
}

// Ports are a world's ports. A test may put something round each.
type Ports struct {
	Queue Queue
	Rows  frontier.Store
	Items items.Store
	Jobs  jobs.Store
	Blobs blob.Store
	Jars  jars.Store
	Dead  dead.Store
}

// A Site maps the path of a page to what it says, one word and its argument a
// line: "link PATH", "again PATH" (not filtered), "item NAME", "error", "panic",
// "close REASON", "first PATH", "attempt NAME", "retry N REASON". With "cookie
// TEXT" the answer sets a cookie, and a page with "needs TEXT" is given to nobody
// who does not bring that. "busy TEXT" sets one and asks for a retry that brings
// it, "redirect PATH" leads elsewhere.
type Site map[string]string

// Options say how a world is to be.
type Options struct {
	Site Site
	// Start are the paths that the crawl begins with; "/" if there are none.
	Start []string
	// Fetch stands before the site; nil asks the site at once.
	Fetch func(ctx context.Context, req *crawl.Request, site downloader.Handler) (*crawl.Response, error)
	// Spider changes the spider; nil leaves it.
	Spider func(*spider.Spider)
	// Settings of the job.
	Settings map[string]string
	// Scope refuses requests; nil refuses none.
	Scope func(*crawl.Request) error
	// Steps are the pipeline.
	Steps []pipeline.Step
	// Extensions listen besides those that close the job at a limit.
	Extensions []extension.Extension
	// Base are the ports that the world is made on; nil takes those of package
	// memory.
	Base *Ports
	// Wrap changes the ports; nil leaves them.
	Wrap func(Ports) Ports
	// NoCensus leaves the exact count away, as AWS has none.
	NoCensus bool
	// InlineBody is engine.Config's; 0 means 1 KiB.
	InlineBody int
	// Timeout limits each invocation; 0 sets no limit. The engine stops
	// taking on more when a fifth of it is left.
	Timeout time.Duration
	// StaleReads makes every eventual read miss the last write of a row.
	StaleReads bool
	// Due says when the next message of a queue can be received, zero for
	// none. With it the world receives only from queues where something is
	// due, and moves its clock to what comes next; nil has it look into each
	// queue once a second.
	Due func(from queue.Name) time.Time
	// Apart gives each stage a process of its own, as in the cloud: they share
	// the ports and remember nothing together.
	Apart bool
	// Sweep is how often the world sweeps while nothing is due; 0 means once
	// a second.
	Sweep time.Duration
	// Redrives says that the queues move to queue.Dead what was delivered too
	// often; else the world buries it.
	Redrives bool
	// Runtime changes what is built for the job; nil leaves it.
	Runtime func(*engine.Runtime) error
	// Spec changes what the job is asked for; nil leaves it.
	Spec func(*crawl.JobSpec)
	// Engine changes the engine's configuration; nil leaves it.
	Engine func(*engine.Config)
}

// A World is one stack in memory. It lives in a testing/synctest bubble, whose
// clock it uses.
type World struct {
	*engine.Engine
	Ports
	Job crawl.Job

	// Fetched counts how often each path was asked for.
	Fetched map[string]int
	// Duplicate, if not nil, says of each delivery whether it comes twice.
	Duplicate func(d queue.Delivery) bool
	// Delivered are the names of the items of the job's feed, in its order,
	// and Output the items.
	Delivered []string
	Output    []crawl.Item
	// Revived counts the requests that the sweep sent again.
	Revived int
	// Deliveries counts how often the feed was written.
	Deliveries int

	t    *testing.T
	opts Options
	// fetcher, parser and keeper are the engine, or with Apart one for each.
	fetcher, parser, keeper *engine.Engine

	base    Ports // without what a test put round them
	running sync.WaitGroup
	busy    atomic.Int32 // how many invocations are running
	swept   time.Time
	mu      sync.Mutex // guards Fetched, Delivered and Deliveries while stages run
}

// visibility is how long a received message is hidden.
const visibility = time.Minute

// New makes a world.
func New(t *testing.T, o Options) *World {
	t.Helper()
	q := memory.NewQueue(time.Now, memory.Visibility(visibility))
	var rowOptions []memory.FrontierOption
	if o.StaleReads {
		rowOptions = append(rowOptions, memory.Stale())
	}
	w := &World{t: t, opts: o, Fetched: make(map[string]int), Ports: Ports{
		Queue: q, Rows: memory.NewFrontier(rowOptions...), Items: memory.NewItems(), Jobs: memory.NewJobs(time.Now),
		Blobs: memory.NewBlobs(), Jars: memory.NewJars(), Dead: memory.NewDead(),
	}}
	if o.Base != nil {
		w.Ports = *o.Base
	}
	w.base = w.Ports
	if o.Wrap != nil {
		w.Ports = o.Wrap(w.Ports)
	}
	w.Restart()
	return w
}

// Restart makes the engine anew over the same ports, as a new process would.
func (w *World) Restart() {
	w.Engine = w.newEngine()
	w.fetcher, w.parser, w.keeper = w.Engine, w.Engine, w.Engine
	if w.opts.Apart {
		w.fetcher, w.parser, w.keeper = w.newEngine(), w.newEngine(), w.newEngine()
	}
}

func (w *World) newEngine() *engine.Engine {
	var census queue.Census = w.Queue
	if w.opts.NoCensus {
		census = nil
	}
	inline := w.opts.InlineBody
	if inline == 0 {
		inline = 1 << 10
	}
	config := engine.Config{
		Scheduler: scheduler.New(scheduler.Ports{
			Rows: w.Rows, Items: w.Items, Jobs: w.Jobs, Queue: w.Queue, Blobs: w.Blobs, Jars: w.Jars, Census: census, Now: time.Now,
		}),
		Jobs: w.Jobs, Items: w.Items, Blobs: w.Blobs, Dead: w.Ports.Dead, Queue: w.Queue,
		Build: w.build, Deliver: w.deliver, Quiet: 20 * time.Minute, Still: time.Minute, MaxMarks: map[message.Kind]int{message.KindRequest: 3, message.KindPage: 3}, Margin: w.opts.Timeout / 5, InlineBody: inline,
		Now: time.Now, Observer: engine.Observer{Revived: func(_ crawl.JobUID, v scheduler.Revival) { w.Revived += v.Requests }},
		Log: slog.New(slog.NewTextHandler(testWriter{w.t}, &slog.HandlerOptions{Level: slog.LevelInfo})),
	}
	if w.opts.Engine != nil {
		w.opts.Engine(&config)
	}
	return engine.New(config)
}

// Start creates the job.
func (w *World) Start() {
	w.t.Helper()
	for range 10 { // whoever asks for a job asks again when it fails
		ctx := context.WithValue(w.t.Context(), invocationKey{}, new(invocation))
		if job, _, err := w.Create(ctx, w.Order("job")); err == nil {
			w.Job = job
			return
		}
		time.Sleep(visibility)
	}
	w.t.Fatal("the job could not be started")
}

// Order asks for the world's job under a name.
func (w *World) Order(name string) engine.Order {
	spec := crawl.JobSpec{Spider: "world", Settings: w.opts.Settings, Feeds: []crawl.Feed{{URI: "feed", Format: "jsonl"}}}
	if w.opts.Spec != nil {
		w.opts.Spec(&spec)
	}
	return engine.Order{Project: "test", Name: name, Spec: spec}
}

// Run starts the job and pumps until it has ended.
func (w *World) Run() crawl.Job {
	w.t.Helper()
	w.Start()
	return w.Finish()
}

// Limit is how much virtual time a crawl may take before the test fails.
const Limit = 48 * time.Hour

// Finish pumps until the job has ended.
func (w *World) Finish() crawl.Job {
	w.t.Helper()
	begin := time.Now()
	for time.Since(begin) < Limit {
		job, err := w.base.Jobs.Get(w.t.Context(), w.Job.UID)
		if err == nil && job.State.Ended() {
			w.running.Wait()
			w.Job = job
			return job
		}
		w.Pump()
	}
	w.t.Fatalf("the job has not ended after %s; its rows:\n%s", Limit, w.Dump())
	return crawl.Job{}
}

// Wait waits until no invocation is under way any more.
func (w *World) Wait() { w.running.Wait() }

// Base are the ports without what a test put round them.
func (w *World) Base() Ports { return w.base }

// Row reads the row of a page.
func (w *World) Row(path string) frontier.Row {
	w.t.Helper()
	unit, err := scheduler.NewIdentifier(crawl.UnitID{}).Unit(&crawl.Request{URL: Host + path})
	if err != nil {
		w.t.Fatal(err)
	}
	rows, err := w.base.Rows.Get(w.t.Context(), w.Job.UID, []crawl.UnitID{unit}, frontier.Strong)
	if err != nil {
		w.t.Fatal(err)
	}
	return rows[unit]
}

// StartQueued reports whether the job's start is still to be read.
func (w *World) StartQueued() bool {
	w.t.Helper()
	rows, err := w.base.Rows.Get(w.t.Context(), w.Job.UID, []crawl.UnitID{crawl.StartUnit}, frontier.Strong)
	if err != nil {
		w.t.Fatal(err)
	}
	return rows[crawl.StartUnit].State == frontier.Queued
}

// build makes the runtime of the world's spider.
func (w *World) build(_ crawl.Job, spec crawl.JobSpec) (*engine.Runtime, error) {
	s := spider.Spider{Name: "world", Parse: parse, StartURLs: w.starts()}
	if w.opts.Spider != nil {
		w.opts.Spider(&s)
	}
	registry, err := spider.NewRegistry(s)
	if err != nil {
		return nil, err
	}
	bound, err := registry.Get("world")
	if err != nil {
		return nil, err
	}
	own := make(map[string]any)
	for k, v := range spec.Settings {
		own[k] = v
	}
	set, err := settings.Resolve(settings.Layer{Name: "the job", Values: own})
	if err != nil {
		return nil, err
	}
	st := new(stats.Collector)
	rt := &engine.Runtime{
		Spec: spec, Settings: set, Spider: bound, Chain: spider.NewChain(bound, st, spidermw.Cookies(set)), Stats: st,
		Download: downloader.HandlerFunc(w.fetch), Scope: w.opts.Scope, Log: w.Log,
		Attempts: downloadermw.NewAttempts(set, st, w.Log),
	}
	if w.opts.Scope == nil {
		rt.Scope = func(*crawl.Request) error { return nil }
	}
	if w.opts.Runtime != nil {
		if err := w.opts.Runtime(rt); err != nil {
			return nil, err
		}
	}
	if rt.Pipeline, err = pipeline.NewChain(w.opts.Steps...); err != nil {
		return nil, err
	}
	listeners := append([]extension.Extension{extensions.CloseSpider(set, time.Now)}, w.opts.Extensions...)
	rt.Extensions, err = extension.NewChain(st, w.Log, listeners...)
	return rt, err
}

func (w *World) starts() []string {
	paths := w.opts.Start
	if paths == nil {
		paths = []string{"/"}
	}
	urls := make([]string, len(paths))
	for k, p := range paths {
		urls[k] = Host + p
	}
	return urls
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(line []byte) (int, error) {
	w.t.Log(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}

// Dump lists the job's rows, for a failing test.
func (w *World) Dump() string {
	var b strings.Builder
	for shard := range frontier.Shards {
		rows, err := w.base.Rows.Scan(w.t.Context(), w.Job.UID, shard, nil, 1000)
		if err != nil {
			return err.Error()
		}
		for _, r := range rows {
			fmt.Fprintf(&b, "%.8s %s %s items=%d %s\n", r.Unit, r.State, r.Why, r.Items, r.Req)
		}
	}
	return b.String()
}
