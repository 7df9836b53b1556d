package local_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/local"
)

// A helper is this test binary, run again as a process of its own that does
// one of helpers in a data folder.
const (
	helperVariable = "SKITTER_TEST_HELPER"
	helperFolder   = "SKITTER_TEST_HELPER_FOLDER"
)

// helpers are what a helper can do; it tells its test by lines of its output.
var helpers = map[string]func(ctx context.Context, s *local.Store, say func(line string)) error{
	"hold": holdAll,
	"send": sendForEver,
	"turn": readThenWrite,
}

// help is the main function of a helper.
func help(what, dir string) {
	s, err := local.Open(dir, local.Options{})
	if err == nil {
		err = helpers[what](context.Background(), s, func(line string) { fmt.Println(line) })
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		fmt.Println("helper failed:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A process is a helper as its test sees it.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

// startHelper starts a helper, which is killed at the end of the test at the
// latest.
func startHelper(t *testing.T, what, dir string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(exe)}
	p.cmd.Env = append(os.Environ(), helperVariable+"="+what, helperFolder+"="+dir)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

// line reads the next line that the helper says; false after its last.
func (p *process) line() (string, bool) {
	p.t.Helper()
	if !p.lines.Scan() {
		return "", false
	}
	if strings.HasPrefix(p.lines.Text(), "helper failed") {
		p.t.Fatal(p.lines.Text())
	}
	return p.lines.Text(), true
}

// kill ends the helper as kill -9 does, and waits until it is gone.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait() // "signal: killed"
}
