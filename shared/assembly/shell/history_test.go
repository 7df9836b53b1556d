package shell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/assembly/shell"
)

func TestAHistoryIsKeptFromOneShellToTheNext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "history")
	h := shell.NewHistory(file)
	for _, line := range []string{"css a", "  css b ", "css b", "", "css a"} {
		h.Add(line)
	}
	again := shell.NewHistory(file)
	for _, h := range []*shell.History{h, again} {
		var got []string
		for k := range h.Len() {
			got = append(got, h.At(k))
		}
		if want := []string{"css a", "css b", "css a"}; fmt.Sprint(got) != fmt.Sprint(want) || h.Err() != nil {
			t.Errorf("got %q and error %v, want %q, the newest first", got, h.Err(), want)
		}
	}
}

func TestAHistoryDoesNotGrowForEver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	var long strings.Builder
	for k := range 3000 {
		fmt.Fprintf(&long, "css p%d\n", k)
	}
	if err := os.WriteFile(file, []byte(long.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h := shell.NewHistory(file)
	h.Add("css last")
	if h.Len() != 1000 || h.At(0) != "css last" || h.At(999) != "css p2001" {
		t.Errorf("%d lines, from %q to %q", h.Len(), h.At(0), h.At(h.Len()-1))
	}
	kept, err := os.ReadFile(file)
	if n := strings.Count(string(kept), "\n"); err != nil || n != 1001 {
		t.Errorf("the file has %d lines (%v), want those of the last shell and one", n, err)
	}
}

func TestAHistoryThatCannotBeKeptIsToldAndGoesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := shell.NewHistory(filepath.Join(file, "history"))
	h.Add("css a")
	h.Add("css b")
	if h.Err() == nil || h.Len() != 2 {
		t.Errorf("error %v, %d lines", h.Err(), h.Len())
	}
}
