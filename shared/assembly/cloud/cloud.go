// Package cloud builds the engine over package aws, for one of the four
// functions. In the cloud each of them has a process of its own; skitter up can
// have them all in one.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/engine"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/scheduler"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/slots"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/topology"
)

// maxMarks is at how many marks a request or page is failed unworked.
const maxMarks = 3

// A Cloud is the engine as one function of a stack has it. It is made once an
// environment; nothing in it belongs to a job but what the engine keeps by the
// job's UID.
type Cloud struct {
	*engine.Engine
	Project  project.Project
	Registry *spider.Registry
	Stack    topology.Stack
	Store    *aws.Store

	web *handlers.HTTPHandler
	own settings.Settings // of the project, which jobs change
}

// Options say how a [Cloud] is to be.
type Options struct {
	Store *aws.Store
	Stack topology.Stack
	// Function is the stage that this process is for: its times hold.
	Function string
	Project  project.Project
	// Layers are the settings above those of the cloud and below those of
	// spiders and jobs: the project file's.
	Layers []settings.Layer
	// Guard refuses addresses that requests may not go to, ProxyGuard those
	// that no proxy may have.
	Guard, ProxyGuard func(netip.AddrPort) error
	Log               *slog.Logger
	Observer          engine.Observer
}

// New builds the engine. It makes no call to AWS.
func New(o Options) (*Cloud, error) {
	registry, err := o.Project.Registry()
	if err != nil {
		return nil, err
	}
	layers := append([]settings.Layer{settings.Cloud()}, o.Layers...)
	set, err := settings.Resolve(layers...)
	if err != nil {
		return nil, err
	}
	log := assembly.AtLevel(o.Log, set.LogLevel)
	web, err := handlers.HTTP(handlers.Options{Logger: log, Guard: o.Guard, ProxyGuard: o.ProxyGuard})
	if err != nil {
		return nil, err
	}
	c := &Cloud{Project: o.Project, Registry: registry, Stack: o.Stack, Store: o.Store, web: web, own: set}
	builder := assembly.NewBuilder(assembly.Parts{
		Project: o.Project, Registry: registry, Layers: layers, Limit: c.limit, Web: web,
		Slots: slots.New(o.Store.SlotRows(), slots.Config{
			Slack: set.SlotSlack, Wait: set.SlotWait, Gather: o.Stack.Times.Gather, Now: time.Now, Sleep: assembly.Sleep, Draw: rand.Float64,
		}),
		Proxies: downloadermw.NewProxies(*httpproxy.FromEnvironment(), time.Now),
		Robots:  downloadermw.NewRobots(o.Store.Origins(), time.Now), Blobs: o.Store.Blobs(), Signer: aws.NewSigner(time.Now), Now: time.Now, Log: o.Log,
	})
	c.Engine = engine.New(engine.Config{
		Scheduler: scheduler.New(scheduler.Ports{
			Rows: o.Store.Frontier(), Items: o.Store.Items(), Jobs: o.Store.Jobs(), Queue: o.Store.Queue(),
			Blobs: o.Store.Blobs(), Jars: o.Store.Jars(), Now: time.Now,
		}),
		Jobs: o.Store.Jobs(), Items: o.Store.Items(), Blobs: o.Store.Blobs(), Dead: o.Store.Dead(), Queue: o.Store.Queue(),
		Build:   func(job crawl.Job, spec crawl.JobSpec) (*engine.Runtime, error) { return c.build(builder, job, spec) },
		Deliver: c.deliver, NoAppend: true,
		MaxMarks: map[message.Kind]int{message.KindRequest: maxMarks, message.KindPage: maxMarks},
		Quiet:    o.Stack.Times.Quiet, Still: o.Stack.Times.Still, Linger: o.Stack.Times.Linger, Looks: o.Stack.Times.Looks,
		Margin: o.Stack.Function(o.Function).Margin, InlineBody: topology.InlineBody,
		Now: time.Now, Log: log, Observer: o.Observer,
	})
	return c, nil
}

// Close closes the connections that are not in use.
func (c *Cloud) Close() { c.web.Close() }

// build makes a job's runtime, and gives a job that names no feed the stack's
// own.
func (c *Cloud) build(b *assembly.Builder, job crawl.Job, spec crawl.JobSpec) (*engine.Runtime, error) {
	rt, err := b.Build(job, spec)
	if err == nil && len(rt.Spec.Feeds) == 0 {
		rt.Spec.Feeds = []crawl.Feed{c.ownFeed(job)}
	}
	return rt, err
}

// limit holds a job's settings within what the stack can bear. A download that
// took longer than an invocation would be begun again for ever, instead of
// ending as a time-out.
func (c *Cloud) limit(s *settings.Settings) error {
	if limit := c.Stack.Times.Download; s.DownloadTimeout > limit {
		s.DownloadTimeout = limit
	}
	if days := int(c.Stack.Times.LongestJob / (24 * time.Hour)); s.JobMaxDays > days {
		return fmt.Errorf("setting JOB_MAX_DAYS: %d is too long: this stack keeps what a job needs for %d days", s.JobMaxDays, days)
	}
	// Whoever may start a job may not read for that what the functions' role can.
	if s.AWSSignRequests && (!c.own.AWSSignRequests || s.AWSEndpointURL != c.own.AWSEndpointURL) {
		return errors.New("setting AWS_SIGN_REQUESTS: on a stack the project file alone says whether and where requests are signed, since they are with the functions' own role")
	}
	return nil
}

// Check reports what is wrong with what a job is asked for, before anything is
// written for it.
func (c *Cloud) Check(spec crawl.JobSpec) error {
	return crawl.Guard(func() error {
		_, err := c.Build(crawl.Job{Project: c.Project.Name, Spider: spec.Spider}, spec)
		return err
	})
}

// Create is [engine.Engine.Create] for what a stack can do: whoever asks, be it
// an event, a schedule or a person, is told what it cannot.
func (c *Cloud) Create(ctx context.Context, o engine.Order) (crawl.Job, bool, error) {
	if err := c.checkOrder(o); err != nil {
		return crawl.Job{}, false, err
	}
	return c.Engine.Create(ctx, o)
}
