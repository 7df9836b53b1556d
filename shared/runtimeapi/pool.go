package runtimeapi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// MaxPayload is the longest event in bytes: 6 MB. Source: AWS Lambda Developer
// Guide, "Lambda quotas", invocation payload, synchronous.
const MaxPayload = 6 << 20

// maxResponse is the longest response in bytes: 100 more than the longest
// event. Source: aws-lambda-runtime-interface-emulator, MaxPayloadSize.
const maxResponse = MaxPayload + 100

// How long to wait after a start that failed before the next one: twice as
// long each time, between these two. The shortest lets a mistake show quickly,
// the longest keeps a broken binary from taking the machine's time.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 10 * time.Second
)

// A Pool is one function with its environments. It is safe for concurrent use.
type Pool struct {
	config  Config
	starter starter

	mu       sync.Mutex
	closed   bool
	number   int // of the environment that was started last
	live     map[*environment]struct{}
	starting int            // those of live that have not asked for an event
	idle     []*environment // those that wait for an event, used last at the end
	waiting  []*invocation  // those that have no environment, first come at the front

	failures int       // starts that failed, one after the other
	pause    time.Time // no start before then
	stats    Stats
	ended    sync.WaitGroup // one for each environment

	closing sync.Once
}

// Stats counts what a pool has done since it was made.
type Stats struct {
	// ColdStarts is how many processes were started.
	ColdStarts int
	// InitErrors is how many of those failed before they asked for an event.
	InitErrors int
	// Invocations is how many events were handed over.
	Invocations int
	// Errors is how many invocations ended with a [FunctionError].
	Errors int
	// Timeouts is how many ended with a [TimeoutError].
	Timeouts int
	// Exits is how many ended with an [ExitError], those by Kill among them.
	Exits int
	// Kills is how many environments [Pool.Kill] has ended.
	Kills int
	// FirstPoll is how long each environment took from the start of its
	// process until it asked for an event, in the order in which they did.
	FirstPoll []time.Duration
}

// New returns the pool of a function. It starts no process. The pool must be
// closed.
func New(c Config) (*Pool, error) {
	c, err := c.complete()
	if err != nil {
		return nil, fmt.Errorf("make a pool: %w", err)
	}
	return &Pool{config: c, starter: newStarter(), live: map[*environment]struct{}{}}, nil
}

// Invoke gives the function an event and returns its response. The event must
// not be changed afterwards. It waits for an environment as long as ctx allows.
// As at Lambda, the invocation is over when the environment has answered and
// asks for the next event, so who invokes again finds it idle. When ctx is done
// Invoke returns at once, and an invocation that is under way goes on.
//
// The error is, wrapped, one of [FunctionError], [TimeoutError], [ExitError],
// [InitError] (pointers all), [ErrTooLarge], [ErrClosed] or that of ctx. An
// InitError is returned to all who wait when a start fails and no environment
// lives.
func (p *Pool) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	response, err := p.invoke(ctx, event)
	if err != nil {
		return nil, fmt.Errorf("invoke %s: %w", p.config.Name, err)
	}
	return response, nil
}

func (p *Pool) invoke(ctx context.Context, event []byte) ([]byte, error) {
	if len(event) > MaxPayload {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(event))
	}
	inv := newInvocation(event, traceOf(ctx))
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	p.waiting = append(p.waiting, inv)
	p.dispatch()
	p.mu.Unlock()

	select {
	case a := <-inv.result:
		return a.response, a.err
	case <-ctx.Done():
		p.mu.Lock()
		p.waiting = slices.DeleteFunc(p.waiting, func(w *invocation) bool { return w == inv })
		p.mu.Unlock()
		return nil, ctx.Err()
	}
}

// dispatch gives what waits to environments that are idle, and starts others
// as far as that is allowed. The caller holds the lock.
func (p *Pool) dispatch() {
	for len(p.waiting) > 0 && len(p.idle) > 0 {
		inv, e := p.waiting[0], p.idle[len(p.idle)-1]
		p.waiting = p.waiting[1:]
		p.idle = p.idle[:len(p.idle)-1]
		e.take(inv)
	}
	for p.starting < len(p.waiting) && p.mayStart() {
		p.number++
		e := newEnvironment(p, p.number)
		p.live[e] = struct{}{}
		p.starting++
		p.ended.Add(1)
		go e.run()
	}
}

// mayStart reports whether another process may be started: after one that
// failed, one at a time.
func (p *Pool) mayStart() bool {
	if p.closed || len(p.live) >= p.config.Max {
		return false
	}
	return p.failures == 0 || p.starting == 0 && !time.Now().Before(p.pause)
}

// started notes that an environment has asked for its first event. The caller
// holds the lock.
func (p *Pool) started(e *environment) {
	p.starting--
	p.failures = 0
	took := time.Since(e.began)
	p.stats.FirstPoll = append(p.stats.FirstPoll, took)
	p.config.Log.Debug("environment started", "environment", e.number, "took", took)
}

// startFailed puts the next start off, and tells those who wait if there is
// nobody left to serve them. The caller holds the lock.
func (p *Pool) startFailed(err *InitError) {
	p.stats.InitErrors++
	p.config.Log.Warn("environment not started", "err", err)
	// Those that were started together fail together, and count as one.
	if now := time.Now(); !now.Before(p.pause) {
		pause := min(shortestPause<<min(p.failures, 16), longestPause)
		p.failures++
		p.pause = now.Add(pause)
		time.AfterFunc(pause, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.dispatch()
		})
	}
	if len(p.live) == 0 {
		p.refuse(err)
	}
}

// refuse ends all that waits. The caller holds the lock.
func (p *Pool) refuse(err error) {
	for _, inv := range p.waiting {
		inv.end(err)
	}
	p.waiting = nil
}

// Kill kills a random environment that is working on an event, as a crash of
// its machine would, and reports whether there was one. The invocation ends
// with an [ExitError].
func (p *Pool) Kill() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var busy []*environment
	for e := range p.live {
		if e.working() {
			busy = append(busy, e)
		}
	}
	if len(busy) == 0 {
		return false
	}
	p.stats.Kills++
	busy[rand.IntN(len(busy))].kill()
	return true
}

// Stats returns what was counted up to then.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.FirstPoll = slices.Clone(s.FirstPoll)
	return s
}

// Live is how many environments there are.
func (p *Pool) Live() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.live)
}

// grace is for how long processes that were asked to end may go on. Source:
// AWS Lambda Developer Guide, "Understanding the Lambda execution environment
// lifecycle", Shutdown phase, gives 2 s.
const grace = 2 * time.Second

// Close ends all environments and returns when no process is left: they get
// SIGTERM, and after 2 s SIGKILL. What is under way or waits ends with
// [ErrClosed].
func (p *Pool) Close() {
	p.closing.Do(func() {
		p.mu.Lock()
		p.closed = true
		p.refuse(ErrClosed)
		p.each((*environment).terminate)
		p.mu.Unlock()

		late := time.AfterFunc(grace, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.each((*environment).kill)
		})
		p.ended.Wait()
		late.Stop()
		p.starter.close()
	})
}

func (p *Pool) each(do func(*environment)) {
	for e := range p.live {
		do(e)
	}
}
