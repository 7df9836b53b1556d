package runtimeapi

import (
	"os/exec"
	"runtime"
)

// A starter starts processes on a thread that lives as long as it does: Linux
// tells a child that its parent is dead when the thread that made it ends, and
// threads of a Go program may end. Source: prctl(2), PR_SET_PDEATHSIG.
type starter struct{ work chan func() }

func newStarter() starter {
	s := starter{make(chan func())}
	go func() {
		runtime.LockOSThread()
		for do := range s.work {
			do()
		}
	}()
	return s
}

// start is cmd.Start.
func (s starter) start(cmd *exec.Cmd) error {
	done := make(chan error)
	s.work <- func() { done <- cmd.Start() }
	return <-done
}

// close ends the thread. Nothing that it started may live on.
func (s starter) close() { close(s.work) }
