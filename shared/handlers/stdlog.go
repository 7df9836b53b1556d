package handlers

import (
	"bytes"
	"io"
)

// StandardLog returns a writer for the standard log of a program that fetches.
// net/http writes there what a server sends unasked, with the first bytes of it,
// which may be a cookie; such lines are left out. All others go to w.
func StandardLog(w io.Writer) io.Writer { return &standardLog{w} }

type standardLog struct{ w io.Writer }

// unasked is how net/http begins such a line.
const unasked = "Unsolicited response received on idle HTTP channel"

// Write writes one line, as package log does.
func (l *standardLog) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(unasked)) {
		return len(line), nil
	}
	return l.w.Write(line)
}
