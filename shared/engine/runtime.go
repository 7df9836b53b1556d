package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/stats"
	"github.com/skitterhq/skitter/shared/weburl"
)

// A Runtime is what a process keeps for one job. It is safe for concurrent
// use, and nothing in it is shared with another job but what is safe to share.
type Runtime struct {
	Spec     crawl.JobSpec
	Settings settings.Settings
	Spider   *spider.Spider
	// Chain is the spider behind its middlewares.
	Chain *spider.Chain
	// Download is the chain of downloader middlewares down to the web.
	Download downloader.Handler
	// Reach refuses requests before they get a row by where they come from: the
	// request of the page that they were found on, or that was redirected; nil
	// for those of the start. Nil refuses none.
	Reach func(from, req *crawl.Request) error
	// Attempts decide on the further attempts that a spider asks for; nil has
	// none.
	Attempts Attempts
	// Scope refuses requests before they get a row.
	Scope func(*crawl.Request) error
	// Pipeline is what items pass.
	Pipeline pipeline.Chain
	// Extensions listen to what happens; nil for none.
	Extensions *extension.Chain
	Stats      *stats.Collector
	Log        *slog.Logger

	looks   looks
	opening sync.Mutex
	opened  bool
	// places has one for each request that may be under way
	// (CONCURRENT_REQUESTS); nil sets no limit.
	places  chan struct{}
	waiting atomic.Int32 // requests that wait for a place
}

// Attempts are the limits of trying a page again (downloadermw.Attempts).
type Attempts interface {
	// Left is how many more times a request may be tried.
	Left(req *crawl.Request) int
	// Again is the verdict on a wish for another attempt, nil if there is none
	// left.
	Again(req *crawl.Request, want *crawl.Retry) *crawl.Retry
}

// Room is for how many more requests it makes sense to be here: those that
// would wait for a place beyond as many again are better left in their queue,
// where another process can take them and a crash does not touch them. Where
// CONCURRENT_REQUESTS sets no limit it is any number.
func (r *Runtime) Room() int {
	if r.places == nil {
		return math.MaxInt
	}
	return cap(r.places) - len(r.places) + cap(r.places) - int(r.waiting.Load())
}

// Page makes a page of a response to a job's request, for the spider.
func (r *Runtime) Page(resp *crawl.Response, job crawl.Job) *spider.Page {
	page := spider.NewPage(resp, r.Spider, job, r.Spec.Args)
	page.Log = r.Log.With("url", weburl.Shown(resp.URL))
	page.LimitParse(r.Settings.ParseMaxsize)
	if r.Attempts != nil {
		page.RetriesLeft = r.Attempts.Left(resp.Request)
	}
	return page
}

// A Build makes a job's runtime.
type Build func(job crawl.Job, spec crawl.JobSpec) (*Runtime, error)

// A Deliver writes a feed of a closed job and returns how many items it holds.
type Deliver func(ctx context.Context, rt *Runtime, job crawl.Job, feed crawl.Feed, output iter.Seq2[crawl.Item, error]) (int, error)

// maxRuntimes is how many jobs a process keeps ready; another one pushes out
// whichever the map gives first, which is then built anew.
const maxRuntimes = 32

type runtimes struct {
	mu  sync.Mutex
	all map[crawl.JobUID]*Runtime
}

func newRuntimes() *runtimes { return &runtimes{all: make(map[crawl.JobUID]*Runtime)} }

func specKey(uid crawl.JobUID) string { return fmt.Sprintf("jobs/%s/spec.json", uid) }

// Runtime returns what this process keeps for a job, made when it is first
// seen. The job's specification never changes, so it is read once.
func (e *Engine) Runtime(ctx context.Context, job crawl.Job) (*Runtime, error) {
	if rt := e.runtimes.get(job.UID); rt != nil {
		return rt, nil
	}
	spec, err := e.readSpec(ctx, job.UID)
	if err != nil {
		return nil, err
	}
	var rt *Runtime
	if err := crawl.Guard(func() (err error) { rt, err = e.Build(job, spec); return err }); err != nil {
		return nil, &buildError{job.Name, err}
	}
	if n := rt.Settings.ConcurrentRequests; n > 0 {
		rt.places = make(chan struct{}, n)
	}
	return e.runtimes.keep(job.UID, rt), nil
}

// A buildError is what is wrong with a job for this build, such as a spider that
// it does not have.
type buildError struct {
	job string
	err error
}

func (e *buildError) Error() string { return fmt.Sprintf("set up job %s: %v", e.job, e.err) }
func (e *buildError) Unwrap() error { return e.err }

func (r *runtimes) get(uid crawl.JobUID) *Runtime {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[uid]
}

// keep keeps a runtime, unless another was kept meanwhile: that one is used.
func (r *runtimes) keep(uid crawl.JobUID, rt *Runtime) *Runtime {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.all[uid]; old != nil {
		return old
	}
	for uid := range r.all {
		if len(r.all) < maxRuntimes {
			break
		}
		delete(r.all, uid)
	}
	r.all[uid] = rt
	return rt
}

func (e *Engine) readSpec(ctx context.Context, uid crawl.JobUID) (crawl.JobSpec, error) {
	var spec crawl.JobSpec
	data, err := e.Blobs.Get(ctx, specKey(uid), 0, -1)
	if err != nil {
		return spec, fmt.Errorf("read the specification of job %s: %w", uid, err)
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		return spec, fmt.Errorf("read the specification of job %s: %w", uid, err)
	}
	return spec, nil
}

// openPipeline opens the job's pipeline in this process, until it is open.
func (v *view) openPipeline(ctx context.Context) error {
	v.opening.Lock()
	defer v.opening.Unlock()
	if v.opened {
		return nil
	}
	if err := crawl.Guard(func() error { return v.Pipeline.Open(ctx, v.job) }); err != nil {
		return err
	}
	v.opened = true
	return nil
}
