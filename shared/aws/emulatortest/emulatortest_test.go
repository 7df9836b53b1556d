package emulatortest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSaysWhatIsLeftOut never fails: make test shows what it prints.
func TestSaysWhatIsLeftOut(t *testing.T) {
	for _, line := range Missing(t.Context()) {
		fmt.Println("left out:", line)
	}
}

// A fakeTB is a test whose end is looked at.
type fakeTB struct {
	testing.TB
	skipped, failed string
}

func (f *fakeTB) Helper() {}

func (f *fakeTB) Skip(args ...any) {
	f.skipped = fmt.Sprint(args...)
	runtime.Goexit()
}

func (f *fakeTB) Fatal(args ...any) {
	f.failed = fmt.Sprint(args...)
	runtime.Goexit()
}

func (f *fakeTB) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

// configOf asks for an emulator as a test would that may end there.
func configOf(e *emulator) *fakeTB {
	f := &fakeTB{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.config(f)
	}()
	<-done
	return f
}

func TestWithoutAnEmulatorATestIsSkipped(t *testing.T) {
	t.Setenv("CI", "")
	f := configOf(&emulator{name: "absent", command: "skitter-absent", installed: "absent", proves: "the proofs"})
	for _, want := range []string{"the proofs", "no absent", "make emulators"} {
		if !strings.Contains(f.skipped, want) {
			t.Errorf("skipped with %q, which has no %q", f.skipped, want)
		}
	}
}

func TestWithoutAnEmulatorCIFails(t *testing.T) {
	t.Setenv("CI", "true")
	f := configOf(&emulator{name: "absent", command: "skitter-absent", installed: "absent"})
	if f.failed == "" {
		t.Errorf("the test did not fail; skipped with %q", f.skipped)
	}
}

func TestAnEmulatorThatIsNamedMustWork(t *testing.T) {
	t.Setenv("CI", "")
	t.Setenv("SKITTER_ABSENT", script(t, "exit 127"))
	f := configOf(&emulator{name: "absent", command: "sh", variable: "SKITTER_ABSENT"})
	if !strings.Contains(f.failed, "SKITTER_ABSENT") {
		t.Errorf("failed with %q; skipped with %q", f.failed, f.skipped)
	}
}

// TestABrokenShimIsPassedOver has a program on the PATH that does not work.
func TestABrokenShimIsPassedOver(t *testing.T) {
	broken := script(t, "echo 'pyenv: command not found' >&2; exit 127")
	t.Setenv("PATH", filepath.Dir(broken)+":"+os.Getenv("PATH"))
	e := &emulator{name: "absent", command: filepath.Base(broken), installed: "absent"}
	path, err := e.find(t.Context())
	if err == nil {
		t.Fatalf("found %s", path)
	}
	if !strings.Contains(err.Error(), "on the PATH does not work") {
		t.Errorf("error %q does not say what is wrong with the shim", err)
	}
}

func TestOneThatEndsAtOnceSaysWhy(t *testing.T) {
	_, err := start(t.Context(), script(t, "echo no port for me >&2; exit 3"))
	if !errors.Is(err, errGone) || !strings.Contains(err.Error(), "no port for me") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v", err)
	}
}

func TestOneThatNeverListensIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := start(ctx, script(t, "sleep 100")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// TestItEndsWithAKilledTest kills a process that has started one, and then
// looks at that one and at a child of its own.
func TestItEndsWithAKilledTest(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	emulator := script(t, "sleep 1000 & echo $$ $! >"+pids+".new; mv "+pids+".new "+pids+"; wait")
	test := exec.Command(os.Args[0], "-test.run=^TestHelperStarts$")
	test.Env = append(os.Environ(), "EMULATORTEST_HELPER="+emulator)
	if err := test.Start(); err != nil {
		t.Fatal(err)
	}
	var text []byte
	eventually(t, "the emulator runs", func() bool {
		text, _ = os.ReadFile(pids)
		return len(text) > 0
	})
	if err := test.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	test.Wait()
	for field := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "process "+field+" has ended", func() bool { return !lives(pid) })
	}
}

// TestHelperStarts is the test that is killed.
func TestHelperStarts(t *testing.T) {
	path := os.Getenv("EMULATORTEST_HELPER")
	if path == "" {
		t.Skip("it is run by another test")
	}
	start(t.Context(), path)
}

// lives reports whether a process runs: one that has ended and that nobody
// has waited for does not.
func lives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if errors.Is(err, exec.ErrNotFound) {
		return true
	}
	return err == nil && !strings.HasPrefix(string(out), "Z")
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 3000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it did not come to be that %s", what)
}

// script writes a program for the shell.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "emulator")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
