package casetest

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine/worldtest"
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/message"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/sqspoll"
	"github.com/skitterhq/skitter/shared/topology"
)

const jobA = crawl.JobUID("aaaaaaaaaaaaaaaaaaaaaaaa")

// A stack is AWS in memory with everything created in it.
type stack struct {
	topology.Stack
	backend *awstest.Backend
	store   *aws.Store
}

// newStack makes the stack as it is deployed, save what changes are made.
func newStack(t *testing.T, changes ...func(*topology.Stack)) *stack {
	t.Helper()
	return newStackAt(t, time.Now, changes...)
}

func newStackAt(t *testing.T, now func() time.Time, changes ...func(*topology.Stack)) *stack {
	t.Helper()
	s := &stack{Stack: topology.Default("cases"), backend: awstest.New(now)}
	for _, change := range changes {
		change(&s.Stack)
	}
	if err := provision.Create(t.Context(), s.backend.Config(), s.Stack); err != nil {
		t.Fatal(err)
	}
	s.store = aws.New(aws.Config{AWS: s.backend.Config(), Stack: s.Stack, Now: now})
	return s
}

// quick divides the times of a stack, so that a case which waits for
// visibility time-outs polls less often in between.
func quick(s *topology.Stack) { *s = s.Scaled(60) }

func (s *stack) client() *sqs.Client { return sqs.NewFromConfig(aws.ForClient(s.backend.Config())) }

func (s *stack) send(t *testing.T, to queue.Name, bodies ...[]byte) {
	t.Helper()
	var msgs []queue.Message
	for _, body := range bodies {
		msgs = append(msgs, queue.Message{Job: jobA, Body: body})
	}
	if err := s.store.Queue().Send(t.Context(), to, msgs); err != nil {
		t.Fatal(err)
	}
}

// receive takes all messages that are due, and deletes them.
func (s *stack) receive(t *testing.T, from queue.Name) []queue.Delivery {
	t.Helper()
	var all []queue.Delivery
	for {
		some, err := s.store.Queue().Receive(t.Context(), from, "", topology.MaxBatch)
		if err != nil {
			t.Fatal(err)
		}
		if len(some) == 0 {
			return all
		}
		for _, d := range some {
			if err := s.store.Queue().Delete(t.Context(), from, []string{d.Receipt}); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, some...)
	}
}

// through sends one message and returns what arrives.
func (s *stack) through(t *testing.T, body []byte) []byte {
	t.Helper()
	s.send(t, queue.Page, body)
	got := s.receive(t, queue.Page)
	if len(got) != 1 {
		t.Fatalf("%d messages arrived, want one", len(got))
	}
	return got[0].Body
}

// ports are the adapters, for a world that lies on them.
func (s *stack) ports() *worldtest.Ports {
	return &worldtest.Ports{
		Queue: uncounted{Queue: s.store.Queue()}, Rows: s.store.Frontier(), Items: s.store.Items(),
		Jobs: s.store.Jobs(), Blobs: s.store.Blobs(), Jars: s.store.Jars(), Dead: s.store.Dead(),
	}
}

// uncounted is a queue of SQS where a world has one that rings and counts. No
// world calls what is missing while it has NoCensus.
type uncounted struct {
	*aws.Queue
	queue.Bell
	queue.Census
}

// world makes a crawler of the stack: the engine over it, and a site.
func (s *stack) world(t *testing.T, o worldtest.Options) *worldtest.World {
	t.Helper()
	o.Base, o.NoCensus = s.ports(), true
	return worldtest.New(t, o)
}

// host is a world's engine behind Lambda, as one function.
func (s *stack) host(w *worldtest.World, function string) *lambdahost.Host {
	c := lambdahost.Config{
		Stack: s.Stack, Function: function, Open: s.store.Queue().Open, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	switch function {
	case topology.Fetch:
		c.Stage = w.Fetch
	case topology.Parse:
		c.Stage = w.Parse
	case topology.Pipeline:
		c.Stage = w.Pipeline
	default:
		c.Stage, c.Control = w.Control, &lambdahost.Control{DeadLetters: w.DeadLetters}
	}
	return lambdahost.New(c)
}

// An invocation is one that was made: what went in and what came out.
type invocation struct {
	function string
	records  []record
	response []byte
	err      error
}

// A record is as much of a record of Lambda's event as the cases look at.
type record struct {
	MessageID string `json:"messageId"`
	Body      string
}

// unit is the unit that a record's message belongs to.
func (r record) unit(t *testing.T) crawl.UnitID {
	t.Helper()
	h, _, err := message.ReadHeader([]byte(r.Body))
	if h.Unit.IsZero() {
		t.Fatalf("message of no unit: %v", err)
	}
	return h.Unit
}

// failed are the IDs that the response says failed.
func (i invocation) failed(t *testing.T) []string {
	t.Helper()
	var said struct {
		BatchItemFailures []struct{ ItemIdentifier string }
	}
	if err := json.Unmarshal(i.response, &said); err != nil {
		t.Fatalf("response %s: %v", i.response, err)
	}
	var ids []string
	for _, f := range said.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

// lambdas polls queues as Lambda does, and notes every invocation.
type lambdas struct {
	s       *stack
	invoked func(invocation) // may be nil
	mu      sync.Mutex
	all     []invocation
	running sync.WaitGroup
}

// poll begins to feed a function from one of its queues.
func (l *lambdas) poll(ctx context.Context, t *testing.T, function string, source topology.Source, invoke func(context.Context, []byte) ([]byte, error)) *sqspoll.Mapping {
	m := sqspoll.Of(l.s.Stack, source)
	m.Client = l.s.client()
	m.Invoke = func(ctx context.Context, event []byte) ([]byte, error) {
		var ev struct{ Records []record }
		if err := json.Unmarshal(event, &ev); err != nil {
			return nil, err
		}
		response, err := invoke(ctx, event)
		inv := invocation{function, ev.Records, response, err}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, inv)
		if l.invoked != nil {
			l.invoked(inv)
		}
		return response, err
	}
	l.running.Go(func() {
		if err := m.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return m
}

// invocations are those up to now.
func (l *lambdas) invocations() []invocation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]invocation(nil), l.all...)
}

// crawl runs all four functions over a world whose job was started, in its
// virtual time, until the job has ended.
func (l *lambdas) crawl(t *testing.T, w *worldtest.World) crawl.Job {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel(); l.running.Wait() }()
	for _, f := range l.s.Functions {
		host := l.s.host(w, f.Name)
		for _, source := range f.Sources {
			l.poll(ctx, t, f.Name, source, host.Invoke)
		}
	}
	for range 600 {
		time.Sleep(l.s.Times.Sweep)
		if err := w.Sweep(ctx, ""); err != nil {
			t.Logf("sweep: %v", err)
		}
		if job, err := w.Base().Jobs.Get(ctx, w.Job.UID); err == nil && job.State.Ended() {
			return job
		}
	}
	t.Fatalf("the job has not ended; its rows:\n%s", w.Dump())
	return crawl.Job{}
}
