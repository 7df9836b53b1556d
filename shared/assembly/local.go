package assembly

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/local"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/slots"
	"github.com/skitterhq/skitter/shared/spider"
)

const (
	// localInline is the longest packed body in bytes that lies in its
	// message on one machine: SQLite takes it gladly, and it goes with its
	// message.
	localInline = 1 << 20
	// localLinger is how long a finished download waits for others.
	localLinger = 3 * time.Millisecond
	// localMarks is at how many marks a page is failed unworked on one
	// machine: more than in the cloud, since a process that is killed for
	// other reasons holds many pages here, and each may be marked for it.
	// Requests are not marked at all: what waits for its server, perhaps for
	// minutes, is often caught by a kill, and runs nobody's code.
	localMarks = 5
	// localSweep is how often the sweep looks for what got lost.
	localSweep = time.Second
)

// Local is the whole of Skitter on one machine: all four functions in one
// process, over one SQLite file and a folder.
type Local struct {
	*engine.Engine
	Store    *local.Store
	Registry *spider.Registry

	builder *Builder
	log     *slog.Logger
}

// LocalOptions say how a [Local] is to be.
type LocalOptions struct {
	// Dir is where state lies, such as ".skitter".
	Dir     string
	Project project.Project
	// Layers are the settings below those of spiders and jobs: the project
	// file's.
	Layers   []settings.Layer
	Log      *slog.Logger
	Observer engine.Observer
}

// OpenLocal opens the state of one machine and builds the engine over it.
func OpenLocal(o LocalOptions) (*Local, error) {
	registry, err := spider.NewRegistry(o.Project.Spiders...)
	if err != nil {
		return nil, err
	}
	set, err := settings.Resolve(o.Layers...)
	if err != nil {
		return nil, err
	}
	log := atLevel(o.Log, set.LogLevel)
	web, err := handlers.HTTP(handlers.Options{Logger: log})
	if err != nil {
		return nil, err
	}
	store, err := local.Open(o.Dir, local.Options{})
	if err != nil {
		return nil, err
	}
	l := &Local{Store: store, Registry: registry, log: log}
	l.builder = &Builder{
		project: o.Project, registry: registry, layers: o.Layers, web: web,
		slots: slots.New(store.SlotRows(), slots.Config{
			Slack: set.SlotSlack, Wait: set.SlotWait, Now: time.Now, Sleep: sleep, Draw: rand.Float64,
		}),
		robots: downloadermw.NewRobots(store.Origins(), time.Now), decoders: new(downloadermw.Decoders), now: time.Now, log: o.Log,
	}
	q := store.Queue()
	l.Engine = engine.New(engine.Config{
		Scheduler: scheduler.New(scheduler.Ports{
			Rows: store.Frontier(), Items: store.Items(), Jobs: store.Jobs(), Queue: q,
			Blobs: store.Blobs(), Census: q, Now: time.Now,
		}),
		Jobs: store.Jobs(), Items: store.Items(), Blobs: store.Blobs(), Dead: store.Dead(), Queue: q,
		Build: l.builder.Build, Deliver: deliverFile,
		MaxMarks: map[message.Kind]int{message.KindPage: localMarks}, InlineBody: localInline, Linger: localLinger, Now: time.Now, Log: log, Observer: o.Observer,
	})
	return l, nil
}

// Close gives the state back.
func (l *Local) Close() error {
	l.builder.web.Close()
	return l.Store.Close()
}

// ErrInterrupted is returned by Run when it was told to stop before the job
// had ended; the job can be resumed.
var ErrInterrupted = errors.New("interrupted")

// Run drives one job until it has ended, and returns it as it is then. Nobody
// else may drive it at the time. When ctx is done it stops taking messages,
// waits for what is under way, and returns [ErrInterrupted].
func (l *Local) Run(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	unlock, err := l.Store.LockJob(uid)
	if err != nil {
		return crawl.Job{}, err
	}
	defer unlock()
	job, err := l.Jobs.Get(ctx, uid)
	if err != nil {
		return crawl.Job{}, err
	}
	rt, err := l.Runtime(ctx, job)
	if err != nil {
		return crawl.Job{}, err
	}
	name := job.Name
	driving, fatal := context.WithCancelCause(ctx)
	stop := func() { fatal(nil) }
	var stages sync.WaitGroup
	d := &driver{queue: l.Store.Queue(), log: l.log, job: uid, fatal: fatal}
	for _, s := range l.stages(rt) {
		stages.Go(func() { d.drive(driving, s) })
	}
	job, err = l.await(driving, uid)
	stop()
	l.waitFor(&stages)
	if cause := context.Cause(driving); errors.Is(cause, local.ErrUnusable) {
		return crawl.Job{}, fmt.Errorf("%w; go on with crawl --resume %s when it is mended", cause, name)
	}
	if err != nil && ctx.Err() != nil {
		// The job may have ended while the last batches were worked.
		if job, gerr := l.Jobs.Get(context.WithoutCancel(ctx), uid); gerr == nil && job.State.Ended() {
			return job, nil
		}
		return crawl.Job{}, ErrInterrupted
	}
	return job, err
}

// stagesEnd is how long the stages may take to end once a job has ended or is
// interrupted. A callback that never returns cannot be stopped, and must not
// keep the program.
const stagesEnd = 10 * time.Second

func (l *Local) waitFor(stages *sync.WaitGroup) {
	ended := make(chan struct{})
	go func() { stages.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(stagesEnd):
		l.log.Warn("a callback, step or download does not end, and is left alone", "after", stagesEnd)
	}
}

// manyFetchers is how many batches are fetched at one time where
// CONCURRENT_REQUESTS sets no limit.
const manyFetchers = 100

func (l *Local) stages(rt *engine.Runtime) []stage {
	fetchers := rt.Settings.ConcurrentRequests
	if fetchers == 0 {
		fetchers = manyFetchers
	}
	return []stage{
		// A start may take long, and must not keep others from looking and
		// closing.
		{from: []queue.Name{queue.Control}, batch: 1, workers: 4, finish: true, handle: l.Control, bury: l.Bury},
		{from: queue.Requests(), batch: 10, workers: fetchers, room: rt.Room, handle: l.Fetch, bury: l.Bury},
		{from: []queue.Name{queue.Page}, batch: 10, workers: runtime.GOMAXPROCS(0), finish: true, handle: l.Parse, bury: l.Bury},
		{from: []queue.Name{queue.Item}, batch: 100, workers: 1, finish: true, handle: l.Pipeline, bury: l.Bury},
	}
}

// await sweeps now and then until the job has ended.
func (l *Local) await(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	const look = 20 * time.Millisecond
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	swept := time.Now()
	for {
		job, err := l.Jobs.Get(ctx, uid)
		if err != nil || job.State.Ended() {
			return job, err
		}
		if time.Since(swept) >= localSweep {
			swept = time.Now()
			if err := l.Sweep(ctx, uid); err != nil && ctx.Err() == nil {
				l.log.Error("sweep failed", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return crawl.Job{}, ctx.Err()
		case <-ticker.C:
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
