package shell

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxHistory is how many lines are remembered.
const maxHistory = 1000

// A History is the lines that were typed, kept in a file from one shell to the
// next. It is a term.History.
type History struct {
	file  string   // empty for none
	lines []string // oldest first
	err   error
}

// NewHistory reads the history in a file, which is made with the first line if
// it is not there. A file that cannot be read or written is told by Err, and the
// history is then kept in memory.
func NewHistory(file string) *History {
	h := &History{file: file}
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.fail(err)
	}
	for line := range bytes.Lines(data) {
		if text := strings.TrimSpace(string(line)); text != "" {
			h.lines = append(h.lines, text)
		}
	}
	if surplus := len(h.lines) - maxHistory; surplus > 0 {
		h.lines = h.lines[surplus:]
	}
	// Rewritten now and then only: shells that run side by side append.
	if bytes.Count(data, []byte("\n")) > 2*maxHistory {
		h.rewrite()
	}
	return h
}

// Err is the first error of the file.
func (h *History) Err() error { return h.err }

// Len is how many lines there are.
func (h *History) Len() int { return len(h.lines) }

// At returns a line, the newest for 0. It panics beyond Len.
func (h *History) At(k int) string { return h.lines[len(h.lines)-1-k] }

// Add takes a line, unless it is blank or the newest is the same.
func (h *History) Add(line string) {
	line = strings.TrimSpace(line)
	if line == "" || len(h.lines) > 0 && h.At(0) == line {
		return
	}
	if h.lines = append(h.lines, line); len(h.lines) > maxHistory {
		h.lines = slices.Delete(h.lines, 0, 1)
	}
	h.append(line)
}

func (h *History) append(line string) {
	if h.file == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		h.fail(err)
		return
	}
	// Addresses may hold secrets, so the file is its owner's.
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		h.fail(err)
		return
	}
	_, err = f.WriteString(line + "\n")
	h.fail(errors.Join(err, f.Close()))
}

func (h *History) rewrite() {
	text := strings.Join(h.lines, "\n") + "\n"
	part := h.file + ".part"
	if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
		h.fail(err)
		return
	}
	h.fail(os.Rename(part, h.file))
}

// fail keeps the first error, after which the file is left alone.
func (h *History) fail(err error) {
	if err != nil && h.err == nil {
		h.err, h.file = err, ""
	}
}
