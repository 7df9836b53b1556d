package runtimeapi

import (
	"bytes"
	"strings"
	"sync"
)

// longestLine is the most bytes of a line that are kept together: what is
// longer is printed in parts. Source: Amazon CloudWatch Logs User Guide,
// "CloudWatch Logs quotas", an event of 256 KB.
const longestLine = 256 << 10

// lines is an io.Writer that hands on whole lines.
type lines struct {
	mu   sync.Mutex
	emit func(line []byte)
	rest []byte
	last string // the last line that is not blank
	// panicked is the first line of a panic: the one that follows last says
	// only where it was.
	panicked string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			break
		}
		l.line(line)
		l.rest = rest
	}
	if len(l.rest) >= longestLine {
		l.line(l.rest)
		l.rest = nil
	}
	return len(p), nil
}

// flush hands on a last line that has no end.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.line(l.rest)
		l.rest = nil
	}
}

func (l *lines) line(line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	l.emit(line)
	text := strings.TrimSpace(string(line))
	if text == "" {
		return
	}
	l.last = text
	if l.panicked == "" && (strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ")) {
		l.panicked = text
	}
}

// said returns the line that tells most of why a process ended.
func (l *lines) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.panicked != "" {
		return l.panicked
	}
	return l.last
}
