// Package machine runs the whole of Skitter on one machine: all four functions
// in one process, fed from package local's queues as Lambda feeds them from SQS
// in the cloud.
package machine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/aws"
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
	// inlineBody is the longest packed body in bytes that lies in its
	// message on one machine: SQLite takes it gladly, and it goes with its
	// message.
	inlineBody = 1 << 20
	// linger is how long a finished download waits for others.
	linger = 3 * time.Millisecond
	// maxMarks is at how many marks a page is failed unworked on one
	// machine: more than in the cloud, since a process that is killed for
	// other reasons holds many pages here, and each may be marked for it.
	// Requests are not marked at all: what waits for its server, perhaps for
	// minutes, is often caught by a kill, and runs nobody's code.
	maxMarks = 5
	// still is how long a job that is to end early must not have moved before
	// it is closed with what it has.
	still = time.Minute
	// sweepEvery is how often the sweep looks for what got lost.
	sweepEvery = time.Second
)

// A Machine is the whole of Skitter on one machine: all four functions in one
// process, over one SQLite file and a folder.
type Machine struct {
	*engine.Engine
	Store    *local.Store
	Registry *spider.Registry

	web *handlers.HTTPHandler
	log *slog.Logger
}

// Options say how a [Machine] is to be.
type Options struct {
	// Dir is where state lies, such as ".skitter".
	Dir     string
	Project project.Project
	// Layers are the settings below those of spiders and jobs: the project
	// file's.
	Layers   []settings.Layer
	Log      *slog.Logger
	Observer engine.Observer
	// ShowsProgress says that the program shows by itself how jobs come along.
	ShowsProgress bool
}

// Open opens the state of one machine and builds the engine over it.
func Open(o Options) (*Machine, error) {
	registry, err := o.Project.Registry()
	if err != nil {
		return nil, err
	}
	set, err := settings.Resolve(o.Layers...)
	if err != nil {
		return nil, err
	}
	log := assembly.AtLevel(o.Log, set.LogLevel)
	web, err := handlers.HTTP(handlers.Options{Logger: log})
	if err != nil {
		return nil, err
	}
	store, err := local.Open(o.Dir, local.Options{})
	if err != nil {
		return nil, err
	}
	m := &Machine{Store: store, Registry: registry, web: web, log: log}
	builder := assembly.NewBuilder(assembly.Parts{
		Project: o.Project, Registry: registry, Layers: o.Layers, Web: web,
		Slots: slots.New(store.SlotRows(), slots.Config{
			Slack: set.SlotSlack, Wait: set.SlotWait, Now: time.Now, Sleep: assembly.Sleep, Draw: rand.Float64,
		}),
		Proxies: downloadermw.NewProxies(*httpproxy.FromEnvironment(), time.Now),
		Robots:  downloadermw.NewRobots(store.Origins(), time.Now), Now: time.Now, Log: o.Log,
		Files: true, Signer: aws.NewSigner(time.Now), Blobs: store.Blobs(), ShowsProgress: o.ShowsProgress,
	})
	q := store.Queue()
	m.Engine = engine.New(engine.Config{
		Scheduler: scheduler.New(scheduler.Ports{
			Rows: store.Frontier(), Items: store.Items(), Jobs: store.Jobs(), Queue: q,
			Blobs: store.Blobs(), Jars: store.Jars(), Census: q, Now: time.Now,
		}),
		Jobs: store.Jobs(), Items: store.Items(), Blobs: store.Blobs(), Dead: store.Dead(), Queue: q,
		Build: builder.Build, Deliver: deliverFile,
		MaxMarks: map[message.Kind]int{message.KindPage: maxMarks}, InlineBody: inlineBody, Linger: linger, Still: still, Now: time.Now, Log: log, Observer: o.Observer,
	})
	return m, nil
}

// Close gives the state back.
func (m *Machine) Close() error {
	m.web.Close()
	return m.Store.Close()
}

// ErrInterrupted is returned by Run when it was told to stop before the job
// had ended; the job can be resumed.
var ErrInterrupted = errors.New("interrupted")

// Run drives one job until it has ended, and returns it as it is then. Nobody
// else may drive it at the time. When ctx is done it stops taking messages,
// waits for what is under way, and returns [ErrInterrupted].
func (m *Machine) Run(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	unlock, err := m.Store.LockJob(uid)
	if err != nil {
		return crawl.Job{}, err
	}
	defer unlock()
	job, err := m.Jobs.Get(ctx, uid)
	if err != nil {
		return crawl.Job{}, err
	}
	rt, err := m.Runtime(ctx, job)
	if err != nil {
		return crawl.Job{}, err
	}
	name := job.Name
	driving, fatal := context.WithCancelCause(ctx)
	stop := func() { fatal(nil) }
	var stages sync.WaitGroup
	d := &driver{queue: m.Store.Queue(), log: m.log, job: uid, fatal: fatal}
	for _, s := range m.stages(rt) {
		stages.Go(func() { d.drive(driving, s) })
	}
	job, err = m.await(driving, uid)
	stop()
	m.waitFor(&stages)
	if cause := context.Cause(driving); errors.Is(cause, local.ErrUnusable) {
		return crawl.Job{}, fmt.Errorf("%w; go on with crawl --resume %s when it is mended", cause, name)
	}
	if err != nil && ctx.Err() != nil {
		// The job may have ended while the last batches were worked.
		if job, gerr := m.Jobs.Get(context.WithoutCancel(ctx), uid); gerr == nil && job.State.Ended() {
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

func (m *Machine) waitFor(stages *sync.WaitGroup) {
	ended := make(chan struct{})
	go func() { stages.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(stagesEnd):
		m.log.Warn("a callback, step or download does not end, and is left alone", "after", stagesEnd)
	}
}

// manyFetchers is how many batches are fetched at one time where
// CONCURRENT_REQUESTS sets no limit.
const manyFetchers = 100

func (m *Machine) stages(rt *engine.Runtime) []stage {
	fetchers := rt.Settings.ConcurrentRequests
	if fetchers == 0 {
		fetchers = manyFetchers
	}
	return []stage{
		// A start may take long, and must not keep others from looking and
		// closing.
		{from: []queue.Name{queue.Control}, batch: 1, workers: 4, finish: true, handle: m.Control, bury: m.Bury},
		{from: queue.Requests(), batch: 10, workers: fetchers, room: rt.Room, handle: m.Fetch, bury: m.Bury},
		{from: []queue.Name{queue.Page}, batch: 10, workers: runtime.GOMAXPROCS(0), finish: true, handle: m.Parse, bury: m.Bury},
		{from: []queue.Name{queue.Item}, batch: 100, workers: 1, finish: true, handle: m.Pipeline, bury: m.Bury},
	}
}

// await sweeps now and then until the job has ended.
func (m *Machine) await(ctx context.Context, uid crawl.JobUID) (crawl.Job, error) {
	const look = 20 * time.Millisecond
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	swept := time.Now()
	for {
		job, err := m.Jobs.Get(ctx, uid)
		if err != nil || job.State.Ended() {
			return job, err
		}
		if time.Since(swept) >= sweepEvery {
			swept = time.Now()
			if err := m.Sweep(ctx, uid); err != nil && ctx.Err() == nil {
				m.log.Error("sweep failed", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return crawl.Job{}, ctx.Err()
		case <-ticker.C:
		}
	}
}
