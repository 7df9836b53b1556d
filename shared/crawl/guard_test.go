package crawl_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
)

func TestAPanicTellsThePlaceInTheCodeThatIsNotOurs(t *testing.T) {
	const stack = `goroutine 7 [running]:
runtime/debug.Stack()
	/go/src/runtime/debug/stack.go:26 +0x5e
github.com/skitterhq/skitter/shared/spider.guard.func1()
	/skitter/shared/spider/guard.go:20 +0x4a
panic({0x5a1?, 0xc000})
	/go/src/runtime/panic.go:783 +0x132
runtime.goPanicIndex(0x3, 0x3)
	/go/src/runtime/panic.go:115 +0x74
regexp.MustCompile({0x1, 0x1})
	/go/src/regexp/regexp.go:313 +0xbb
github.com/skitterhq/skitter/shared/extract.MustCSS({0x1, 0x1})
	/skitter/shared/extract/css.go:12 +0x11
PARSE({0x7f, 0xc0}, 0xc0, 0xc0)
	/mine/spiders/books/books.go:31 +0x25
github.com/skitterhq/skitter/shared/spider.guard(0x0, 0xc0)
	/skitter/shared/spider/guard.go:23 +0x3e
github.com/skitterhq/skitter/cmd/skitter.run()
	/skitter/cmd/skitter/main.go:1 +0x1
`
	for parse, want := range map[string]string{
		"example.com/mine/spiders/books.parse":                    "/mine/spiders/books/books.go:31",
		"github.com/skitterhq/skitter/spiders/books.Spider.func1": "/mine/spiders/books/books.go:31",
		"github.com/skitterhq/skitter/shared/legs.read":           "/go/src/regexp/regexp.go:313",
	} {
		broke := crawl.PanicError{Stack: []byte(strings.Replace(stack, "PARSE", parse, 1))}
		if got := broke.At(); got != want {
			t.Errorf("%s: %q, want %q", parse, got, want)
		}
	}
	if got := (&crawl.PanicError{Stack: []byte("panic(")}).At(); got != "" {
		t.Errorf("a stack of nothing: %q", got)
	}
}

func TestAPanicOfARealStackTellsItsPlace(t *testing.T) {
	var list []int
	var broke *crawl.PanicError
	err := crawl.Guard(func() error { list[3] = 1; return nil })
	if !errors.As(err, &broke) || !regexp.MustCompile(`guard_test\.go:\d+$`).MatchString(broke.At()) {
		t.Errorf("got %v", broke)
	}
}
