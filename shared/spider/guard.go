package spider

import (
	"fmt"
	"runtime/debug"
)

// guard calls f and turns a panic into an error, so that a page which breaks a
// spider's code fails by itself and not the whole batch.
//
// While *consuming is true, f has given something to whoever reads its results.
// A panic is then the reader's, and passes; a nil consuming is never true.
func guard(consuming *bool, f func() error) (err error) {
	defer func() {
		if consuming != nil && *consuming {
			return
		}
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// A PanicError is a panic of a spider's code, which fails its page alone.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns what the code panicked with, if that was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
