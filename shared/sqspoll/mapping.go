package sqspoll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/skitterhq/skitter/shared/topology"
)

// A Client is what is used of the SDK's SQS client.
type Client interface {
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
}

// ErrThrottled is what an Invoke returns, wrapped or not, where there is no
// free environment and the function has not seen the event.
var ErrThrottled = errors.New("the function is throttled")

// The limits of a mapping. Source: AWS Lambda API Reference,
// CreateEventSourceMapping.
const (
	maxBatch  = 10_000
	maxWindow = 300 * time.Second
)

// maxWait is the longest that one poll waits for messages. Source: SQS API
// Reference, ReceiveMessage, WaitTimeSeconds.
const maxWait = 20 * time.Second

// A Mapping feeds one function from one queue. Its fields are not changed
// after Run was called.
type Mapping struct {
	// Client is an SQS client. At an endpoint that is no AWS address it needs
	// an HTTP client which gives each request's body away as a copy, as
	// package aws has it; otherwise answers are lost, and their messages stay
	// hidden for a while.
	Client Client
	// Queue is the queue's name, ARN or URL.
	Queue string
	// Batch is how many messages an invocation gets at most: 1 to 10,000;
	// more than 10 need a Window.
	Batch int
	// Window is for how long a batch is collected, counted from its first
	// message: 0 to 300 s.
	Window time.Duration
	// Concurrency is how many invocations are under way at most, at least 1
	// (Lambda's MaximumConcurrency is at least 2). More than the function has
	// environments let messages wait for one while their visibility time-out
	// runs.
	Concurrency int
	// Function is the function's name. Where it is not empty each invocation
	// has a trace header, see [Trace], that counts how often the function was
	// invoked in one chain of messages.
	Function string
	// Hops is how many invocations of the function a chain has at most. A
	// message beyond is not worked; it stays hidden, and goes to the
	// dead-letter queue once it was received too often, where Lambda puts it
	// at once. Lambda has about 16 where a function's RecursiveLoop is
	// Terminate; 0 sets no limit, as Allow does. Source: AWS Lambda Developer
	// Guide, "Use Lambda recursive loop detection to prevent infinite loops".
	Hops int
	// Wait is for how long one poll waits for messages, up to 20 s, which it
	// is if it is 0, and so for how long Run may go on when it is told to
	// stop. SQS takes whole seconds: with less than one, short polls follow
	// one another after Wait or a quarter of a second, whichever is shorter.
	Wait time.Duration
	// Invoke calls the function with an event and returns its response. Its
	// context is not cancelled when Run is told to stop.
	Invoke func(ctx context.Context, event []byte) (response []byte, err error)
	// Log takes failures of polls, invocations and deletes. Nil discards.
	Log *slog.Logger
	// Now is the clock, and Sleep waits or returns when ctx is done; those of
	// package time if they are nil.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration)

	counts counts
}

// Of returns the mapping of one source of a stack's function. Client and
// Invoke are left to set.
func Of(stack topology.Stack, source topology.Source) *Mapping {
	return &Mapping{
		Queue:       stack.QueueName(source.Queue),
		Batch:       source.Batch,
		Window:      source.Window,
		Concurrency: source.Concurrency,
	}
}

// Stats counts what a mapping has done.
type Stats struct {
	// Polls is how many times messages were asked for.
	Polls int64
	// Messages is how many were received; Again is how many of them not for
	// the first time.
	Messages, Again int64
	// Invocations is how many batches the function was given, and Failures how
	// many of them failed as a whole.
	Invocations, Failures int64
	// Deleted is how many messages were deleted.
	Deleted int64
	// Stopped is how many messages were not worked for Hops, each delivery
	// counted.
	Stopped int64
	// UnderWay is how many invocations there are at this moment.
	UnderWay int64
}

type counts struct {
	polls, messages, again, invocations, failures, deleted, stopped, underWay atomic.Int64
}

