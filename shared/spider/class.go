package spider

import (
	"reflect"
	"strings"
)

// ErrorClass names the kind of an error for stats, as Scrapy's class names do:
// the type of the outermost error that has a type of its own, such as
// "PanicError"; "error" if none has.
func ErrorClass(err error) string {
	for err != nil {
		if _, ours := err.(*unhandled); !ours { //nolint:errorlint // this walks the chain itself
			if t := strings.TrimPrefix(reflect.TypeOf(err).String(), "*"); !strings.HasPrefix(t, "fmt.") && !strings.HasPrefix(t, "errors.") {
				return t[strings.LastIndexByte(t, '.')+1:]
			}
		}
		switch wrapper := err.(type) { //nolint:errorlint // this walks the chain itself
		case interface{ Unwrap() error }:
			err = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			list := wrapper.Unwrap()
			if err = nil; len(list) > 0 {
				err = list[0]
			}
		default:
			err = nil
		}
	}
	return "error"
}
