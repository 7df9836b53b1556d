//go:build !linux

package local

import (
	"errors"
	"os"
	"syscall"
)

// startTime is when a process started; 0, since here it is not told cheaply.
func startTime(int64) (int64, error) { return 0, nil }

// lives reports whether a process of this ID is there. Where that cannot be
// told it says yes.
func lives(pid, _ int64) bool {
	p, err := os.FindProcess(int(pid))
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
