//go:build unix

package runtimeapi

import (
	"os"
	"syscall"
)

const canFreeze = true

// Each of these reaches the whole group of a process; one that has ended is no
// error.
func freeze(p *os.Process)    { _ = syscall.Kill(-p.Pid, syscall.SIGSTOP) }
func thaw(p *os.Process)      { _ = syscall.Kill(-p.Pid, syscall.SIGCONT) }
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }
func kill(p *os.Process)      { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
