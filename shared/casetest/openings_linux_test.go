package casetest

import (
	"os"
	"syscall"
	"testing"
)

// openings counts how often a file is opened while something is done, by whom
// ever. A file that is not there is opened by nobody.
func openings(t *testing.T, file string, do func()) int {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		do()
		return 0
	}
	watch, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(watch)
	if _, err := syscall.InotifyAddWatch(watch, file, syscall.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	do()
	n := pendingEvents(t, watch)
	if _, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	if pendingEvents(t, watch) != 1 {
		t.Error("the file is not watched")
	}
	return n
}

func pendingEvents(t *testing.T, watch int) int {
	t.Helper()
	buf := make([]byte, 64*syscall.SizeofInotifyEvent)
	n, err := syscall.Read(watch, buf)
	if err == syscall.EAGAIN {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return n / syscall.SizeofInotifyEvent // a watched file's events have no name
}