// Stats returns what was counted up to then. It is safe to call at any time.
func (m *Mapping) Stats() Stats {
	c := &m.counts
	return Stats{
		Polls:       c.polls.Load(),
		Messages:    c.messages.Load(),
		Again:       c.again.Load(),
		Invocations: c.invocations.Load(),
		Failures:    c.failures.Load(),
		Deleted:     c.deleted.Load(),
		Stopped:     c.stopped.Load(),
		UnderWay:    c.underWay.Load(),
	}
}

// Run polls until ctx is done. Then it waits until the poll and the invocations
// under way are over, invokes the function with what that poll still gave,
// applies the results, and returns nil; no message is left hidden that nobody
// works on. An error is one of the mapping's fields; an endpoint that does not
// answer is tried again for as long as Run lasts.
func (m *Mapping) Run(ctx context.Context) error {
	r, err := m.newRun()
	if err != nil {
		return fmt.Errorf("poll %s: %w", m.Queue, err)
	}
	if !r.find(ctx) {
		return nil
	}
	slots := make(chan struct{}, m.Concurrency)
	var underWay sync.WaitGroup
	// What was received is invoked, even if it is time to stop.
	for ctx.Err() == nil || len(r.rest) > 0 {
		slots <- struct{}{}
		b := r.collect(ctx)
		if len(b.records) == 0 {
			<-slots
			continue
		}
		underWay.Go(func() {
			defer func() { <-slots }()
			r.serve(ctx, b)
		})
	}
	underWay.Wait()
	return nil
}

// A run is a mapping at work.
type run struct {
	*Mapping
	counts *counts
	log    *slog.Logger
	queue  queue
	// rest are messages that did not fit into the batch before.
	rest []record
	// failed is how many polls have failed, one after the other, and since
	// when.
	failed int
	since  time.Time
}

// newRun checks the mapping and fills in what was left out.
func (m *Mapping) newRun() (*run, error) {
	switch {
	case m.Client == nil || m.Invoke == nil || m.Queue == "":
		return nil, errors.New("a mapping needs Client, Queue and Invoke")
	case m.Batch < 1 || m.Batch > maxBatch:
		return nil, fmt.Errorf("a batch of %d messages is not within 1 to %d", m.Batch, maxBatch)
	case m.Window < 0 || m.Window > maxWindow:
		return nil, fmt.Errorf("a window of %v is not within 0 to %v", m.Window, maxWindow)
	case m.Batch > topology.MaxBatch && m.Window == 0:
		return nil, fmt.Errorf("a batch of %d messages needs a window", m.Batch)
	case m.Concurrency < 1:
		return nil, fmt.Errorf("%d invocations at a time are below 1", m.Concurrency)
	case m.Hops < 0 || m.Hops > 0 && m.Function == "":
		return nil, fmt.Errorf("%d hops of function %q: they are 0 or more, and of a function with a name", m.Hops, m.Function)
	case m.Wait < 0 || m.Wait > maxWait:
		return nil, fmt.Errorf("a wait of %v is not within 0 to %v", m.Wait, maxWait)
	}
	filled := &Mapping{
		Client: m.Client, Queue: m.Queue, Batch: m.Batch, Window: m.Window, Concurrency: m.Concurrency,
		Function: m.Function, Hops: m.Hops, Wait: cmp.Or(m.Wait, maxWait), Invoke: m.Invoke, Now: m.Now, Sleep: m.Sleep,
	}
	if filled.Now == nil {
		filled.Now = time.Now
	}
	if filled.Sleep == nil {
		filled.Sleep = sleep
	}
	log := m.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &run{Mapping: filled, counts: &m.counts, log: log.With("queue", m.Queue)}, nil
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Pauses between two tries of what fails: twice as long each time, between
// these two, so that an endpoint which is down is not asked all the time, and
// one which is up again is soon noticed.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// pause is how long to wait after so many failures, at least one.
func pause(failures int) time.Duration {
	return min(shortestPause<<min(failures-1, 16), longestPause)
}
