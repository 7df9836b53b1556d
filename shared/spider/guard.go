package spider

import (
	"runtime/debug"

	"github.com/skitterhq/skitter/shared/crawl"
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
			err = &crawl.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}
