package main

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skitterhq/skitter/shared/site"
	"github.com/skitterhq/skitter/spiders"
)

// A typist sits at a terminal of its own, and sees what stands there.
type typist struct {
	t        *testing.T
	keyboard *os.File

	shown chan string // what comes to stand there
	seen  string      // of it what was not awaited yet
}

// newTypist returns a typist and the terminal's other end.
func newTypist(t *testing.T) (*typist, *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal can be had: %v", err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	ty := &typist{t: t, keyboard: keyboard, shown: make(chan string, 1000)}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := keyboard.Read(b)
			ty.shown <- string(b[:n])
			if err != nil {
				return
			}
		}
	}()
	return ty, tty
}

// await waits for a text, and returns what stands before it.
func (ty *typist) await(text string) string {
	ty.t.Helper()
	for timeout := time.After(20 * time.Second); ; {
		before, after, found := strings.Cut(ty.seen, text)
		if found {
			ty.seen = after
			return before
		}
		select {
		case more := <-ty.shown:
			ty.seen += more
		case <-timeout:
			ty.t.Fatalf("no %q; there stands %q", text, ty.seen)
		}
	}
}

// types waits for the next prompt and then types keys.
func (ty *typist) types(keys string) {
	ty.t.Helper()
	ty.await("skitter> ")
	if _, err := ty.keyboard.WriteString(keys); err != nil {
		ty.t.Fatal(err)
	}
}

// TestAShellIsTyped types with the keys of line editing: corrections, the
// arrows for what was typed before, also in an earlier shell, the tab for a
// command's name, and Ctrl-C to throw a line away.
func TestAShellIsTyped(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	shop, err := site.New(site.Options{Pages: 10})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(shop)
	defer srv.Close()
	session := func(typing ...string) string {
		ty, tty := newTypist(t)
		var out bytes.Buffer
		a := &app{stdin: tty, stdout: &out, stderr: tty, project: spiders.Project()}
		ended := make(chan int)
		go func() { ended <- a.run(t.Context(), []string{"shell", srv.URL + "/p/7", "-s", "DOWNLOAD_DELAY=0"}) }()
		for _, keys := range typing {
			ty.types(keys)
		}
		if code := <-ended; code != exitFinished {
			t.Errorf("exit code %d", code)
		}
		return out.String()
	}
	const (
		up, left, back, tab, ctrlC, ctrlD = "\x1b[A", "\x1b[D", "\x7f", "\t", "\x03", "\x04"
	)
	first := session(
		"css h1.nmae::text"+strings.Repeat(left, 7)+back+back+"am\r",
		"css nothing"+strings.Repeat(left, 3)+ctrlC,
		up+back+"t\r",
		ctrlD,
	)
	if want := "Product 7\nProduct 7\n"; first != want {
		t.Errorf("the first shell printed %q, want %q", first, want)
	}
	second, want := session(up+"\r", "hel"+tab+"\r", "qu"+tab+"\r"), "Product 7\ncss SELECTOR "
	if !strings.HasPrefix(second, want) {
		t.Errorf("the second shell printed %q, want first %q", second, want)
	}
	kept, err := os.ReadFile(filepath.Join(os.Getenv("XDG_STATE_HOME"), "skitter", "shell_history"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "css h1.name::text\nhelp\nquit\n"; string(kept) != want {
		t.Errorf("the history has %q, want %q", kept, want)
	}
}
