package runtimeapi

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// An environment is one process, with a Runtime API of its own.
type environment struct {
	pool   *Pool
	number int
	// events hands a poll its event; it has room for one, so that giving an
	// idle environment an event never blocks.
	events chan *invocation
	// running is closed when process is set.
	running chan struct{}
	// gone is closed when the process has ended.
	gone   chan struct{}
	began  time.Time // when the process was started
	stdout *lines
	stderr *lines

	// What follows is guarded by the pool's lock.
	process *os.Process // nil before the start and after the end
	polled  bool        // it has asked for an event
	polling bool        // it is asking for one
	current *invocation // what it works on, until it asks for the next event
	killed  bool
	posted  *InitError // what it said of its start
	late    bool       // its start took too long
}

func newEnvironment(p *Pool, number int) *environment {
	e := &environment{
		pool:    p,
		number:  number,
		events:  make(chan *invocation, 1),
		running: make(chan struct{}),
		gone:    make(chan struct{}),
	}
	print := func(line []byte) {
		_, _ = fmt.Fprintf(p.config.Output, "%s[%d] %s\n", p.config.Name, number, line)
	}
	e.stdout, e.stderr = &lines{emit: print}, &lines{emit: print}
	return e
}

// run is the whole life of an environment.
func (e *environment) run() {
	p := e.pool
	defer p.ended.Done()
	state, err := e.serve()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, e)
	if !e.polled {
		p.starting--
	}
	e.fail(state)
	switch {
	case p.closed:
	case !e.polled:
		p.startFailed(e.initError(state, err))
	default:
		p.config.Log.Debug("environment ended", "environment", e.number, "state", state)
	}
	p.dispatch()
}

// serve runs the process with its server, and returns how it ended, or why
// it did not start.
func (e *environment) serve() (state string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for the Runtime API: %w", err)
	}
	server := &http.Server{Handler: e.api(), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // it ends by Close
	defer func() { _ = server.Close() }()      // it breaks off what is open
	defer close(e.gone)

	c := e.pool.config
	cmd := exec.Command(c.Command[0], c.Command[1:]...)
	cmd.Dir = filepath.Dir(c.Command[0])
	cmd.Env = c.variables(listener.Addr().String())
	cmd.Stdout, cmd.Stderr = e.stdout, e.stderr
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = grace // a child of the process may hold its output open
	if err := e.start(cmd); err != nil {
		return "", err
	}
	slow := time.AfterFunc(c.Init, e.tooSlow)
	defer slow.Stop()
	_ = cmd.Wait() // how it ended stands in ProcessState
	e.stdout.flush()
	e.stderr.flush()
	e.forget()
	return cmd.ProcessState.String(), nil
}

func (e *environment) start(cmd *exec.Cmd) error {
	p := e.pool
	e.began = time.Now()
	if err := p.starter.start(cmd); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.ColdStarts++
	e.process = cmd.Process
	close(e.running)
	if p.closed {
		e.kill()
	}
	return nil
}

// forget ends what the process has left behind in its group, and sends it no
// signal from then on, since its number may be another's.
func (e *environment) forget() {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	kill(e.process)
	e.process = nil
	e.rest()
}

// tooSlow ends a process that has not asked for an event in time.
func (e *environment) tooSlow() {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	if !e.polled {
		e.late = true
		e.kill()
	}
}

// initError says why the environment never asked for an event.
func (e *environment) initError(state string, err error) *InitError {
	out := &InitError{State: state, Line: e.stderr.said(), Err: err}
	if e.posted != nil {
		out.Type, out.Message = e.posted.Type, e.posted.Message
	} else if e.late {
		out.Err = fmt.Errorf("the process did not ask for an event within %v", e.pool.config.Init)
	}
	return out
}

// kill ends the process at once; what it answers from then on does not count.
// The caller holds the lock.
func (e *environment) kill() {
	e.killed = true
	if e.process != nil {
		kill(e.process)
	}
}

// terminate asks the process to end. The caller holds the lock.
func (e *environment) terminate() {
	if e.process != nil {
		terminate(e.process)
		thaw(e.process) // one that is stopped gets no other signal
	}
}
