package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// onScreen returns what writes to w: if that is a terminal, with control
// characters escaped, since what a page says could move the cursor, set the
// title or type by itself.
func onScreen(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &screen{under: w}
	}
	return w
}

// flushScreens writes what terminals hold back at the end of the program.
func flushScreens(writers ...io.Writer) {
	for _, w := range writers {
		if s, ok := w.(*screen); ok {
			s.flush()
		}
	}
}

// beneath is the terminal under a screen, for what draws on it, and any other
// writer itself.
func beneath(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.under
	}
	return w
}

// A screen writes text to a terminal. Controls are shown as JSON escapes them,
// so that JSON stays JSON; tab and newline are written as they are, and so is a
// carriage return before a newline.
type screen struct {
	mu    sync.Mutex
	under io.Writer
	held  []byte // an end that is judged with what follows
}

// flush writes an end that nothing followed.
func (s *screen) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.held {
		if c == '\r' {
			fmt.Fprint(s.under, `\u000d`)
		} else {
			fmt.Fprintf(s.under, `\x%02x`, c)
		}
	}
	s.held = nil
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.held, p...)
	s.held = nil
	var out bytes.Buffer
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case !utf8.FullRune(text), r == '\r' && len(text) == 1:
			s.held, size = bytes.Clone(text), len(text)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[0]) // some terminals take a single byte for a control
		case r == '\t', r == '\n', r == '\r' && text[1] == '\n', !unicode.IsControl(r):
			out.Write(text[:size])
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		text = text[size:]
	}
	if _, err := s.under.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}
