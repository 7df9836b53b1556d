package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// startTime is when a process started, in ticks since the system did; 0 if it
// cannot be told. It tells a process from a later one that has got its ID.
func startTime(pid int64) (int64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The second field is the program's name in parentheses and may hold
	// anything; the state is the third, the start the 22nd.
	// Source: proc_pid_stat(5).
	_, rest, _ := bytes.Cut(stat, []byte("("))
	fields := bytes.Fields(rest[bytes.LastIndexByte(rest, ')')+1:])
	if len(fields) < 20 {
		return 0, nil
	}
	if fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return 0, fs.ErrNotExist // it has ended, and only its parent does not know
	}
	return strconv.ParseInt(string(fields[19]), 10, 64)
}

// lives reports whether a process is there, and is the one that started then.
// Where that cannot be told it says yes.
func lives(pid, started int64) bool {
	if own, err := startTime(int64(os.Getpid())); err != nil || own == 0 {
		return true // no /proc
	}
	now, err := startTime(pid)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return started == 0 || now == started
}
