package crawl

import (
	"fmt"
	"runtime/debug"
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

// Unwrap returns what the code panicked with, if that was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
