package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/skitterhq/skitter/shared/frontier"
	"github.com/skitterhq/skitter/shared/local"
	"github.com/skitterhq/skitter/shared/queue"
)

// removeLocks does what a user does who thinks that they are stale.
func removeLocks(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "locks")); err != nil {
		t.Fatal(err)
	}
}

func TestALivingProcessKeepsWhatItHoldsWithoutItsLockFile(t *testing.T) {
	everything := []string{"messages", "slot lease", "origin lease", "job lease", "job"}
	dir, now := t.TempDir(), newClock()
	watcher := open(t, dir, local.Options{Clock: now.Now})
	now.Advance(time.Since(now.Now())) // as the holder's clock
	if err := watcher.Queue().Send(t.Context(), queue.Request, messages("held", 3)); err != nil {
		t.Fatal(err)
	}
	holder := startHelper(t, "hold", dir)
	if line, _ := holder.line(); line != "holding" {
		t.Fatalf("the helper says %q", line)
	}

	removeLocks(t, dir)
	next := open(t, dir, local.Options{})
	if held := heldBy(t, next); !slices.Equal(held, everything) {
		t.Errorf("the next process finds %v held, want %v", held, everything)
	}
	now.Advance(time.Second)
	if held := heldBy(t, watcher); !slices.Equal(held, everything) {
		t.Errorf("a process that is there finds %v held, want %v", held, everything)
	}
	holder.kill()
	now.Advance(time.Second)
	if held := heldBy(t, watcher); held != nil {
		t.Errorf("after kill -9 %v is held", held)
	}
}

func TestALockFileThatWasRemovedComesBack(t *testing.T) {
	for _, replace := range []bool{false, true} {
		dir, now := t.TempDir(), newClock()
		s := open(t, dir, local.Options{Clock: now.Now})
		path := filepath.Join(dir, "locks", "process-1.lock")
		removeLocks(t, dir)
		if replace {
			if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, path, "")
		}
		now.Advance(time.Second)
		if _, err := s.Queue().Receive(t.Context(), queue.Page, job, 1); err != nil {
			t.Fatal(err)
		}
		taken, err := flock.New(path, flock.SetFlag(os.O_RDWR)).TryLock()
		if err != nil || taken {
			t.Errorf("the lock file can be taken: %t, %v", taken, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 0 {
			t.Errorf("%d lock files are left after Close (%v)", len(files), err)
		}
	}
}

func TestADatabaseThatIsGoneEndsEveryCall(t *testing.T) {
	remove := func(t *testing.T, dir string) {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(filepath.Join(dir, "skitter.db"+suffix)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, takeAway := range map[string]func(t *testing.T, dir string){
		"deleted": remove,
		"deleted with its folder": func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, dir string) {
			remove(t, dir)
			other := open(t, dir, local.Options{})
			if err := other.Queue().Send(t.Context(), queue.Page, numbered(0, 1)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, now := t.TempDir(), newClock()
			s, err := local.Open(dir, local.Options{Clock: now.Now})
			if err != nil {
				t.Fatal(err)
			}
			takeAway(t, dir)
			now.Advance(time.Second)
			_, receive := s.Queue().Receive(t.Context(), queue.Page, job, 1)
			_, get := s.Frontier().Get(t.Context(), job, nil, frontier.Strong)
			_, list := s.Blobs().List(t.Context(), "", "", 0)
			_, outstanding := s.Queue().Outstanding(t.Context(), job)
			for what, err := range map[string]error{
				"receive": receive, "frontier": get, "list": list, "outstanding": outstanding,
				"send":  s.Queue().Send(t.Context(), queue.Page, numbered(0, 1)),
				"put":   s.Blobs().Put(t.Context(), "a", nil),
				"close": s.Close(),
			} {
				if !errors.Is(err, local.ErrGone) || !errors.Is(err, local.ErrUnusable) {
					t.Errorf("%s: %v, want ErrGone", what, err)
				} else if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, filepath.Join(dir, "skitter.db")) {
					t.Errorf("%s: %q is not one line that names the file", what, text)
				}
			}
		})
	}
}

// TestANewDatabaseOutlivesTheOldOne closes one that is gone beside a new one
// of its name, whose log has the name that the old one's had.
func TestANewDatabaseOutlivesTheOldOne(t *testing.T) {
	dir := t.TempDir()
	old, err := local.Open(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, local.Options{})
	if err := s.Queue().Send(t.Context(), queue.Page, numbered(0, 1)); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); !errors.Is(err, local.ErrGone) {
		t.Errorf("close of the old one: %v, want ErrGone", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "skitter.db-wal")); err != nil {
		t.Errorf("the log of the new one: %v", err)
	}
	third := open(t, dir, local.Options{})
	if got, err := third.Queue().Receive(t.Context(), queue.Page, job, 1); err != nil || len(got) != 1 {
		t.Errorf("received %d (%v) from the new one, want 1", len(got), err)
	}
}
