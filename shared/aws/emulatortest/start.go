package emulatortest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// tied runs a command that ends when its standard input does: the watcher in
// the background kills the group of processes that the command leads. It
// holds none of the command's output, so that this ends with the command.
const tied = `exec 3<&0
(cat <&3; kill -s KILL -- -$$) >/dev/null 2>&1 &
exec "$@" 3<&- </dev/null 2>&1`

// held are the ends of the pipes that the emulators watch. The system closes
// them when this process ends, even if it is killed.
var held []io.Closer

// listening is what both emulators print when they have their port.
var listening = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// start runs an emulator that ends with this process, and returns its URL when
// it answers.
func start(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", tied, "sh", path}, args...)...)
	// Of a group of its own it is not stopped in the middle of a test's
	// clearing up by the interrupt that stops the test.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	held = append(held, stdin)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	url, gone := make(chan string, 1), make(chan error, 1)
	go func() {
		said := watch(stdout, url)
		gone <- fmt.Errorf("%w: %s", errors.Join(errGone, cmd.Wait()), said)
	}()
	select {
	case u := <-url:
		return u, answers(ctx, u)
	case err := <-gone:
		return "", err
	case <-ctx.Done():
		stdin.Close()
		return "", fmt.Errorf("it has not said where it listens: %w", ctx.Err())
	}
}

var errGone = errors.New("it ended before it listened")

// watch reads what an emulator prints until it ends, hands over its URL and
// returns what it said up to then.
func watch(r io.Reader, url chan<- string) string {
	var said strings.Builder
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		said.WriteString(line)
		if u := listening.FindString(line); u != "" {
			url <- u
			_, _ = io.Copy(io.Discard, lines) // until the emulator ends
			return said.String()
		}
		if err != nil {
			return said.String()
		}
	}
}

// answers waits until there is an HTTP answer, whatever it is.
func answers(ctx context.Context, url string) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err == nil {
			return resp.Body.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
