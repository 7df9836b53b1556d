package runtimeapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/runtimeapi"
)

// state is the letter of a process's state; 0 if there is no such process.
// Source: proc_pid_stat(5).
func state(pid int) byte {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return stat[bytes.LastIndexByte(stat, ')')+2]
}

func TestCloseLeavesNoProcess(t *testing.T) {
	for _, test := range []struct {
		how    string
		freeze bool
	}{{"well", false}, {"well", true}, {"stubborn", false}} {
		t.Run(fmt.Sprintf("%s, freeze %v", test.how, test.freeze), func(t *testing.T) {
			t.Parallel()
			c := config(t, test.how)
			c.Freeze = test.freeze
			p := open(t, c)
			pid := must(t, p, order{}).PID
			result := make(chan error)
			for _, event := range []string{`{"For":3600000000000}`, `{"For":3600000000001}`, `{"For":3600000000002}`, `{}`} {
				go func() {
					_, err := p.Invoke(t.Context(), []byte(event))
					result <- err
				}()
			}
			eventually(t, "three are busy", func() bool { return p.Stats().Invocations >= 4 })
			began := time.Now()
			p.Close()
			if took := time.Since(began); test.how == "well" && took > 1900*time.Millisecond {
				t.Errorf("Close took %v; want that processes end when asked", took)
			}
			if p.Live() != 0 || state(pid) != 0 {
				t.Errorf("%d live, state %q of the first; want none", p.Live(), state(pid))
			}
			closed := 0
			for range 4 {
				if errors.Is(<-result, runtimeapi.ErrClosed) {
					closed++
				}
			}
			if closed < 3 {
				t.Errorf("%d invocations ended with ErrClosed; want at least the 3 that last an hour", closed)
			}
			if _, err := p.Invoke(t.Context(), nil); !errors.Is(err, runtimeapi.ErrClosed) {
				t.Errorf("error %v after Close; want ErrClosed", err)
			}
		})
	}
}

func TestCloseEndsAFrozenEnvironmentWithoutForce(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	c.Freeze = true
	p := open(t, c)
	pid := must(t, p, order{}).PID
	eventually(t, "the process is stopped", func() bool { return state(pid) == 'T' })
	began := time.Now()
	p.Close()
	if took := time.Since(began); took > 1900*time.Millisecond || state(pid) != 0 {
		t.Errorf("Close took %v, state %q; want that the process ends when asked", took, state(pid))
	}
}

func TestAnIdleProcessThatEndsIsReplaced(t *testing.T) {
	for _, freeze := range []bool{false, true} {
		t.Run(fmt.Sprintf("freeze %v", freeze), func(t *testing.T) {
			t.Parallel()
			c := config(t, "well")
			c.Freeze = freeze
			p := open(t, c)
			pid := must(t, p, order{}).PID
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the end is noticed", func() bool { return p.Live() == 0 })
			if again := must(t, p, order{}).PID; again == pid {
				t.Error("the same process after its end")
			}
			if s := p.Stats(); s.Exits != 0 || s.ColdStarts != 2 || s.Invocations != 2 {
				t.Errorf("Stats = %+v; want two starts, and no exit of an invocation", s)
			}
		})
	}
}

func TestFreezeStopsAnEnvironmentBetweenEvents(t *testing.T) {
	t.Parallel()
	c := config(t, "well")
	c.Freeze, c.Max = true, 2
	p := open(t, c)
	for range 3 {
		pid := must(t, p, order{}).PID
		// A signal takes a moment.
		eventually(t, "the process is stopped", func() bool { return state(pid) == 'T' })
	}
	if s := p.Stats(); s.ColdStarts != 1 {
		t.Errorf("%d starts; want that the one that was stopped goes on", s.ColdStarts)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { must(t, p, order{For: time.Millisecond}) })
	}
	all.Wait()
}

func TestProcessesDieWithTheParent(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), envParent+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadBytes('\n')
	var child report
	if err := json.Unmarshal(line, &child); err != nil || state(child.PID) == 0 {
		t.Fatalf("no process in %.80q: %v", line, err)
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	eventually(t, "the child is gone", func() bool { s := state(child.PID); return s == 0 || s == 'Z' })
}
