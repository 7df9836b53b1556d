package runtimeapi

import (
	"cmp"
	"context"
	"time"
)

// An invocation is one event on its way.
type invocation struct {
	id    string
	event []byte
	trace string
	// result takes the answer; it has room for it, so that nobody waits.
	result chan answer

	// What follows is set when an environment gets the event.
	deadline time.Time
	timer    *time.Timer
	handed   bool // the process has asked for it, and is being sent it
	answered bool
	answer   answer
}

type answer struct {
	response []byte
	err      error
}

func newInvocation(event []byte, trace string) *invocation {
	return &invocation{id: requestID(), event: event, trace: cmp.Or(trace, traceID()), result: make(chan answer, 1)}
}

// end gives the caller the answer, which is this one if there is none. It is
// called once, under the pool's lock.
func (i *invocation) end(err error) {
	if !i.answered {
		i.answered, i.answer = true, answer{err: err}
	}
	i.result <- i.answer
}

type traceKey struct{}

// WithTrace gives the invocation that a context is for a trace header, which
// the process gets as its own and hands on with what it sends. Without one, or
// with an empty one, a new trace begins.
func WithTrace(ctx context.Context, header string) context.Context {
	return context.WithValue(ctx, traceKey{}, header)
}

func traceOf(ctx context.Context) string {
	header, _ := ctx.Value(traceKey{}).(string)
	return header
}
