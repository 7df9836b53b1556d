package crawl

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
)

// Guard calls a function that is somebody else's code, and turns a panic of it
// into a *[PanicError], so that it fails what it was called for and no more.
func Guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// A PanicError is a panic of a spider's, middleware's or step's code.
type PanicError struct {
	// Value is what it panicked with.
	Value any
	// Stack is where, as debug.Stack writes it.
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// framework is what the framework's own functions begin with.
const framework = "github.com/skitterhq/skitter/shared/"

// At is the place of the panic as file:line: the first on the stack that is
// neither Go's own nor the framework's, else the first of all. It is empty if
// the stack has none.
func (e *PanicError) At() string {
	_, rest, _ := strings.Cut(string(e.Stack), "\npanic(")
	_, rest, _ = strings.Cut(rest, "\n\t") // the place of panic itself
	lines := strings.Split(rest, "\n")
	first := ""
	for i := 1; i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t"); i += 2 {
		call := lines[i]
		if strings.HasPrefix(call, framework+"crawl.Guard(") || strings.HasPrefix(call, framework+"spider.guard(") {
			break // below is who called the code that panicked
		}
		if strings.HasPrefix(call, "runtime.") {
			continue
		}
		place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
		if first == "" {
			first = place
		}
		host, _, found := strings.Cut(call, "/")
		if found && strings.Contains(host, ".") && !strings.HasPrefix(call, framework) {
			return place
		}
	}
	return first
}

// LogArgs are an error as arguments of a log: under "err", and for a panic where
// it was under "at" and "stack".
func LogArgs(err error) []any {
	args := []any{"err", err}
	var broke *PanicError
	if errors.As(err, &broke) {
		args = append(args, "at", broke.At(), "stack", string(broke.Stack))
	}
	return args
}

// Unwrap returns what the code panicked with, if that was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
