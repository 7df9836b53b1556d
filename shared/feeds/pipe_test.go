//go:build unix

package feeds_test

import (
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/skitterhq/skitter/shared/feeds"
)

// A pipe is written as it is: nothing can be put in its place.
func TestDeliverToAPipe(t *testing.T) {
	for _, overwrite := range []bool{true, false} {
		p := newPlace(t, "out.json")
		if err := syscall.Mkfifo(p.file, 0o600); err != nil {
			t.Skip(err)
		}
		if err := feeds.Check(p.feed(overwrite)); err != nil {
			t.Errorf("it does not pass the check: %v", err)
		}
		read := make(chan string)
		go func() {
			defer close(read)
			f, err := os.Open(p.file)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			all, err := io.ReadAll(f)
			if err != nil {
				t.Error(err)
			}
			read <- string(all)
		}()
		if n, err := p.deliver(overwrite, "a", numbered("a", 1, nil)); n != 1 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
		if info, err := os.Lstat(p.file); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			t.Fatalf("the pipe was replaced: %v", err)
		}
		if got := <-read; got != "[\n{\"job\":\"a\",\"n\":0}\n]" {
			t.Errorf("got %q", got)
		}
		if names := list(t, p.dir()); names != "out.json" {
			t.Errorf("left behind: %s", names)
		}
	}
}
