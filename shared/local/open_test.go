package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/jars"
	"github.com/skitterhq/skitter/shared/local"
	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
	"github.com/skitterhq/skitter/shared/queue"
)

// database opens the database of a data folder beside its stores.
func database(t *testing.T, dir string) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.Open(filepath.Join(dir, "skitter.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// lockDatabase takes the lock of a transaction that writes.
func lockDatabase(t *testing.T, dir string) (release func()) {
	t.Helper()
	c := database(t, dir)
	if err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := c.Exec(`COMMIT`); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T, dir string)
		want  []string
	}{
		{
			name: "a newer schema",
			spoil: func(t *testing.T, dir string) {
				open(t, dir, local.Options{}).Close()
				if err := database(t, dir).Exec(`PRAGMA user_version = 99`); err != nil {
					t.Fatal(err)
				}
			},
			want: []string{"skitter.db", "newer skitter", "schema 99", "another folder"},
		},
		{
			name: "an older schema",
			spoil: func(t *testing.T, dir string) {
				open(t, dir, local.Options{}).Close()
				if err := database(t, dir).Exec(`PRAGMA user_version = 1`); err != nil {
					t.Fatal(err)
				}
			},
			want: []string{"skitter.db", "older skitter", "schema 1", "another folder"},
		},
		{
			name: "no database",
			spoil: func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, "skitter.db"), strings.Repeat("not a database ", 1000))
			},
			want: []string{"skitter.db", "damaged or no database", "move it away"},
		},
		{
			name: "a damaged database",
			spoil: func(t *testing.T, dir string) {
				open(t, dir, local.Options{}).Close()
				path := filepath.Join(dir, "skitter.db")
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for i := 100; i < len(data); i++ { // all but the header
					data[i] = 0xaa
				}
				write(t, path, string(data))
			},
			want: []string{"skitter.db", "damaged or no database", "move it away"},
		},
		{
			name: "a folder in the database's place",
			spoil: func(t *testing.T, dir string) {
				if err := os.Mkdir(filepath.Join(dir, "skitter.db"), 0o755); err != nil {
					t.Fatal(err)
				}
			},
			want: []string{"open", "skitter.db", "unable to open"},
		},
		{
			name:  "a file in a folder's place",
			spoil: func(t *testing.T, dir string) { write(t, filepath.Join(dir, "locks"), "x") },
			want:  []string{"make the data folder", "--data"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			test.spoil(t, dir)
			s, err := local.Open(dir, local.Options{})
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
				t.Errorf("%q is not one line that names the folder", err)
			}
		})
	}
}

func TestAFolderOfAnEarlierReleaseIsReadOn(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, local.Options{})
	if err := s.Queue().Send(t.Context(), queue.Page, numbered(0, 3)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := database(t, dir).Exec(`DROP TABLE jars; PRAGMA user_version = 3`); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds it brought up already
		s = open(t, dir, local.Options{})
		batch, err := s.Queue().Receive(t.Context(), queue.Page, "", 10)
		if err != nil || len(batch) != 3 {
			t.Errorf("%d messages (%v), want the 3 from before", len(batch), err)
		}
		const text = "cookies"
		if err := s.Jars().Put(t.Context(), "job", text); err != nil {
			t.Error(err)
		}
		if got, err := s.Jars().Get(t.Context(), "job", jars.HashOf(text)); got != text {
			t.Errorf("cookies %q (%v), want %q", got, err, text)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamageIsToldWhereItIsFound(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, local.Options{})
	for n := range 50 {
		if err := s.Queue().Send(t.Context(), queue.Page, numbered(20*n, 20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "skitter.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) / 2; i < len(data); i++ { // messages and bodies
		data[i] = 0xaa
	}
	write(t, path, string(data))

	s, err = local.Open(dir, local.Options{})
	for err == nil {
		var got []queue.Delivery
		if got, err = s.Queue().Receive(t.Context(), queue.Page, job, 10); err == nil && len(got) == 0 {
			t.Fatal("all messages of a damaged database were read")
		}
	}
	if text := err.Error(); !errors.Is(err, local.ErrUnusable) || !strings.Contains(text, path+" is damaged") || strings.Contains(text, "\n") {
		t.Errorf("%q is not one line that names the file", text)
	}
	if s != nil {
		_ = s.Close()
	}
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestDataOutlivesClose(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, local.Options{})
	if err := s.Queue().Send(t.Context(), queue.Page, numbered(0, 2)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Queue().Receive(t.Context(), queue.Page, job, 1); err != nil || len(got) != 1 {
		t.Fatalf("received %d (%v)", len(got), err)
	}
	if err := s.Blobs().Put(t.Context(), "a/b", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(filepath.Join(dir, "locks")); err != nil || len(files) != 0 {
		t.Errorf("%d lock files are left (%v)", len(files), err)
	}
	for what, err := range map[string]error{
		"send": s.Queue().Send(t.Context(), queue.Page, numbered(0, 1)),
		"get":  func() error { _, err := s.SlotRows().Get(t.Context(), "x"); return err }(),
	} {
		if !errors.Is(err, local.ErrClosed) {
			t.Errorf("%s after close: %v, want ErrClosed", what, err)
		}
	}

	// What was received and not deleted is due at once.
	s = open(t, dir, local.Options{})
	if got, err := s.Queue().Receive(t.Context(), queue.Page, job, 10); err != nil || len(got) != 2 {
		t.Errorf("received %d (%v) after opening again, want 2", len(got), err)
	}
	if data, err := s.Blobs().Get(t.Context(), "a/b", 0, -1); err != nil || string(data) != "x" {
		t.Errorf("blob %q (%v)", data, err)
	}
}

func TestLockJob(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, local.Options{}), open(t, dir, local.Options{})
	unlock, err := a.LockJob(job)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*local.Store{a, b} {
		if _, err := s.LockJob(job); !errors.Is(err, local.ErrJobLocked) || !strings.Contains(err.Error(), string(job)) {
			t.Errorf("a second lock: %v, want ErrJobLocked that names the job", err)
		}
	}
	other, err := b.LockJob("another")
	if err != nil {
		t.Errorf("lock another job: %v", err)
	}
	other()

	unlock()
	again, err := b.LockJob(job)
	if err != nil {
		t.Fatalf("lock after unlock: %v", err)
	}
	unlock() // a second time: not the lock that another has now
	if _, err := a.LockJob(job); !errors.Is(err, local.ErrJobLocked) {
		t.Errorf("unlocking twice unlocked another's: %v", err)
	}
	again()
}
