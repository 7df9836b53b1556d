package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/local"
	"github.com/skitterhq/skitter/shared/queue"
	"github.com/skitterhq/skitter/shared/slotrows"
)

const job = crawl.JobUID("aaaaaaaaaaaaaaaaaaaaaaaa")

// holdAll takes three messages, one lease of each kind, and the job, begins to
// write a blob, says so and waits to be killed.
func holdAll(ctx context.Context, s *local.Store, say func(string)) error {
	until := time.Now().Add(time.Hour)
	got, err := s.Queue().Receive(ctx, queue.Request, job, 3)
	if err != nil || len(got) != 3 {
		return fmt.Errorf("received %d messages: %w", len(got), err)
	}
	if _, err := s.SlotRows().Swap(ctx, "example.com", slotrows.Row{Leases: []slotrows.Lease{{ID: "held", Until: until}}}); err != nil {
		return err
	}
	if ok, err := s.Origins().Lease(ctx, "https://example.com:443", until); !ok || err != nil {
		return fmt.Errorf("origin lease %t: %w", ok, err)
	}
	if ok, err := s.Jobs().Lease(ctx, "sweep", 3600); !ok || err != nil {
		return fmt.Errorf("job lease %t: %w", ok, err)
	}
	if _, err := s.LockJob(job); err != nil {
		return err
	}
	return s.Blobs().PutReader(ctx, "never/whole", &endless{begun: func() { say("holding") }})
}

// An endless reader gives one byte, says so and then nothing more.
type endless struct{ begun func() }

func (e *endless) Read(p []byte) (int, error) {
	if e.begun == nil {
		select {}
	}
	p[0] = 'x'
	e.begun()
	e.begun = nil
	return 1, nil
}

// heldBy tells what of holdAll another process still has.
func heldBy(t *testing.T, s *local.Store) []string {
	t.Helper()
	var held []string
	note := func(what string, free bool, err error) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !free {
			held = append(held, what)
		}
	}
	got, err := s.Queue().Receive(t.Context(), queue.Request, job, 10)
	note("messages", len(got) == 3, err)
	for _, d := range got {
		if d.Receives != 2 {
			t.Errorf("message %s has Receives %d, want 2", d.Body, d.Receives)
		}
	}
	row, err := s.SlotRows().Get(t.Context(), "example.com")
	note("slot lease", len(row.Leases) == 0, err)
	free, err := s.Origins().Lease(t.Context(), "https://example.com:443", time.Now().Add(time.Hour))
	note("origin lease", free, err)
	free, err = s.Jobs().Lease(t.Context(), "sweep", 3600)
	note("job lease", free, err)
	unlock, err := s.LockJob(job)
	if errors.Is(err, local.ErrJobLocked) {
		return append(held, "job")
	}
	note("job", true, err)
	unlock()
	return held
}

// TestInterleavingY kills a process that holds messages and leases: whoever
// opens the folder next has them at once, and so has, within a second, who had
// it open all the time.
func TestInterleavingY(t *testing.T) {
	everything := []string{"messages", "slot lease", "origin lease", "job lease", "job"}
	prepare := func(t *testing.T) (dir string, watcher *local.Store, holder *process, now *clock) {
		dir, now = t.TempDir(), newClock()
		watcher = open(t, dir, local.Options{Clock: now.Now})
		now.Advance(time.Since(now.Now())) // as the holder's clock
		if err := watcher.Queue().Send(t.Context(), queue.Request, messages("held", 3)); err != nil {
			t.Fatal(err)
		}
		holder = startHelper(t, "hold", dir)
		if line, _ := holder.line(); line != "holding" {
			t.Fatalf("the helper says %q", line)
		}
		if held := heldBy(t, watcher); !slices.Equal(held, everything) {
			t.Fatalf("the living process holds %v, want %v", held, everything)
		}
		return dir, watcher, holder, now
	}

	t.Run("for the next process", func(t *testing.T) {
		dir, _, holder, _ := prepare(t)
		holder.kill()
		next := open(t, dir, local.Options{})
		if held := heldBy(t, next); held != nil {
			t.Errorf("after kill -9 the next process finds %v held", held)
		}
		if keys, err := next.Blobs().List(t.Context(), "", "", 0); err != nil || len(keys) != 0 {
			t.Errorf("after kill -9 there are blobs %q (%v), want none", keys, err)
		}
		if files, err := os.ReadDir(filepath.Join(dir, "blobs", "~tmp")); err != nil || len(files) != 0 {
			t.Errorf("after kill -9 %d temporary files are left (%v)", len(files), err)
		}
	})
	t.Run("for a process that is there", func(t *testing.T) {
		_, watcher, holder, now := prepare(t)
		rung := watcher.Queue().Wait(queue.Request)
		holder.kill()
		now.Advance(time.Second)
		if held := heldBy(t, watcher); held != nil {
			t.Errorf("a second after kill -9 another process finds %v held", held)
		}
		select {
		case <-rung:
		default:
			t.Error("the bell did not ring for the messages that became due")
		}
	})
}

// sendForEver says which messages were acknowledged, until it is killed.
func sendForEver(ctx context.Context, s *local.Store, say func(string)) error {
	for n := 0; ; n += 2 {
		if err := s.Queue().Send(ctx, queue.Page, numbered(n, 2)); err != nil {
			return err
		}
		say(strconv.Itoa(n))
	}
}

func numbered(from, n int) []queue.Message {
	msgs := make([]queue.Message, n)
	for i := range msgs {
		msgs[i] = queue.Message{Job: job, Body: []byte(strconv.Itoa(from + i))}
	}
	return msgs
}

func messages(prefix string, n int) []queue.Message {
	msgs := make([]queue.Message, n)
	for i := range msgs {
		msgs[i] = queue.Message{Job: job, Body: fmt.Appendf(nil, "%s-%d", prefix, i)}
	}
	return msgs
}

func TestAcknowledgedSendsSurviveKill(t *testing.T) {
	dir := t.TempDir()
	sender := startHelper(t, "send", dir)
	last := ""
	for range 50 {
		last, _ = sender.line()
	}
	sender.kill()
	for line, ok := sender.line(); ok; line, ok = sender.line() {
		last = line // said before it died
	}
	acknowledged, err := strconv.Atoi(last)
	if err != nil {
		t.Fatal(err)
	}

	s := open(t, dir, local.Options{})
	there := map[string]bool{}
	for {
		got, err := s.Queue().Receive(t.Context(), queue.Page, job, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			break
		}
		for _, d := range got {
			there[string(d.Body)] = true
		}
	}
	for n := range acknowledged + 2 {
		if !there[strconv.Itoa(n)] {
			t.Errorf("message %d of %d was acknowledged and is lost", n, acknowledged+2)
		}
	}
}
