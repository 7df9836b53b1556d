package local

import (
	"bytes"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// TestARealDiskThatIsFull needs the right to mount one.
func TestARealDiskThatIsFull(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(disk, "data")
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for err == nil {
		if err = sendBig(t, s); err == nil {
			sent++
		}
	}
	wantUnusable(t, err, dir, "make room")
	wantUnusable(t, s.Blobs().Put(t.Context(), "a/b", bytes.Repeat([]byte("x"), 3<<20)), dir, "full", "make room")

	// What cannot even be closed well has lost nothing: with a larger disk
	// it goes on.
	if err := s.Close(); err != nil && !errors.Is(err, ErrUnusable) {
		t.Errorf("close: %v", err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=16m"); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if n := received(t, s); n != sent || sent == 0 {
		t.Errorf("%d messages are there, %d were acknowledged", n, sent)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
