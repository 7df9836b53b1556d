package runtimeapi

import (
	"errors"
	"slices"
	"time"
)

// take gives the environment an event. It must be idle; the caller holds the
// lock.
func (e *environment) take(inv *invocation) {
	p := e.pool
	p.stats.Invocations++
	e.current = inv
	inv.deadline = time.Now().Add(p.config.Timeout)
	inv.timer = time.AfterFunc(p.config.Timeout, func() { e.timeOut(inv) })
	if p.config.Freeze && e.process != nil {
		thaw(e.process)
	}
	e.events <- inv
}

// timeOut ends an environment that has not come back for its next event, and
// the invocation if it has no answer.
func (e *environment) timeOut(inv *invocation) {
	p := e.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.current != inv {
		return
	}
	if !inv.answered {
		p.stats.Timeouts++
	}
	e.current = nil
	inv.end(&TimeoutError{p.config.Timeout})
	p.config.Log.Warn("environment killed at its time-out", "environment", e.number, "request", inv.id)
	e.kill()
}

// working reports whether the environment has an event and has not answered.
func (e *environment) working() bool {
	return e.current != nil && e.current.handed && !e.current.answered && !e.killed
}

// fail ends the invocation of an environment that has ended; what it had not
// been sent goes to another one. The caller holds the lock.
func (e *environment) fail(state string) {
	p, inv := e.pool, e.current
	if inv == nil {
		return
	}
	inv.timer.Stop()
	e.current = nil
	switch {
	case p.closed:
		inv.end(ErrClosed)
	case !inv.handed:
		p.stats.Invocations--
		p.waiting = slices.Insert(p.waiting, 0, inv)
	default:
		if !inv.answered {
			p.stats.Exits++
		}
		inv.end(&ExitError{State: state, Line: e.stderr.said()})
	}
}

// poll notes that the process asks for an event, with which the one before is
// done with.
func (e *environment) poll() error {
	<-e.running // it may ask before exec.Cmd.Start has returned
	p := e.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.killed || p.closed:
		return errors.New("the environment is shut down")
	case e.polling:
		return errors.New("an event is asked for already")
	case e.current != nil && !e.current.answered:
		return errors.New("the event before has no answer")
	}
	if !e.polled {
		e.polled = true
		p.started(e)
	}
	e.polling = true
	if p.config.Freeze && len(p.waiting) == 0 {
		freeze(e.process)
	}
	if inv := e.current; inv != nil {
		inv.timer.Stop()
		e.current = nil
		inv.end(nil)
	}
	p.idle = append(p.idle, e)
	p.dispatch()
	return nil
}

// handed notes that the process gets its event.
func (e *environment) handed(inv *invocation) {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	e.polling = false
	inv.handed = true
}

// rest keeps the environment from being given an event. The caller holds the
// lock.
func (e *environment) rest() {
	e.pool.idle = slices.DeleteFunc(e.pool.idle, func(i *environment) bool { return i == e })
}

// breakOff ends an environment that has stopped asking for an event: no
// runtime does that and lives.
func (e *environment) breakOff() {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	e.rest()
	e.kill()
}

// errNoSuchRequest and errAnswered are what an answer is refused with.
var (
	errNoSuchRequest = errors.New("the environment has no such request")
	errAnswered      = errors.New("the request has an answer")
)

// answer ends the invocation that the process works on.
func (e *environment) answer(id string, response []byte, err error) error {
	p := e.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	inv := e.current
	switch {
	case inv == nil || inv.id != id:
		return errNoSuchRequest
	case inv.answered || e.killed:
		return errAnswered
	}
	if err != nil {
		p.stats.Errors++
	}
	inv.answered, inv.answer = true, answer{response, err}
	return nil
}
