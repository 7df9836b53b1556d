package runtimeapi

import "time"

// An invocation is one event on its way.
type invocation struct {
	id    string
	event []byte
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

func newInvocation(event []byte) *invocation {
	return &invocation{id: requestID(), event: event, result: make(chan answer, 1)}
}

// end gives the caller the answer, which is this one if there is none. It is
// called once, under the pool's lock.
func (i *invocation) end(err error) {
	if !i.answered {
		i.answered, i.answer = true, answer{err: err}
	}
	i.result <- i.answer
}
