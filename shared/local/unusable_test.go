package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
	"github.com/skitterhq/skitter/shared/queue"
)

func openHere(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func sendBig(t *testing.T, s *Store) error {
	return s.Queue().Send(t.Context(), queue.Page, []queue.Message{{Job: "job", Body: bytes.Repeat([]byte("x"), 100_000)}})
}

func wantUnusable(t *testing.T, err error, want ...string) {
	t.Helper()
	if !errors.Is(err, ErrUnusable) {
		t.Fatalf("%v, want ErrUnusable", err)
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q does not say %q", err, text)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is not one line", err)
	}
}

// received is how many messages can be received, all of which it takes.
func received(t *testing.T, s *Store) int {
	t.Helper()
	n := 0
	for {
		ds, err := s.Queue().Receive(t.Context(), queue.Page, "job", 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(ds) == 0 {
			return n
		}
		n += len(ds)
	}
}

func TestAFullDiskIsToldAndLosesNothing(t *testing.T) {
	s := openHere(t)
	if err := s.writer.conn.Exec(`PRAGMA max_page_count = 300`); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var failed error
	sent := 0
	var wg sync.WaitGroup
	for range 4 { // those that share a transaction share the fault only while it lasts
		wg.Go(func() {
			for range 10 {
				err := sendBig(t, s)
				mu.Lock()
				if err == nil {
					sent++
				} else {
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	wantUnusable(t, failed, s.dbPath(), "full", "make room")

	if err := s.writer.conn.Exec(`PRAGMA max_page_count = 100000`); err != nil {
		t.Fatal(err)
	}
	if err := sendBig(t, s); err != nil {
		t.Errorf("after room was made: %v", err)
	}
	if n := received(t, s); n != sent+1 || sent == 0 {
		t.Errorf("%d messages are there, %d were acknowledged", n, sent+1)
	}
}

func TestADatabaseThatMayNotBeWrittenIsTold(t *testing.T) {
	s := openHere(t)
	if err := s.writer.conn.Exec(`PRAGMA query_only = 1`); err != nil {
		t.Fatal(err)
	}
	wantUnusable(t, sendBig(t, s), s.dbPath(), "cannot be written", "--data")
	if err := s.writer.conn.Exec(`PRAGMA query_only = 0`); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsThatNoTryMends(t *testing.T) {
	codes := map[int]string{ // source: sqlite.org/rescode.html
		8: "cannot be written", 8 | 1<<8: "cannot be written", 10: "opened, read or written", 10 | 3<<8: "opened, read or written",
		11: "is damaged", 11 | 1<<8: "is damaged", 13: "disk is full", 14: "opened, read or written", 26: "is damaged",
	}
	for code, want := range codes {
		err := explain("PATH", fmt.Errorf("read: %w", &sqlite.Error{Code: code, Message: "why"}))
		wantUnusable(t, err, "PATH", want, "why")
		if again := explain("OTHER", err); again.Error() != err.Error() {
			t.Errorf("code %d is explained twice: %v", code, again)
		}
	}
	for _, code := range []int{1, 5, 15, 19} { // error, busy, protocol, constraint
		if err := explain("PATH", &sqlite.Error{Code: code}); errors.Is(err, ErrUnusable) {
			t.Errorf("code %d: %v", code, err)
		}
	}
	for number, want := range map[syscall.Errno]string{
		syscall.ENOSPC: "disk is full", syscall.EDQUOT: "disk is full", syscall.EROFS: "cannot be written", syscall.EIO: "opened, read or written",
	} {
		wantUnusable(t, explainFile("PATH", &os.PathError{Op: "write", Path: "x", Err: number}), "PATH", want)
	}
	if err := explainFile("PATH", os.ErrPermission); errors.Is(err, ErrUnusable) {
		t.Error(err)
	}
}

func TestAProcessIDThatHasANewOwnerIsNoProof(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the start of a process is not told here")
	}
	s := openHere(t)
	pid := int64(os.Getpid())
	started, err := startTime(pid)
	if err != nil || started == 0 || !lives(pid, started) || !lives(pid, 0) {
		t.Fatalf("this process started at %d (%v), and lives: %t", started, err, lives(pid, started))
	}
	insert := `INSERT INTO processes (n, pid, started) VALUES (77, ?, ?), (78, ?, ?)`
	if err := s.writer.conn.Stmt(insert).Int(pid).Int(started).Int(pid).Int(started - 1).Run(); err != nil {
		t.Fatal(err)
	}
	if err := s.reapDead(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left []int64
	q := s.writer.conn.Stmt(`SELECT n FROM processes WHERE n >= 77`)
	for q.Next() {
		left = append(left, q.ColInt(0))
	}
	if err := q.End(); err != nil || len(left) != 1 || left[0] != 77 {
		t.Errorf("processes %v are left (%v), want 77", left, err)
	}
}
